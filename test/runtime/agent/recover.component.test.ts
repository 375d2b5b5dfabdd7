/**
 * Recovery of an interrupted apply on a real disk. An unreadable data directory is simulated by a symbolic link in place of its own folder,
 * which is never followed, so that the tests give the same result for every user.
 */
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync, utimesSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { endInterrupted, waitedBefore } from '../../../runtime/agent/recover.ts'
import type { Fault } from '../../../runtime/platform/fault.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { matchObject, rejectsWith } from '../../support/assertions.ts'
import { clockAhead } from '../../support/follower.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

/** Starts the recovery of a data directory with a journal, which `recover` removes. */
function trying(
  t: Pick<Test, 'teardown'>,
  {
    recover = async () => {},
    recoveringMs = 0,
    isUnread = false,
  }: { recover?: () => Promise<void>; recoveringMs?: number; isUnread?: boolean },
) {
  const dataDir = temporaryFolder(t, 'interrupted')
  const own = path.join(dataDir, '.cluster-sync')
  const aside = path.join(dataDir, 'aside')
  mkdirSync(own)
  writeFileSync(path.join(own, 'journal'), '')
  writeFileSync(path.join(own, 'first-recovery'), '')
  const hide = (): void => {
    renameSync(own, aside)
    symlinkSync('aside', own)
  }
  const show = (): void => {
    rmSync(own)
    renameSync(aside, own)
  }
  if (isUnread) hide()
  const { ahead, clock } = clockAhead()
  const stop = new AbortController()
  t.teardown(() => stop.abort(new Error('the test is over')))
  const tries = { ended: 0 }
  const told: Fault[] = []
  const deps = {
    clock,
    log: silentLog,
    failed: (fault: Fault) => void told.push(fault),
    async recover() {
      await recover()
      rmSync(path.join(own, 'journal'))
      tries.ended += 1
    },
  }
  const done = endInterrupted(deps, { dataDir, recoveringMs }, stop.signal)
  done.catch(() => undefined)
  const isOver = async (): Promise<boolean> => await Promise.race([done.then(() => true), clock.wait(50).then(() => false)])
  return { own, ahead, clock, stop, tries, told, done, isOver, hide, show }
}

const reasons = (told: readonly Fault[]): string[] => told.map(({ reason }) => reason)

void t.test('an interrupted apply is recovered once, and the record of the attempts is removed', async (t) => {
  const { own, tries, told, done } = trying(t, {})
  await done
  t.equal(tries.ended, 1)
  t.strictSame(told, [])
  t.notOk(existsSync(path.join(own, 'first-recovery')))
})

void t.test('without an interrupted apply nothing is recovered', async (t) => {
  const dataDir = temporaryFolder(t, 'whole')
  const { clock } = clockAhead()
  const never = (): never => {
    throw new Error('nobody asked')
  }
  const deps = { recover: async () => never(), failed: never, clock, log: silentLog }
  await endInterrupted(deps, { dataDir, recoveringMs: 0 }, AbortSignal.timeout(60_000))
})

void t.test('an unreadable data directory is reported at once and retried, and recovered once it is readable', async (t) => {
  const { tries, told, done, isOver, show } = trying(t, { isUnread: true })
  await until(() => told.length > 0 || undefined, 'it is told of')
  matchObject(t, told, [{ reason: 'SymbolicLink' }])
  t.notOk(await isOver(), 'it does not count as nothing to end')
  show()
  await done
  t.equal(tries.ended, 1)
  t.equal(told.length, 1)
})

void t.test('the recovery of an unreadable data directory fails after 30 seconds, with the last fault', async (t) => {
  const { ahead, tries, told, done } = trying(t, { isUnread: true })
  await until(() => told.length > 0 || undefined, 'it was tried')
  ahead.ms = 29_000
  await rejectsWith(t, done, { message: /"\.cluster-sync" is a symbolic link/ })
  t.equal(ahead.ms, 29_000)
  t.equal(tries.ended, 0)
  t.equal(told.length, 1, 'the same is told once')
})

void t.test('a fault is reported again only if its reason changes', async (t) => {
  let tries = 0
  const { told, done, hide, show } = trying(t, {
    async recover() {
      tries += 1
      if (tries <= 2) throw new Error('the disk is full')
      if (tries === 3) {
        hide()
        throw new Error('the disk is full')
      }
    },
  })
  await until(() => told.length > 1 || undefined, 'it is told twice')
  show()
  await done
  t.strictSame(reasons(told), ['Unexpected', 'SymbolicLink'])
})

void t.test('after ten minutes of attempts the recovery waits for the probes first, and it ends with the process', async (t) => {
  const { clock, tries, told, stop, done, isOver } = trying(t, { recoveringMs: 600_000 })
  const startedMs = clock.monotonicMs()
  t.notOk(await isOver())
  t.equal(tries.ended, 0)
  stop.abort(new Error('SIGTERM'))
  await rejectsWith(t, done, { message: 'SIGTERM' })
  t.ok(clock.monotonicMs() - startedMs < 5_000)
  t.strictSame(told, [])

  const unread = trying(t, { isUnread: true })
  await until(() => unread.told.length > 0 || undefined, 'it was tried')
  unread.stop.abort(new Error('SIGTERM'))
  await rejectsWith(t, unread.done, { message: 'SIGTERM' })
})

const podUid = 'u'

void t.test('a restart continues the waits of its pod and its apply; another pod or apply starts from zero', async (t) => {
  const dataDir = temporaryFolder(t, 'waited')
  const journal = path.join(dataDir, '.cluster-sync/journal')
  const ask = (pod = podUid) => waitedBefore({ log: silentLog }, { dataDir, podUid: pod })
  t.strictSame(ask(), { waitedMs: 0, recoveringMs: 0 })
  await until(() => ask().waitedMs > 0 || undefined, 'time has passed')
  writeFileSync(journal, '')
  const began = ask()
  t.ok(began.waitedMs > 0)
  t.equal(began.recoveringMs, 0, 'the first to try')
  const again = await until(() => [ask()].find(({ recoveringMs }) => recoveringMs > 0), 'time has passed since the first try')
  // Asked again: the two times of one answer are read one after the other.
  t.ok(again.recoveringMs < ask().waitedMs)
  utimesSync(journal, 1, 1)
  t.equal(ask().recoveringMs, 0, 'another publish')
  t.strictSame(ask('another'), { waitedMs: 0, recoveringMs: 0 }, 'another pod')
})

void t.test('an unreadable record counts as no wait, is logged, and does not stop the agent', async (t) => {
  const dataDir = temporaryFolder(t, 'unread')
  const own = path.join(dataDir, '.cluster-sync')
  mkdirSync(path.join(dataDir, 'aside'))
  symlinkSync('aside', own)
  const warned: object[] = []
  const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) }
  t.strictSame(waitedBefore({ log }, { dataDir, podUid }), { waitedMs: 0, recoveringMs: 0 })
  matchObject(t, warned, [{ reason: 'SymbolicLink' }, { reason: 'SymbolicLink' }])
  rmSync(own)
  renameSync(path.join(dataDir, 'aside'), own)
  t.strictSame(waitedBefore({ log }, { dataDir, podUid }), { waitedMs: 0, recoveringMs: 0 })
  t.equal(warned.length, 2)
})
