/**
 * The thread of the checks ends while nobody pushes, and the next commit is judged by another one.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { type Clock, systemClock } from '../../../runtime/clock.ts'
import { type IsolateOptions, openIsolatedGate } from '../../../runtime/gate/isolate.ts'
import { createMarks } from '../../../runtime/gate/marks.ts'
import { resolveProfile } from '../../../runtime/gatewaysync/decide/profile.ts'
import { gatewaySyncSpec } from '../../../runtime/gatewaysync/schema/spec.ts'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { childProcesses } from '../../support/child-processes.ts'
import { config, resource, root, validTree } from '../../support/collection-tree.ts'
import { largeTree } from '../../support/large-tree.ts'
import { importCommits, makeRepository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/world.ts'

const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }
const signal = new AbortController().signal
const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
  git: { repo: 'https://git.example.com/a.git', ref: 'main' },
  sync: { profiles: { default: { collections: { root } } } },
})

/** The thread rests at once when it says so; the watch over long checks never looks. */
const quietWhen = (isQuiet: () => boolean): Clock => ({
  ...systemClock,
  wait: (ms, own) => systemClock.wait(ms >= 10_000 && isQuiet() ? 1 : 3_600_000, own),
})

function gateOver(t: Pick<Test, 'teardown'>, folder: string, options: Partial<IsolateOptions>) {
  const marks = createMarks(path.join(folder, 'state/checking.json'))
  const gate = openIsolatedGate({ clock: systemClock, log: silentLog, marks, ...options })
  t.teardown(() => gate.close())
  const judge = async (commit: string) => {
    const profiles = [resolveProfile(spec.sync, 'default')]
    const request = { profiles, validation: spec.validation, modesInUse: undefined, line: 'a', commit: parseCommitHash(commit) }
    return await gate.check({ folder: path.join(folder, '.git'), limits }, request, false, signal)
  }
  return { gate, judge }
}

void t.test('a thread that nobody asks ends, and the next one goes on', async (t) => {
  const folder = temporaryFolder(t, 'isolate')
  const broken = resource('dev/ignition/cobranding', config({}))
  const gone = Object.fromEntries(Object.keys(broken).map((file) => [file, null]))
  const [good = '', bad = '', mended = ''] = importCommits(makeRepository(folder), [validTree(), broken, gone])
  const { gate, judge } = gateOver(t, folder, { clock: quietWhen(() => true) })
  t.match(await judge(good), { kind: 'checked', errors: 0 })
  await until(() => gate.endedThreads() === 1 || undefined, 'the thread has ended')
  t.match(await judge(bad), { kind: 'checked', errors: 1, items: [{ rule: 'singleton-only-in-mode' }] })
  await until(() => gate.endedThreads() === 2 || undefined, 'the thread has ended')
  t.match(await judge(mended), { kind: 'checked', errors: 0 })
})

void t.test('no thread is started for a commit that an earlier one has judged', async (t) => {
  const folder = temporaryFolder(t, 'isolate')
  const broken = resource('dev/ignition/cobranding', config({}))
  const [good = '', bad = ''] = importCommits(makeRepository(folder), [validTree(), broken])
  const { gate, judge } = gateOver(t, folder, { clock: quietWhen(() => true) })
  const verdicts = [await judge(good), await judge(bad)]
  await until(() => gate.endedThreads() === 1 || undefined, 'the thread has ended')
  t.same([await judge(good), await judge(bad)], verdicts)
  await gate.close()
  t.equal(gate.endedThreads(), 1)
})

void t.test('a thread that is made ready judges the commit, and ends where none comes', async (t) => {
  const folder = temporaryFolder(t, 'isolate')
  const [good = ''] = importCommits(makeRepository(folder), [validTree()])
  let isQuiet = false
  const { gate, judge } = gateOver(t, folder, { clock: quietWhen(() => isQuiet) })
  gate.prepare()
  t.match(await judge(good), { kind: 'checked', errors: 0 })
  t.equal(gate.endedThreads(), 0)
  isQuiet = true
  gate.prepare()
  await until(() => gate.endedThreads() === 1 || undefined, 'the thread has ended')
})

void t.test('a thread that is ended by force leaves no process behind, not even a number', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'isolate')
  const changes = { ...resource('core/ignition/schedule/one', config({})), ...largeTree(2_000) }
  const [small = '', large = ''] = importCommits(makeRepository(folder), [validTree(), changes])
  let isHasty = false
  const clock: Clock = { ...systemClock, wait: (ms, own) => systemClock.wait(isHasty ? ms / 100 : 3_600_000, own) }
  const { gate, judge } = gateOver(t, folder, { clock, maxBusyMs: 20 })
  t.match(await judge(small), { kind: 'checked', unfinished: undefined })
  await until(() => childProcesses().length > 0 || undefined, 'git waits for another question')
  isHasty = true
  t.match(await judge(large), { items: [{ rule: 'check-failed', message: /took longer than/ }] })
  t.equal(gate.endedThreads(), 1)
  await until(() => childProcesses().length === 0 || undefined, 'git has ended')
})

void t.test('nor does one that is closed while git waits', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'isolate')
  const [small = ''] = importCommits(makeRepository(folder), [validTree()])
  const { gate, judge } = gateOver(t, folder, {})
  t.match(await judge(small), { kind: 'checked', errors: 0 })
  t.ok(childProcesses().length > 0)
  await gate.close()
  await until(() => childProcesses().length === 0 || undefined, 'git has ended')
})
