/**
 * An observer that is refreshed sees what a new one sees, whatever happened to the folders meanwhile.
 */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { createObserver } from '../../../runtime/sync/plan/observe.ts'
import { createObservations, type Observed } from '../../../runtime/sync/plan/observed.ts'
import { temporaryFolder } from '../../support/repository.ts'

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

/** What cannot be done where it is asked for is left out. */
function carryOut(dataDir: string, all: readonly { kind: keyof typeof acts; at: string }[]): void {
  for (const { kind, at } of all) {
    try {
      acts[kind](path.join(dataDir, at))
    } catch {}
  }
}

void t.test('after a refresh every path is seen as it is', async (t) => {
  const parent = temporaryFolder(t, 'observe')
  let run = 0
  fc.assert(
    fc.property(fc.array(act, { maxLength: 6 }), fc.array(act, { maxLength: 3 }), (before, meanwhile) => {
      const dataDir = path.join(parent, String((run += 1)))
      mkdirSync(dataDir)
      carryOut(dataDir, before)
      const observer = createObserver(dataDir)
      for (const file of looked) observer.look(file)
      carryOut(dataDir, meanwhile)
      observer.refresh()
      const fresh = createObserver(dataDir)
      for (const file of looked) t.same(observer.look(file), fresh.look(file), `${file} after ${JSON.stringify([before, meanwhile])}`)
    }),
    { numRuns: 150 },
  )
})

void t.test(
  'what was observed is what a look at each path showed, although nothing is held for files below an absent folder',
  async (t) => {
    const parent = temporaryFolder(t, 'observations')
    let run = 0
    fc.assert(
      fc.property(fc.array(act, { maxLength: 6 }), fc.shuffledSubarray(looked), (before, paths) => {
        const dataDir = path.join(parent, String((run += 1)))
        mkdirSync(dataDir)
        carryOut(dataDir, before)
        const observer = createObserver(dataDir)
        const observations = createObservations()
        for (const file of paths) observations.set(file, observer.look(file))
        for (const file of paths) t.same(observations.get(file), observer.look(file), `${file} after ${JSON.stringify(before)}`)
        const isBelowAbsent = (file: string, seen: Observed): boolean => seen.kind === 'absent' && seen.topmost !== file
        for (const [file, seen] of observations.entries()) t.notOk(isBelowAbsent(file, seen), `${file} is held`)
      }),
      { numRuns: 150 },
    )
  },
)
