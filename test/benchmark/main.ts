/**
 * `npm run bench -- <name> [--json]`: runs one benchmark, `test/benchmark/<name>.ts`, and prints its figures. Each benchmark measures its
 * subject and what it is compared with in one run, because only ratios carry over from one machine to another.
 */
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Figure } from './figures.ts'

type Benchmark = { run(options: { rounds?: number }): Promise<Figure[]> }

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !['main.ts', 'figures.ts', 'contents.ts'].includes(file))
  .map((file) => file.replace(/\.ts$/, ''))
  .toSorted()

const { name, json, rounds } = readArguments()
const benchmark = (await import(`./${name}.ts`)) as Benchmark
const figures = await benchmark.run(rounds === undefined ? {} : { rounds })
if (json) process.stdout.write(`${JSON.stringify({ benchmark: name, node: process.version, figures }, undefined, 2)}\n`)
else for (const figure of figures) process.stdout.write(`${figure.name.padEnd(52)} ${round(figure.value).padStart(12)} ${figure.unit}\n`)

function readArguments(): { name: string; json: boolean; rounds: number | undefined } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { json: { type: 'boolean', default: false }, rounds: { type: 'string' } },
    })
    const [name = ''] = positionals
    if (positionals.length !== 1 || !names.includes(name)) throw new Error(`name one benchmark of: ${names.join(', ')}`)
    const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
    if (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0)) throw new Error('--rounds must be a whole number above 0')
    return { name, json: values.json, rounds }
  } catch (error) {
    process.stderr.write(`npm run bench: ${error instanceof Error ? error.message : String(error)}\n`)
    return process.exit(2)
  }
}

function round(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(4)
}
