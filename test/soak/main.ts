/**
 * `npm run soak -- <name> [--minutes n] [--seed n]`: runs one soak, `test/soak/<name>.ts`, for ten minutes by default. A soak with a
 * schedule first prints its seed, which repeats the order of faults. Exits with 1 if a condition did not hold.
 */
import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'

/** `isSeeded`: its actions follow from the seed. */
type Soak = { run(options: { minutes: number; seed: number }): Promise<string[]>; isSeeded?: boolean }

const maxSeed = 2 ** 32
/** A week. Node's timers are limited to 24 days, and a run must stay below that including start and stop. */
const maxMinutes = 7 * 24 * 60

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.replace(/\.ts$/, ''))
  .toSorted()
const options = { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } } as const
const { values, positionals } = parseArgs({ allowPositionals: true, options })
const [name = ''] = positionals
const minutes = Number(values.minutes)
const seed = values.seed === undefined ? randomInt(maxSeed) : Number(values.seed)
if (!names.includes(name) || !(minutes > 0 && minutes <= maxMinutes) || !Number.isInteger(seed) || seed < 0) {
  process.stderr.write(
    `npm run soak: name one of: ${names.join(', ')}; --minutes takes a number above 0 and up to ${maxMinutes}, --seed a whole number from 0 on\n`,
  )
  process.exit(2)
}
const { run, isSeeded = false } = (await import(`./${name}.ts`)) as Soak
if (values.seed !== undefined && !isSeeded) {
  process.stderr.write(`npm run soak: ${name} has no schedule that --seed could repeat\n`)
  process.exit(2)
}
if (isSeeded) process.stdout.write(`--seed ${seed}\n`)
const wrong = await run({ minutes, seed })
for (const line of wrong) process.stdout.write(`WRONG: ${line}\n`)
process.stdout.write(wrong.length === 0 ? 'all held\n' : `${wrong.length} did not hold\n`)
process.exitCode = wrong.length === 0 ? 0 : 1
