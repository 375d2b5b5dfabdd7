/**
 * What an agent makes of a publish that may be interrupted, on a real disk: a data directory that does not tell is one whose own folder is a
 * link, which is never followed, whoever runs the test.
 */
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { endInterrupted } from '../../../runtime/agent/end-interrupted.ts'
import type { Fault } from '../../../runtime/fault.ts'
import { silentLog } from '../../../runtime/log.ts'
import { clockAhead } from '../../support/follower.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

/** Tries over a data directory with a journal, which `recover` removes. */
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

void t.test('a publish that is interrupted is ended once, and nothing is kept of the tries', async (t) => {
  const { own, tries, told, done } = trying(t, {})
  await done
  t.equal(tries.ended, 1)
  t.same(told, [])
  t.notOk(existsSync(path.join(own, 'first-recovery')))
})

void t.test('where nothing is interrupted nothing is ended', async (t) => {
  const dataDir = temporaryFolder(t, 'whole')
  const { clock } = clockAhead()
  const never = (): never => {
    throw new Error('nobody asked')
  }
  const deps = { recover: async () => never(), failed: never, clock, log: silentLog }
  await endInterrupted(deps, { dataDir, recoveringMs: 0 }, AbortSignal.timeout(60_000))
})

void t.test('a data directory that does not tell is told of at once, tried again, and its publish ended once it can be read', async (t) => {
  const { tries, told, done, isOver, show } = trying(t, { isUnread: true })
  await until(() => told.length > 0 || undefined, 'it is told of')
  t.match(told, [{ reason: 'SymbolicLink' }])
  t.notOk(await isOver(), 'it does not count as nothing to end')
  show()
  await done
  t.equal(tries.ended, 1)
  t.equal(told.length, 1)
})

void t.test('one that never tells is given up after half a minute, with what it said', async (t) => {
  const { ahead, tries, told, done } = trying(t, { isUnread: true })
  await until(() => told.length > 0 || undefined, 'it was tried')
  ahead.ms = 29_000
  await t.rejects(done, { message: /"\.cluster-sync" is a symbolic link/ })
  t.equal(ahead.ms, 29_000)
  t.equal(tries.ended, 0)
  t.equal(told.length, 1, 'the same is told once')
})

void t.test('another reason is told again', async (t) => {
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
  t.same(reasons(told), ['Unexpected', 'SymbolicLink'])
})

void t.test('agents that have tried for ten minutes let the kubelet ask first, and the end of the process ends the tries', async (t) => {
  const { clock, tries, told, stop, done, isOver } = trying(t, { recoveringMs: 600_000 })
  const startedMs = clock.monotonicMs()
  t.notOk(await isOver())
  t.equal(tries.ended, 0)
  stop.abort(new Error('SIGTERM'))
  await t.rejects(done, { message: 'SIGTERM' })
  t.ok(clock.monotonicMs() - startedMs < 5_000)
  t.same(told, [])

  const unread = trying(t, { isUnread: true })
  await until(() => unread.told.length > 0 || undefined, 'it was tried')
  unread.stop.abort(new Error('SIGTERM'))
  await t.rejects(unread.done, { message: 'SIGTERM' })
})
