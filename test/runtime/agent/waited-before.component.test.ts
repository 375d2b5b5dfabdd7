/** How long the agents of a pod have held back its gateway before, as they leave it on a real disk. */
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { waitedBefore } from '../../../runtime/agent/waited-before.ts'
import { silentLog } from '../../../runtime/log.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

const podUid = 'u'

void t.test('each restart goes on with the waits of its pod and of its publish, and another begins anew', async (t) => {
  const dataDir = temporaryFolder(t, 'waited')
  const journal = path.join(dataDir, '.cluster-sync/journal')
  const ask = (pod = podUid) => waitedBefore({ log: silentLog }, { dataDir, podUid: pod })
  t.same(ask(), { waitedMs: 0, recoveringMs: 0 })
  await until(() => ask().waitedMs > 0 || undefined, 'time has passed')
  writeFileSync(journal, '')
  const began = ask()
  t.ok(began.waitedMs > 0)
  t.equal(began.recoveringMs, 0, 'the first to try')
  const again = await until(() => [ask()].find(({ recoveringMs }) => recoveringMs > 0), 'time has passed since the first try')
  t.ok(again.recoveringMs < again.waitedMs)
  utimesSync(journal, 1, 1)
  t.equal(ask().recoveringMs, 0, 'another publish')
  t.same(ask('another'), { waitedMs: 0, recoveringMs: 0 }, 'another pod')
})

void t.test('what cannot be read counts as no wait, is logged, and ends nothing', async (t) => {
  const dataDir = temporaryFolder(t, 'unread')
  const own = path.join(dataDir, '.cluster-sync')
  mkdirSync(path.join(dataDir, 'aside'))
  symlinkSync('aside', own)
  const warned: object[] = []
  const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) }
  t.same(waitedBefore({ log }, { dataDir, podUid }), { waitedMs: 0, recoveringMs: 0 })
  t.match(warned, [{ reason: 'SymbolicLink' }, { reason: 'SymbolicLink' }])
  rmSync(own)
  renameSync(path.join(dataDir, 'aside'), own)
  t.same(waitedBefore({ log }, { dataDir, podUid }), { waitedMs: 0, recoveringMs: 0 })
  t.equal(warned.length, 2)
})
