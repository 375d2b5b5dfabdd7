/**
 * Tests that each rule finds its example before the fix, and nothing after it.
 */
import { posix } from 'node:path'
import t from 'tap'
import { checkCollections } from '../../../../runtime/validation/run/check-root.ts'
import { listingOf } from '../../../../runtime/validation/model/listing.ts'
import type { ExampleFiles } from '../../../support/rule-examples/example.ts'
import { examples } from '../../../support/rule-examples/examples.ts'
import { type RuleId, ruleIds } from '../../../../runtime/validation/rules/rules.ts'
import { type Files, root, validTree } from '../../../support/collection-tree.ts'
import { projectRoot, validProjects } from '../../../support/project-tree.ts'

const signal = new AbortController().signal

/** Returns the number of findings of a rule in a valid tree with these files added. */
async function times(rule: RuleId, example: ExampleFiles): Promise<number> {
  const kind: 'collections' | 'projects' = examples[rule].kind ?? 'collections'
  const [base, files]: [string, Files] = kind === 'projects' ? [projectRoot, validProjects()] : [root, validTree()]
  for (const [path, content] of Object.entries(example)) {
    const place = posix.normalize(`${base}/${path}`)
    if (content === null) delete files[place]
    else files[place] = content
  }
  const options = { root: base, kind, modesInUse: rule === 'mode-without-folder' ? ['stage'] : undefined }
  const severity = (): 'warning' => 'warning'
  const { findings } = await checkCollections(listingOf(files), { ...options, severity }, signal)
  return findings.filter((finding) => finding.rule === rule).length
}

for (const rule of ruleIds) {
  void t.test(`${rule}: found before, and not after`, async (t) => {
    const { before, after } = examples[rule]
    t.ok((await times(rule, before)) > 0, 'before')
    t.equal(await times(rule, after), 0, 'after')
  })
}
