/**
 * A repository holds whatever its committers put there. What its contents do to the checks is a finding on that commit: the process that
 * publishes lives on, holds the commit, does not try it for ever, and publishes the next good one.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { type Clock, systemClock } from '../../runtime/clock.ts'
import { checkId, type IsolatedGate, type IsolateOptions, openIsolatedGate } from '../../runtime/gate/isolate.ts'
import { createMarks } from '../../runtime/gate/marks.ts'
import type { Verdict } from '../../runtime/gatewaysync/decide/observation.ts'
import { resolveProfile } from '../../runtime/gatewaysync/decide/profile.ts'
import { gatewaySyncSpec } from '../../runtime/gatewaysync/schema/spec.ts'
import { parseCommitHash } from '../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../runtime/log.ts'
import { createCommitCheck } from '../../runtime/reconcile/commit-check.ts'
import { createLookups } from '../../runtime/reconcile/lookups.ts'
import { reconcile, type ReconcileDeps } from '../../runtime/reconcile/reconcile.ts'
import { createStore } from '../../runtime/reconcile/store.ts'
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
/** The watch over the thread looks a hundred times as often. */
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
  const marks = () => createMarks(path.join(folder, 'state/checking.json'))
  const open = (options: Partial<IsolateOptions> = {}): IsolatedGate => {
    const gate = openIsolatedGate({ clock: systemClock, log: silentLog, marks: marks(), ...options })
    t.teardown(() => gate.close())
    return gate
  }
  const judge = async (gate: IsolatedGate, commit = '', again = false): Promise<Verdict> => {
    return await gate.check(repository, requestFor(commit), again, signal)
  }
  return { hashes, repository, marks, open, judge }
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

void t.test('contents that cost many times their size are judged, and the next commit too', { timeout: 300_000 }, async (t) => {
  const good = { ...validTree(), ...resource('core/ignition/schedule/one', config({})) }
  const { hashes, open, judge } = setUp(t, [good, ...Object.values(bombs), good])
  const gate = open()
  t.match(await judge(gate, hashes[0]), { kind: 'checked', errors: 0 })
  for (const [index, name] of Object.keys(bombs).entries()) {
    const verdict = await judge(gate, hashes[index + 1])
    t.match(verdict, { kind: 'checked', unfinished: undefined }, name)
  }
})

void t.test('a check that needs too much memory is a finding, and is not tried again', { timeout: 300_000 }, async (t) => {
  const { hashes, open, judge } = setUp(t, [largeTree(12_000)])
  /** Between too little for a thread and enough for many resources the collector decides: so a heap that is too small is looked for. */
  for (const heapMiB of [11, 12, 11, 12, 10, 13, 11, 12, 10, 13]) {
    const gate = open({ heapMiB })
    const verdict = await judge(gate, hashes[0]).catch(() => undefined)
    if (verdict?.kind !== 'checked' || verdict.unfinished === undefined) continue
    const message = `the checks of this commit needed more than ${heapMiB} MiB of memory`
    t.match(verdict.items[0], { rule: 'check-failed', severity: 'error', message })
    t.same(await judge(gate, hashes[0]), verdict)
    return
  }
  t.fail('no check needed too much memory')
})

void t.test(
  'a check that takes too long is a finding that names the file, and the next commit gets a new thread',
  { timeout: 300_000 },
  async (t) => {
    const { hashes, open, judge } = setUp(t, [largeTree(3_000), { [`${root}/core`]: null, ...validTree() }])
    let isHasty = true
    /** Looks at the first check a hundred times as often, and at the next one never. */
    const clock: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(isHasty ? ms / 100 : 3_600_000, signal) }
    const gate = open({ clock, maxBusyMs: 60 })
    const verdict = await judge(gate, hashes[0])
    t.match(verdict, { errors: 1, items: [{ rule: 'check-failed', message: /^the checks of this commit took longer than / }] })
    isHasty = false
    t.match(await judge(gate, hashes[1]), { kind: 'checked', errors: 0, unfinished: undefined })
  },
)

void t.test('a commit with which the process itself ended twice is not tried a third time, until somebody asks for it', async (t) => {
  const { hashes, open, judge, marks } = setUp(t, [validTree()])
  const [commit = ''] = hashes
  const verdict = await judge(open(), commit)
  t.match(verdict, { kind: 'checked', errors: 0 })
  const id = checkId(requestFor(commit))
  marks().begin(id)
  marks().begin(id)
  t.match(await judge(open(), commit), { errors: 1, items: [{ rule: 'check-failed', message: /ended the controller itself twice/ }] })
  t.match(await judge(open(), commit), { errors: 1 }, 'nor after another start')
  t.same(await judge(open(), commit, true), verdict)
  t.same(await judge(open(), commit), verdict)
})

void t.test(
  'a commit that ends its checks is held, no start tries it again, and the next good one is published',
  { timeout: 300_000 },
  async (t) => {
    const { hashes, repository, open } = setUp(t, [validTree(), largeTree(12_000), { [`${root}/core`]: null, ...validTree() }])
    const stop = new AbortController()
    t.teardown(() => stop.abort())
    const store = createStore(() => {})
    const record = { namespace: 'plant', name: 'one', uid: 'u', resourceVersion: '1', generation: 1, annotations: {}, spec, status: {} }
    store.upsertSync(record)
    const status = () => store.sync('plant', 'one')?.status ?? {}
    let checks = 0
    let version = 1
    /** One life of the controller: it asks once and acts on the answer. */
    const live = async (options: Partial<IsolateOptions>, commit = ''): Promise<void> => {
      const gate = open(options)
      const answered = Promise.withResolvers<void>()
      const lookups = createLookups({ clock: systemClock, concurrency: 1, ready: () => answered.resolve(), signal: stop.signal })
      const counted: IsolatedGate = { ...gate, check: async (...args) => ((checks += 1), await gate.check(...args)) }
      const deps: ReconcileDeps = {
        store,
        lookups,
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
        verify: async () => ({ kind: 'notAsked' }),
        async adopt() {},
        secretChanges: () => 0,
        ...createCommitCheck({ store, gate: counted, inMirror: async (_key, _commit, read) => await read(repository) }),
        delivery: () => undefined,
        writeStatus: async (before, next) => ({ ...before, resourceVersion: String((version += 1)), status: next }),
        recordEvents() {},
        observed() {},
        gone() {},
      }
      await reconcile(deps, 'plant/one', stop.signal)
      await answered.promise
      await reconcile(deps, 'plant/one', stop.signal)
      await gate.close()
    }
    const [good, deadly, next] = hashes
    /** Less than checks of thousands of resources take on any machine. */
    const noTime = { clock: hasty, maxBusyMs: 60 }
    await live({}, good)
    t.match(status(), { published: { commit: good }, source: { commit: good, held: undefined } })
    await live(noTime, deadly)
    const held = { published: { commit: good }, source: { commit: deadly, held: 'CheckFailed' }, findings: { errors: 1 } }
    t.match(status(), held)
    t.match(
      status().conditions?.find(({ type }) => type === 'CollectionsValid'),
      { status: 'False', reason: 'CheckFailed', message: /took longer than 0 s/ },
    )
    t.equal(checks, 2)
    await live({}, deadly)
    t.match(status(), held)
    t.equal(checks, 2, 'a start does not try it again')
    await live({}, next)
    t.match(status(), { published: { commit: next }, source: { commit: next, held: undefined, unfinishedCheck: undefined } })
  },
)
