/**
 * No false positives: there are no findings in any valid plant. `CORPUS_RUNS=5000 npm test -- test/corpus` checks thousands.
 */
import fc from 'fast-check'
import t from 'tap'
import type { Files } from '../support/collection-tree.ts'
import { type Choices, choices, fullPlant, plant, projectAlone } from './plant.ts'
import { findingsIn } from './findings.ts'

const numRuns = Number(process.env['CORPUS_RUNS'] ?? 60)

void t.test('there are no findings in the plant with one of everything', async (t) => {
  t.strictSame(await findingsIn(plant(fullPlant)), [])
})

const repositories: readonly (readonly [kind: string, make: (chosen: Choices) => Files])[] = [
  ['plant', plant],
  ['repository of one project', projectAlone],
]
for (const [kind, make] of repositories) {
  void t.test(`nothing is found in any valid ${kind}`, { timeout: 3_600_000 }, async (t) => {
    let last: { chosen: Choices; found: string[] } | undefined
    await fc
      .assert(
        fc.asyncProperty(choices, async (chosen) => {
          const found = await findingsIn(make(chosen))
          if (found.length > 0) last = { chosen, found }
          return found.length === 0
        }),
        { numRuns },
      )
      .catch((error: unknown) => t.fail(String(error).slice(0, 200), { seen: last }))
    t.pass()
  })
}
