/**
 * Tests that a refreshed observer returns the same as a new one, for any changes of the folders.
 */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { createObserver } from '../../../../runtime/sync/plan/observe.ts'
import { createObservations, type Observed } from '../../../../runtime/sync/plan/observed.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const folders = ['a', 'a/b', 'a/b/c', 'd', 'd/b']
const looked = [...folders, ...folders.map((folder) => `${folder}/file`), 'file', 'none/of/these']
const acts = {
  folder: (at: string) => mkdirSync(at),
  file: (at: string) => writeFileSync(at, ''),
  link: (at: string) => symlinkSync('elsewhere', at),
  gone: (at: string) => rmSync(at, { recursive: true, force: true }),
  replaced(at: string) {
    renameSync(at, `${at}.old`)
    mkdirSync(at)
    rmSync(`${at}.old`, { recursive: true })
  },
} as const

const act = fc.record({ kind: fc.constantFrom(...(Object.keys(acts) as (keyof typeof acts)[])), at: fc.constantFrom(...folders) })

/** Ignores changes that are not possible at the given place. */
function carryOut(dataDir: string, all: readonly { kind: keyof typeof acts; at: string }[]): void {
  for (const { kind, at } of all) {
    try {
      acts[kind](path.join(dataDir, at))
    } catch {}
  }
}

void t.test('after a refresh every path is observed as it is', async (t) => {
  const parent = temporaryFolder(t, 'observe')
  let run = 0
  fc.assert(
    fc.property(fc.array(act, { maxLength: 6 }), fc.array(act, { maxLength: 3 }), (before, meanwhile) => {
      const dataDir = path.join(parent, String((run += 1)))
      mkdirSync(dataDir)
      carryOut(dataDir, before)
      const observer = createObserver(dataDir)
      for (const file of looked) observer.observe(file)
      carryOut(dataDir, meanwhile)
      observer.refresh()
      const fresh = createObserver(dataDir)
      for (const file of looked)
        t.strictSame(observer.observe(file), fresh.observe(file), `${file} after ${JSON.stringify([before, meanwhile])}`)
    }),
    { numRuns: 150 },
  )
})

void t.test('stored observations match direct ones, without entries for files below an absent folder', async (t) => {
  const parent = temporaryFolder(t, 'observations')
  let run = 0
  fc.assert(
    fc.property(fc.array(act, { maxLength: 6 }), fc.shuffledSubarray(looked), (before, paths) => {
      const dataDir = path.join(parent, String((run += 1)))
      mkdirSync(dataDir)
      carryOut(dataDir, before)
      const observer = createObserver(dataDir)
      const observations = createObservations()
      for (const file of paths) observations.set(file, observer.observe(file))
      for (const file of paths) t.strictSame(observations.get(file), observer.observe(file), `${file} after ${JSON.stringify(before)}`)
      const isBelowAbsent = (file: string, seen: Observed): boolean => seen.kind === 'absent' && seen.topmost !== file
      for (const [file, seen] of observations.entries()) t.notOk(isBelowAbsent(file, seen), `${file} is held`)
    }),
    { numRuns: 150 },
  )
})
