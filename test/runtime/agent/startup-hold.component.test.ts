/** How long earlier agents of a pod have held its gateway, as they record it on a real disk. */
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { waitedBefore } from '../../../runtime/agent/startup-hold.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { matchObject } from '../../support/assertions.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

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
  t.ok(again.recoveringMs < again.waitedMs)
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
