/**
 * Tests that the validation thread ends while idle, and that a new one validates the next commit.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import {
  validationId,
  type IsolatedValidatorOptions,
  openIsolatedValidator,
} from '../../../../runtime/validation/worker/isolated-validation.ts'
import { type AttemptLog, openAttemptLog } from '../../../../runtime/validation/worker/attempt-log.ts'
import { resolveProfile } from '../../../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { matchObject } from '../../../support/assertions.ts'
import { childProcesses } from '../../../support/child-processes.ts'
import { config, type Files, resource, root, validTree } from '../../../support/collection-tree.ts'
import { largeTree } from '../../../support/large-tree.ts'
import { type Changes, importCommits, makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'

const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }
const signal = new AbortController().signal
const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
  git: { repo: 'https://git.example.com/a.git', ref: 'main' },
  sync: { profiles: { default: { collections: { root } } } },
})

/** The thread becomes idle when `isQuiet` says so; the timeout for long validations never fires. */
const quietWhen = (isQuiet: () => boolean): Clock => ({
  ...systemClock,
  wait: (ms, own) => systemClock.wait(ms >= 10_000 && isQuiet() ? 1 : 3_600_000, own),
})

function requestOf(commit: string) {
  return { profiles: [resolveProfile(spec.sync, 'default')], validation: spec.validation, commit: parseCommitHash(commit) }
}

function validatorOver(t: Pick<Test, 'teardown'>, folder: string, options: Partial<IsolatedValidatorOptions>) {
  const attemptLog = openAttemptLog(path.join(folder, 'state/checking.json'))
  const validator = openIsolatedValidator({ clock: systemClock, log: silentLog, attemptLog, ...options })
  t.teardown(() => validator.close())
  const validate = async (commit: string, namespace = 'plant', more: { line?: string; modesInUse?: string[] } = {}) => {
    const request = { ...requestOf(commit), modesInUse: undefined, line: 'a', ...more }
    return await validator.validate({ folder: path.join(folder, '.git'), limits }, request, { namespace, again: false }, signal)
  }
  return { validator, validate }
}

void t.test('an idle thread ends, and the next one continues from its state', async (t) => {
  const folder = temporaryFolder(t, 'isolate')
  const broken = resource('dev/ignition/cobranding', config({}))
  const gone = Object.fromEntries(Object.keys(broken).map((file) => [file, null]))
  const [good = '', bad = '', mended = ''] = importCommits(makeRepository(folder), [validTree(), broken, gone])
  const { validator, validate } = validatorOver(t, folder, { clock: quietWhen(() => true) })
  matchObject(t, await validate(good), { kind: 'checked', errors: 0 })
  await until(() => validator.endedThreads() === 1 || undefined, 'the thread has ended')
  matchObject(t, await validate(bad), { kind: 'checked', errors: 1, items: [{ rule: 'singleton-only-in-mode' }] })
  await until(() => validator.endedThreads() === 2 || undefined, 'the thread has ended')
  matchObject(t, await validate(mended), { kind: 'checked', errors: 0 })
})

void t.test('no thread is started for a commit that was validated earlier', async (t) => {
  const folder = temporaryFolder(t, 'isolate')
  const broken = resource('dev/ignition/cobranding', config({}))
  const [good = '', bad = ''] = importCommits(makeRepository(folder), [validTree(), broken])
  const { validator, validate } = validatorOver(t, folder, { clock: quietWhen(() => true) })
  const verdicts = [await validate(good), await validate(bad)]
  await until(() => validator.endedThreads() === 1 || undefined, 'the thread has ended')
  t.strictSame([await validate(good), await validate(bad)], verdicts)
  await validator.close()
  t.equal(validator.endedThreads(), 1)
})

void t.test('a prepared thread validates the commit, and ends if none arrives', async (t) => {
  const folder = temporaryFolder(t, 'isolate')
  const [good = ''] = importCommits(makeRepository(folder), [validTree()])
  let isQuiet = false
  const { validator, validate } = validatorOver(t, folder, { clock: quietWhen(() => isQuiet) })
  validator.prepare()
  matchObject(t, await validate(good), { kind: 'checked', errors: 0 })
  t.equal(validator.endedThreads(), 0)
  isQuiet = true
  validator.prepare()
  await until(() => validator.endedThreads() === 1 || undefined, 'the thread has ended')
})

void t.test('a terminated thread leaves no process behind, not even a zombie', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'isolate')
  const changes = { ...resource('core/ignition/schedule/one', config({})), ...largeTree(2_000) }
  const [small = '', large = ''] = importCommits(makeRepository(folder), [validTree(), changes])
  let isHasty = false
  const clock: Clock = { ...systemClock, wait: (ms, own) => systemClock.wait(isHasty ? ms / 100 : 3_600_000, own) }
  const { validator, validate } = validatorOver(t, folder, { clock, maxBusyMs: 20 })
  matchObject(t, await validate(small), { kind: 'checked', unfinished: undefined })
  await until(() => childProcesses().length > 0 || undefined, 'git waits for another question')
  isHasty = true
  matchObject(t, await validate(large), { items: [{ rule: 'check-failed', message: /took longer than/ }] })
  t.equal(validator.endedThreads(), 1)
  await until(() => childProcesses().length === 0 || undefined, 'git has ended')
})

void t.test('a thread closed while git waits leaves no process behind', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'isolate')
  const [small = ''] = importCommits(makeRepository(folder), [validTree()])
  const { validator, validate } = validatorOver(t, folder, {})
  matchObject(t, await validate(small), { kind: 'checked', errors: 0 })
  t.ok(childProcesses().length > 0)
  await validator.close()
  await until(() => childProcesses().length === 0 || undefined, 'git has ended')
})

void t.test('concurrent validations of one commit in two namespaces count as one attempt', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'isolate')
  const [commit = ''] = importCommits(makeRepository(folder), [largeTree(500)])
  const real = openAttemptLog(path.join(folder, 'state/checking.json'))
  const calls: string[] = []
  const attemptLog: AttemptLog = {
    ...real,
    begin: (id) => (calls.push('begin'), real.begin(id)),
    end: (id) => (calls.push('end'), real.end(id)),
  }
  let passedMs = 0
  // The second validation must not be aborted as too slow.
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() + passedMs,
    wait: (_, own) => systemClock.wait(3_600_000, own),
  }
  const { validator, validate } = validatorOver(t, folder, { attemptLog, clock })
  const first = validate(commit, 'one')
  await until(() => calls.length > 0 || undefined, 'the first check has begun')
  passedMs = 60_000
  const second = validate(commit, 'two')
  await until(() => validator.limiter.uses().every(({ held }) => held === 1) || undefined, 'both are under way')
  t.strictSame(await first, await second)
  t.strictSame(calls, ['begin', 'end'])
})

void t.test(
  'a check that was under way when the process ended is repeated alone, so that it counts only against its own commit',
  async (t) => {
    if (!requires(t, 'git')) return
    const folder = temporaryFolder(t, 'isolate')
    const [hostile = '', good = ''] = importCommits(makeRepository(folder), [largeTree(500), validTree()])
    const real = openAttemptLog(path.join(folder, 'state/checking.json'))
    for (const commit of [hostile, good]) real.begin(validationId(requestOf(commit)))
    let [running, most, passedMs] = [0, 0, 0]
    const attemptLog: AttemptLog = {
      ...real,
      begin(id) {
        most = Math.max(most, (running += 1))
        return real.begin(id)
      },
      end(id) {
        running -= 1
        real.end(id)
      },
    }
    const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs }
    const { validate } = validatorOver(t, folder, { attemptLog, clock })
    const first = validate(hostile, 'hostile')
    await until(() => running > 0 || undefined, 'the first check has begun')
    // Long enough for a check beside it.
    passedMs = 5_000
    matchObject(t, await validate(good), { kind: 'checked', errors: 0 })
    await first
    t.equal(most, 1)
  },
)

void t.test('a heap full of the state of other commits is no finding about the commit that comes next', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'isolate')
  // Each of these resources is remembered, because it has a uuid.
  const remembered = Array.from({ length: 5_000 }, (_, index) =>
    resource(`core/ignition/schedule/one ${index}`, config({ index }), { attributes: { uuid: `${index} `.padEnd(250, 'u') } }),
  )
  const own = Array.from({ length: 8_000 }, (_, index) => ({ [`${root}/core/ignition/schedule/two ${index}/a.json`]: '{}' }))
  const first: Files = Object.assign(validTree(), ...remembered)
  const second: Changes = Object.assign(Object.fromEntries(Object.keys(first).map((file) => [file, null])), ...own)
  const [hostile = '', good = ''] = importCommits(makeRepository(folder), [first, second])
  const { validator, validate } = validatorOver(t, folder, { heapMiB: 22 })
  const verdicts = []
  for (let line = 0; line < 4; line += 1) verdicts.push(await validate(hostile, 'hostile', { line: `${line}`, modesInUse: [`${line}`] }))
  verdicts.push(await validate(good))
  t.strictSame(
    verdicts.map((verdict) => verdict.kind === 'checked' && verdict.errors),
    [0, 0, 0, 0, 0],
  )
  t.ok(validator.endedThreads() > 0, 'the state filled the heap')
})
