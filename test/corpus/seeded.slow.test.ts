/**
 * Each rule finds its seeded fault in each place of a plant where it can occur.
 */
import t from 'tap'
import { ruleIds } from '../../runtime/validation/rules/rules.ts'
import type { Files } from '../support/collection-tree.ts'
import { seedsOf, type Seed } from './faults.ts'
import { findingsIn } from './findings.ts'
import { fullPlant, plant } from './plant.ts'

/** Rules that need more than a repository to be broken, or that are off by default. */
const elsewhere = new Set(['mode-without-folder', 'first-boot-conflict'])
const valid = plant(fullPlant)
const seeds = seedsOf(valid)

function broken({ changes }: Seed): Files {
  const files = { ...valid }
  for (const [path, content] of Object.entries(changes)) {
    if (content === null) delete files[path]
    else files[path] = content
  }
  return files
}

for (const rule of ruleIds) {
  if (elsewhere.has(rule)) continue
  void t.test(`${rule} is found in each place where it can occur`, async (t) => {
    t.ok(seeds[rule].length > 0, 'it is seeded somewhere')
    for (const seed of seeds[rule]) {
      const found = await findingsIn(broken(seed))
      t.ok(found.includes(`${rule} ${seed.path}`), seed.path, { found: found.slice(0, 5) })
    }
  })
}
