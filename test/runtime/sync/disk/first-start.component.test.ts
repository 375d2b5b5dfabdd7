/**
 * Tests that the startup hold of a gateway continues across restarts of its agent.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { currentBootId, sinceBootMs } from '../../../../runtime/sync/disk/clean-marker.ts'
import { forgetRecovery, sinceFirstRecovery, sinceFirstStart } from '../../../../runtime/sync/disk/first-start.ts'
import { interruptedApply } from '../../../../runtime/sync/apply/journal.ts'
import { matchObject } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const hourMs = 3_600_000

void t.test('an agent restarted in its pod continues the wait of the first one', (t) => {
  const dataDir = temporaryFolder(t, 'first-start')
  const file = path.join(dataDir, '.cluster-sync/first-start')
  t.equal(sinceFirstStart(dataDir, 'pod'), 0)
  const first = readFileSync(file, 'utf8')
  t.ok(sinceFirstStart(dataDir, 'pod') >= 0)
  t.equal(readFileSync(file, 'utf8'), first, 'nothing is written by a later start')
  const atMs = Math.floor(sinceBootMs() / 2)
  writeFileSync(file, JSON.stringify({ pod: 'pod', bootId: currentBootId(), atMs }))
  t.ok(sinceFirstStart(dataDir, 'pod') >= atMs - 1)
  t.end()
})

void t.test('attempts to complete an interrupted apply have their own time until it is completed', (t) => {
  const dataDir = temporaryFolder(t, 'first-start')
  const file = path.join(dataDir, '.cluster-sync/first-recovery')
  sinceFirstStart(dataDir, 'pod')
  t.equal(sinceFirstRecovery(dataDir, 'pod'), 0)
  const atMs = Math.floor(sinceBootMs() / 2)
  writeFileSync(file, JSON.stringify({ pod: 'pod', bootId: currentBootId(), atMs }))
  t.ok(sinceFirstRecovery(dataDir, 'pod') >= atMs - 1)
  t.equal(sinceFirstRecovery(dataDir, 'pod and another publish'), 0)
  forgetRecovery(dataDir)
  forgetRecovery(dataDir)
  t.equal(sinceFirstRecovery(dataDir, 'pod'), 0)
  t.end()
})

void t.test('an interrupted apply is distinguished from the next one', (t) => {
  const dataDir = temporaryFolder(t, 'first-start')
  const [file, next] = ['journal', 'next'].map((name) => path.join(dataDir, '.cluster-sync', name)) as [string, string]
  mkdirSync(path.dirname(file))
  t.equal(interruptedApply(dataDir), undefined)
  writeFileSync(file, '')
  const first = interruptedApply(dataDir)
  t.equal(interruptedApply(dataDir), first)
  writeFileSync(next, '')
  renameSync(next, file)
  t.not(interruptedApply(dataDir), first)
  t.end()
})

void t.test('the wait starts over if its start is unknown', (t) => {
  const own = { pod: 'pod', bootId: currentBootId(), atMs: 0 }
  const rows: [string, string][] = [
    ['of another pod', JSON.stringify({ ...own, pod: 'other' })],
    ['of another boot of the machine', JSON.stringify({ ...own, bootId: 'other' })],
    ['of a time that has not come', JSON.stringify({ ...own, atMs: sinceBootMs() + hourMs })],
    ['damaged', '{"pod":"pod"'],
    ['of another shape', JSON.stringify({ ...own, atMs: 'noon' })],
    ['too long', `${JSON.stringify(own)}${' '.repeat(2048)}`],
  ]
  for (const [name, content] of rows) {
    const dataDir = temporaryFolder(t, 'first-start')
    mkdirSync(path.join(dataDir, '.cluster-sync'))
    writeFileSync(path.join(dataDir, '.cluster-sync/first-start'), content)
    t.equal(sinceFirstStart(dataDir, 'pod'), 0, name)
    matchObject(
      t,
      JSON.parse(readFileSync(path.join(dataDir, '.cluster-sync/first-start'), 'utf8')),
      { pod: 'pod', bootId: own.bootId },
      name,
    )
  }
  t.end()
})

void t.test('a symbolic link is not followed, and a missing folder is an error', (t) => {
  const dataDir = temporaryFolder(t, 'first-start')
  const elsewhere = path.join(temporaryFolder(t, 'elsewhere'), 'file')
  writeFileSync(elsewhere, 'theirs')
  mkdirSync(path.join(dataDir, '.cluster-sync'))
  symlinkSync(elsewhere, path.join(dataDir, '.cluster-sync/first-start'))
  t.equal(sinceFirstStart(dataDir, 'pod'), 0)
  t.equal(readFileSync(elsewhere, 'utf8'), 'theirs')
  rmSync(dataDir, { recursive: true })
  t.throws(() => sinceFirstStart(dataDir, 'pod'), Fault)
  t.end()
})
