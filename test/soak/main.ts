/**
 * `npm run soak -- <name> [--minutes n] [--seed n]`: runs one soak, `test/soak/<name>.ts`, for ten minutes unless told otherwise. One with a
 * schedule begins by saying its seed, with which the same order of faults comes again. Ends with 1 where what must hold did not.
 */
import { randomInt } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'

/** `isSeeded`: what it does follows from the seed. */
type Soak = { run(options: { minutes: number; seed: number }): Promise<string[]>; isSeeded?: boolean }

const mostSeed = 2 ** 32
/** A week; Node has no timer beyond 24 days, which a run with its start and end must stay within. */
const mostMinutes = 7 * 24 * 60

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.replace(/\.ts$/, ''))
  .toSorted()
const options = { minutes: { type: 'string', default: '10' }, seed: { type: 'string' } } as const
const { values, positionals } = parseArgs({ allowPositionals: true, options })
const [name = ''] = positionals
const minutes = Number(values.minutes)
const seed = values.seed === undefined ? randomInt(mostSeed) : Number(values.seed)
if (!names.includes(name) || !(minutes > 0 && minutes <= mostMinutes) || !Number.isInteger(seed) || seed < 0) {
  process.stderr.write(
    `npm run soak: name one of: ${names.join(', ')}; --minutes takes a number above 0 and up to ${mostMinutes}, --seed a whole number from 0 on\n`,
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
