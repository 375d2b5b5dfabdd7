/**
 * `npm run soak -- <name> [--minutes n]`: runs one soak, `test/soak/<name>.ts`, for ten minutes unless told otherwise. Ends with 1 where what
 * must hold did not.
 */
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'

type Soak = { run(options: { minutes: number }): Promise<string[]> }

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.replace(/\.ts$/, ''))
  .toSorted()
const { values, positionals } = parseArgs({ allowPositionals: true, options: { minutes: { type: 'string', default: '10' } } })
const [name = ''] = positionals
const minutes = Number(values.minutes)
if (!names.includes(name) || !(minutes > 0)) {
  process.stderr.write(`npm run soak: name one of: ${names.join(', ')}; --minutes takes a number above 0\n`)
  process.exit(2)
}
const soak = (await import(`./${name}.ts`)) as Soak
const wrong = await soak.run({ minutes })
for (const line of wrong) process.stdout.write(`WRONG: ${line}\n`)
process.stdout.write(wrong.length === 0 ? 'all held\n' : `${wrong.length} did not hold\n`)
process.exitCode = wrong.length === 0 ? 0 : 1
