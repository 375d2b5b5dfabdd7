import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { lint } from '../../../../runtime/cli/collections/lint.ts'
import { openInput } from '../../../../runtime/cli/collections/collections-input.ts'
import type { LintResult } from '../../../../runtime/cli/collections/lint-formats.ts'
import { matchObject } from '../../../support/assertions.ts'
import { cloneBundle, commitsOf, temporaryFolder } from '../../../support/repository.ts'
import { requires, sharedData } from '../../../support/requires.ts'

/**
 * The lint result of each commit of a real project, as counts per rule. `explained` says why each error is correct. UPDATE_GOLDEN=1
 * rewrites the file.
 */
type Golden = { explained: Record<string, string>; commits: Record<string, Outcome> }
type Outcome = Omit<LintResult['summary'], 'projects'> & { rules: Record<string, number> }

const goldenFile = path.join(import.meta.dirname, 'lab04.golden.json')
const root = path.resolve(import.meta.dirname, '../../../..')
const signal = new AbortController().signal
const maxMs = 1_000

async function lintOf(where: string, ref?: string): Promise<LintResult> {
  const input = await openInput(where, ref, signal)
  try {
    return await lint(input, undefined, signal)
  } finally {
    await input.close()
  }
}

function outcomeOf({ findings, summary: { projects: _none, ...summary } }: LintResult): Outcome {
  const rules: Record<string, number> = {}
  for (const { rule, severity } of findings) rules[`${severity} ${rule}`] = (rules[`${severity} ${rule}`] ?? 0) + 1
  return { ...summary, rules: Object.fromEntries(Object.entries(rules).toSorted(([a], [b]) => (a < b ? -1 : 1))) }
}

void t.test('each commit of a real project has the known findings, every error explained, in under a second', async (t) => {
  const bundle = sharedData(t, 'real/lab04.bundle')
  if (bundle === undefined || !requires(t, 'git')) return
  const repository = cloneBundle(bundle, path.join(temporaryFolder(t, 'golden'), 'repository'))
  const golden = JSON.parse(readFileSync(goldenFile, 'utf8')) as Golden
  const found: Golden = { explained: golden.explained, commits: {} }
  const commits = commitsOf(repository)
  t.equal(commits.length, 16)
  for (const commit of commits) {
    const times: number[] = []
    let result = await timed(times, () => lintOf(repository.folder, commit))
    // A second run, because another program may have used the processor during the first.
    if ((times[0] ?? 0) > maxMs) result = await timed(times, () => lintOf(repository.folder, commit))
    t.ok(Math.min(...times) < maxMs, `${commit} took ${Math.round(Math.min(...times))} ms`)
    found.commits[commit] = outcomeOf(result)
    for (const { rule, severity } of result.findings) {
      if (severity === 'error') t.ok(Object.hasOwn(golden.explained, rule), `the error ${rule} is explained`)
    }
  }
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(goldenFile, `${JSON.stringify(found, undefined, 2)}\n`)
  else t.strictSame(found, golden)
})

void t.test('linting a directory gives the same result as linting its commit', async (t) => {
  const bundle = sharedData(t, 'real/lab04.bundle')
  if (bundle === undefined || !requires(t, 'git')) return
  const repository = cloneBundle(bundle, path.join(temporaryFolder(t, 'golden'), 'repository'))
  t.strictSame(await lintOf(repository.folder), await lintOf(repository.folder, 'HEAD'))
})

void t.test('the example plant has no findings', async (t) => {
  const { findings, summary, roots } = await lintOf(path.join(root, 'examples/plant'))
  t.strictSame(findings, [])
  t.strictSame(roots, ['examples/plant/services/config/resources', 'examples/plant/services/projects'])
  matchObject(t, summary, { errors: 0, warnings: 0, collections: 4 })
})

/** Measures elapsed or processor time, whichever is less, so that other programs do not count. */
async function timed<Value>(times: number[], work: () => Promise<Value>): Promise<Value> {
  const startedMs = performance.now()
  const before = process.cpuUsage()
  const value = await work()
  const { user, system } = process.cpuUsage(before)
  times.push(Math.min(performance.now() - startedMs, (user + system) / 1000))
  return value
}
