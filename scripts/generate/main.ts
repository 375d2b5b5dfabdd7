/**
 * `npm run generate`: writes every file that is derived from code. With `--check` it writes nothing and fails when one differs.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { chart } from './chart.ts'
import { fields } from './fields.ts'
import { homes } from './home.ts'
import { manifests } from './manifests.ts'
import { operations } from './operations.ts'
import { rulePages } from './rules.ts'
import type { GeneratedFile } from './table.ts'
import { values } from './values.ts'
import { webhooks } from './webhooks.ts'

const generators: (() => Promise<GeneratedFile[]>)[] = [operations, values, fields, manifests, chart, rulePages, webhooks, homes]

const check = process.argv.includes('--check')
const stale: string[] = []
for (const generate of generators) {
  for (const { path, content } of await generate()) {
    const present = await readFile(path, 'utf8').catch(() => undefined)
    if (present === content) continue
    stale.push(path)
    if (check) continue
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }
}
for (const path of stale) process.stdout.write(`${check ? 'differs from the code' : 'wrote'}: ${path}\n`)
if (check && stale.length > 0) {
  process.stdout.write('run npm run generate and commit the result\n')
  process.exitCode = 1
}
