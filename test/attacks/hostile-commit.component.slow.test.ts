/**
 * Committers control the contents of a repository. Contents that break validation lead to a finding on that commit: the controller keeps
 * running, holds the commit, does not retry it endlessly, and publishes the next good commit.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { type Clock, systemClock } from '../../runtime/platform/clock.ts'
import {
  validationId,
  type IsolatedValidator,
  type IsolatedValidatorOptions,
  openIsolatedValidator,
} from '../../runtime/validation/worker/isolated-validation.ts'
import { openAttemptLog } from '../../runtime/validation/worker/attempt-log.ts'
import type { Verdict } from '../../runtime/reconcile/decide/observation.ts'
import { resolveProfile } from '../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import { parseCommitHash } from '../../runtime/api/values.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { FairLimiter } from '../../runtime/platform/async/fair-limiter.ts'
import { createCommitValidation } from '../../runtime/reconcile/commit-validation.ts'
import { Resolutions } from '../../runtime/reconcile/source/resolutions.ts'
import { reconcile, type ReconcileDeps } from '../../runtime/reconcile/reconcile.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import { matchObject } from '../support/assertions.ts'
import { config, resource, root, validTree } from '../support/collection-tree.ts'
import { largeTree } from '../support/large-tree.ts'
import { type Changes, importCommits, makeRepository, temporaryFolder } from '../support/repository.ts'

const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }
const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
  git: { repo: 'https://git.example.com/a.git', ref: 'main' },
  polling: { enabled: false },
  sync: { profiles: { default: { collections: { root } } } },
})
const mib = 1024 * 1024
/** Polls the worker thread a hundred times as often. */
const hasty: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(ms / 100, signal) }
const signal = new AbortController().signal

function requestFor(commit: string) {
  const profiles = [resolveProfile(spec.sync, 'default')]
  return { profiles, validation: spec.validation, modesInUse: undefined, line: 'a', commit: parseCommitHash(commit) }
}

function setUp(t: Pick<Test, 'teardown'>, commits: readonly Changes[]) {
  const folder = temporaryFolder(t, 'hostile-commit')
  const hashes = importCommits(makeRepository(path.join(folder, 'repository')), commits)
  const repository = { folder: path.join(folder, 'repository/.git'), limits }
  const attemptLog = () => openAttemptLog(path.join(folder, 'state/checking.json'))
  const open = (options: Partial<IsolatedValidatorOptions> = {}): IsolatedValidator => {
    const validator = openIsolatedValidator({ clock: systemClock, log: silentLog, attemptLog: attemptLog(), ...options })
    t.teardown(() => validator.close())
    return validator
  }
  const validate = async (validator: IsolatedValidator, commit = '', again = false): Promise<Verdict> => {
    return await validator.validate(repository, requestFor(commit), { namespace: 'plant', again }, signal)
  }
  return { hashes, repository, attemptLog, open, validate }
}

const bombs: Record<string, Changes> = {
  'four files of a mebibyte that are 350,000 objects each': Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [`${root}/core/ignition/schedule/one/${name}.json`, `[${'{},'.repeat(mib / 3 - 10)}{}]`]),
  ),
  'a key of 500 KB above 250,000 elements': {
    [`${root}/core/ignition/schedule/one/a.json`]: `{"${'k'.repeat(500_000)}":[${'0,'.repeat(250_000)}0]}`,
  },
  'a key of 500 KB above 25,000 texts, each of which names a host': {
    [`${root}/core/ignition/schedule/one/config.json`]: `{"${'k'.repeat(500_000)}host":[${'"a.b",'.repeat(25_000)}"a.b"]}`,
  },
  'nesting without end': { [`${root}/core/ignition/schedule/one/config.json`]: '['.repeat(mib - 1) },
  'a manifest that lists half a million files': {
    [`${root}/core/ignition/schedule/one/resource.json`]: `{"files":[${'"",'.repeat(300_000)}""]}`,
  },
  'a manifest of objects': { [`${root}/core/ignition/schedule/one/resource.json`]: `{"attributes":[${'{},'.repeat(300_000)}{}]}` },
  'settings of a glob that backtracks': {
    '.clustersync.yaml': 'rules: {orphan-file: [{paths: "**/(a+)+b", severity: error}]}\n',
    [`${root}/core/ignition/${'a'.repeat(200)}`]: '',
  },
}

void t.test('contents that cost many times their size are validated, and so is the next commit', { timeout: 600_000 }, async (t) => {
  const good = { ...validTree(), ...resource('core/ignition/schedule/one', config({})) }
  const { hashes, open, validate } = setUp(t, [good, ...Object.values(bombs), good])
  const validator = open()
  matchObject(t, await validate(validator, hashes[0]), { kind: 'checked', errors: 0 })
  for (const [index, name] of Object.keys(bombs).entries()) {
    const verdict = await validate(validator, hashes[index + 1])
    matchObject(t, verdict, { kind: 'checked', unfinished: undefined }, name)
  }
})

void t.test('a validation that runs out of memory is a finding and is not retried', { timeout: 600_000 }, async (t) => {
  const manyHosts = bombs['a key of 500 KB above 25,000 texts, each of which names a host'] ?? {}
  const { hashes, open, validate } = setUp(t, [{ ...validTree(), ...resource('core/ignition/schedule/one', config({})), ...manyHosts }])
  /** The garbage collector decides which heap size starts a thread but fails on this commit, so the test tries several. */
  for (const heapMiB of [11, 12, 11, 12, 10, 13, 11, 12, 10, 13]) {
    const validator = open({ heapMiB })
    const verdict = await validate(validator, hashes[0]).catch(() => undefined)
    if (verdict?.kind !== 'checked' || verdict.unfinished === undefined) continue
    const message = `the validation of this commit needed more than ${heapMiB} MiB of memory`
    matchObject(t, verdict.items[0], { rule: 'check-failed', severity: 'error', message })
    t.strictSame(await validate(validator, hashes[0]), verdict)
    return
  }
  t.fail('no check needed too much memory')
})

void t.test('a validation that takes too long is a finding, and the next commit gets a new thread', { timeout: 600_000 }, async (t) => {
  const { hashes, open, validate } = setUp(t, [largeTree(3_000), { [`${root}/core`]: null, ...validTree() }])
  let isHasty = true
  /** Polls a hundred times as often during the first validation, and not at all during the next one. */
  const clock: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(isHasty ? ms / 100 : 3_600_000, signal) }
  const validator = open({ clock, maxBusyMs: 60 })
  const verdict = await validate(validator, hashes[0])
  matchObject(t, verdict, { errors: 1, items: [{ rule: 'check-failed', message: /^the validation of this commit took longer than / }] })
  isHasty = false
  matchObject(t, await validate(validator, hashes[1]), { kind: 'checked', errors: 0, unfinished: undefined })
})

void t.test('three slow validations of one namespace do not block another namespace', { timeout: 600_000 }, async (t) => {
  const { hashes, repository, open } = setUp(t, [largeTree(3_000), { [`${root}/core`]: null, ...validTree() }])
  // Threads start slowly from source, so the clock runs at a third of its speed.
  const monotonicMs = (): number => systemClock.monotonicMs() / 3
  const validator = open({ clock: { ...systemClock, monotonicMs, wait: (ms, own) => systemClock.wait(ms * 3, own) } })
  const stop = new AbortController()
  const settled: string[] = []
  const hostile = ['a', 'b', 'c'].map(async (line) => {
    const excluding = (index: number) => ({ ...resolveProfile(spec.sync, 'default'), excludePatterns: [`${line}${index}`] })
    const slow = { ...requestFor(hashes[0] ?? ''), profiles: Array.from({ length: 6 }, (_, index) => excluding(index)), line }
    await validator.validate(repository, slow, { namespace: 'hostile', again: true }, stop.signal).catch(() => undefined)
    settled.push(line)
  })
  const verdict = await validator.validate(repository, requestFor(hashes[1] ?? ''), { namespace: 'plant', again: false }, signal)
  matchObject(t, verdict, { kind: 'checked', errors: 0, unfinished: undefined })
  t.ok(settled.length < hostile.length, 'the slow checks go on')
  stop.abort()
  await Promise.all(hostile)
})

void t.test('a commit whose validation ended the process twice is not retried until a sync is requested', async (t) => {
  const { hashes, open, validate, attemptLog } = setUp(t, [validTree()])
  const [commit = ''] = hashes
  const verdict = await validate(open(), commit)
  matchObject(t, verdict, { kind: 'checked', errors: 0 })
  const id = validationId(requestFor(commit))
  attemptLog().begin(id)
  attemptLog().begin(id)
  matchObject(t, await validate(open(), commit), {
    errors: 1,
    items: [{ rule: 'check-failed', message: /crashed the controller twice/ }],
  })
  matchObject(t, await validate(open(), commit), { errors: 1 }, 'nor after another start')
  t.strictSame(await validate(open(), commit, true), verdict)
  t.strictSame(await validate(open(), commit), verdict)
})

void t.test(
  'a commit whose validation fails is held across restarts, and the next good commit is published',
  { timeout: 600_000 },
  async (t) => {
    const { hashes, repository, open } = setUp(t, [validTree(), largeTree(4_000), { [`${root}/core`]: null, ...validTree() }])
    const stop = new AbortController()
    t.teardown(() => stop.abort())
    const store = new Store(() => {})
    const record = { namespace: 'plant', name: 'one', uid: 'u', resourceVersion: '1', generation: 1, annotations: {}, spec, status: {} }
    store.upsertSync(record)
    const status = () => store.sync('plant', 'one')?.status ?? {}
    let checks = 0
    let version = 1
    /** One run of the controller: it requests the commit once and reconciles with the result. */
    const live = async (options: Partial<IsolatedValidatorOptions>, commit = ''): Promise<void> => {
      const validator = open(options)
      const answered = Promise.withResolvers<void>()
      const hosts = new FairLimiter({ total: 1, clock: systemClock })
      const resolutions = new Resolutions({ clock: systemClock, hosts, ready: () => answered.resolve(), signal: stop.signal })
      const counted: IsolatedValidator = { ...validator, validate: async (...args) => ((checks += 1), await validator.validate(...args)) }
      const deps: ReconcileDeps = {
        store,
        resolutions,
        clock: systemClock,
        log: silentLog,
        allowLocal: true,
        resolve: async () => ({
          commit: parseCommitHash(commit),
          committedAt: Promise.resolve(undefined),
          fetchedAt: '2026-01-01T00:00:00Z',
          name: 'refs/heads/main',
          tag: undefined,
        }),
        verify: async () => ({ kind: 'notRequired' }),
        async adopt() {},
        secretChanges: () => 0,
        ...createCommitValidation({ store, validator: counted, inMirror: async (_key, _commit, read) => await read(repository) }),
        delivery: () => undefined,
        writeStatus: async (before, next) => ({ ...before, resourceVersion: String((version += 1)), status: next }),
        recordEvents() {},
        observed() {},
        deleted() {},
      }
      await reconcile(deps, 'plant/one', stop.signal)
      await answered.promise
      await reconcile(deps, 'plant/one', stop.signal)
      await validator.close()
    }
    const [good, deadly, next] = hashes
    /** Less time than the validation of thousands of resources takes on any machine. */
    const noTime = { clock: hasty, maxBusyMs: 60 }
    await live({}, good)
    matchObject(t, status(), { published: { commit: good }, source: { commit: good, held: undefined } })
    await live(noTime, deadly)
    const held = { published: { commit: good }, source: { commit: deadly, held: 'ValidationFailed' }, findings: { errors: 1 } }
    matchObject(t, status(), held)
    matchObject(
      t,
      status().conditions?.find(({ type }) => type === 'CollectionsValid'),
      { status: 'False', reason: 'ValidationFailed', message: /took longer than 0 s/ },
    )
    t.equal(checks, 2)
    await live({}, deadly)
    matchObject(t, status(), held)
    t.equal(checks, 2, 'a start does not try it again')
    await live({}, next)
    matchObject(t, status(), { published: { commit: next }, source: { commit: next, held: undefined, unfinishedValidation: undefined } })
  },
)
