/**
 * Tests that content made on a gateway is not lost silently: overwritten foreign files, hard links, and files that configure one gateway.
 */
import { linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type CycleResult, runCycle } from '../../../../runtime/sync/cycle.ts'
import { releaseLock } from '../../../../runtime/sync/disk/lock.ts'
import type { SyncTarget } from '../../../../runtime/sync/model/desired.ts'
import { matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])

function setUp(t: Test, as = profile) {
  const dataDir = temporaryFolder(t, 'foreign')
  const source = memorySource()
  const memory = { manifest: undefined }
  t.teardown(() => releaseLock(dataDir))
  const sync = (tree: Tree, more: Partial<SyncTarget> = {}): Promise<CycleResult> => {
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
    return runCycle(deps, desiredOf(dataDir, source.commit(tree), as, more), AbortSignal.timeout(30_000))
  }
  return { dataDir, sync, commit: (tree: Tree) => source.commit(tree) }
}

const before: Tree = { 'projects/p/a': '1' }
const after: Tree = { ...before, 'projects/p/view': 'ours' }

void t.test('a file created on the gateway that a commit also contains is overwritten with a finding', async (t) => {
  const { dataDir, sync } = setUp(t)
  t.equal((await sync(before)).phase, 'Synced')
  writeFileSync(path.join(dataDir, 'projects/p/view'), 'theirs')
  const { phase, findings } = await sync(after)
  t.equal(phase, 'Synced')
  matchObject(t, findings, [
    {
      rule: 'local-change',
      path: 'projects/p/view',
      message: /^was not written by a sync \(content hash [0-9a-f]{40}\); the commit overwrites it$/,
    },
  ])
  t.equal(readFileSync(path.join(dataDir, 'projects/p/view'), 'utf8'), 'ours')
})

void t.test('a foreign file with the same content is adopted without a finding', async (t) => {
  const { dataDir, sync } = setUp(t)
  t.equal((await sync(before)).phase, 'Synced')
  writeFileSync(path.join(dataDir, 'projects/p/view'), 'ours')
  const { phase, findings } = await sync(after)
  t.equal(phase, 'Synced')
  t.equal(findings, undefined)
})

void t.test('with drift: Hold the commit waits until it is confirmed', async (t) => {
  const { dataDir, sync, commit } = setUp(t, { ...profile, drift: 'Hold' })
  t.equal((await sync(before)).phase, 'Synced')
  writeFileSync(path.join(dataDir, 'projects/p/view'), 'theirs')
  const { phase, reason, message } = await sync(after)
  t.strictSame({ phase, reason }, { phase: 'Blocked', reason: 'LocalChanges' })
  t.match(message, /"projects\/p\/view"/)
  t.equal(readFileSync(path.join(dataDir, 'projects/p/view'), 'utf8'), 'theirs')
  t.equal((await sync(after, { confirmOverwrites: commit(after) })).phase, 'Synced')
})

void t.test('a hard link to a file renamed in git is not treated as another spelling of it', async (t) => {
  const { dataDir, sync } = setUp(t)
  t.equal((await sync({ 'projects/alpha/x': '1', 'projects/alpha/y': '2' })).phase, 'Synced')
  mkdirSync(path.join(dataDir, 'projects/gamma'))
  for (const name of ['x', 'y']) linkSync(path.join(dataDir, 'projects/alpha', name), path.join(dataDir, 'projects/gamma', name))
  const renamed = await sync({ 'projects/gamma/x': '1', 'projects/gamma/y': '2' })
  t.equal(renamed.phase, 'Synced', renamed.message ?? '')
  t.equal(readFileSync(path.join(dataDir, 'projects/gamma/x'), 'utf8'), '1')
})

void t.test('gateway configuration files are written with a finding, and identity files are never written', async (t) => {
  const { dataDir, sync } = setUp(t, profileOf([{ source: '', destination: '' }]))
  const configured = ['commissioning.json', 'gateway.xml', 'ignition.conf', 'modules.json', 'redundancy.xml']
  const identified = ['.ignition-seed-complete', '.uuid']
  for (const file of [...configured, ...identified]) writeFileSync(path.join(dataDir, file), 'theirs')
  const { phase, findings = [] } = await sync(Object.fromEntries([...configured, ...identified].map((file) => [file, 'ours'])))
  t.equal(phase, 'Synced')
  const named = (rule: string): string[] =>
    findings
      .filter((finding) => finding.rule === rule)
      .map((finding) => finding.path)
      .toSorted()
  t.strictSame(named('gateway-identity'), configured)
  t.strictSame(named('forbidden-destination'), identified)
  t.strictSame(named('local-change'), configured)
  for (const file of identified) t.equal(readFileSync(path.join(dataDir, file), 'utf8'), 'theirs')
})
