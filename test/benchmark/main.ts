/**
 * `npm run bench -- <name> [--json] [--rounds n] [--size n] [--stages n]`: runs one benchmark, `test/benchmark/<name>.ts`, and prints its
 * figures. Each benchmark measures its subject and a reference in one run, because only ratios carry over from one machine to another.
 */
import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import type { Figure } from './figures.ts'

/**
 * `rounds`: repetitions; `size`: size of the measured input; `stages`: of a rollout, 10 at most. Each benchmark reads the options that
 * apply to it.
 */
type Benchmark = { run(options: { rounds?: number; size?: number; stages?: number }): Promise<Figure[]> }

const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && !['main.ts', 'figures.ts', 'contents.ts'].includes(file))
  .map((file) => file.replace(/\.ts$/, ''))
  .toSorted()

const { name, json, ...options } = readArguments()
const benchmark = (await import(`./${name}.ts`)) as Benchmark
const figures = await benchmark.run(options)
if (json) process.stdout.write(`${JSON.stringify({ benchmark: name, node: process.version, figures }, undefined, 2)}\n`)
else for (const figure of figures) process.stdout.write(`${figure.name.padEnd(52)} ${round(figure.value).padStart(12)} ${figure.unit}\n`)

function readArguments(): { name: string; json: boolean; rounds?: number; size?: number; stages?: number } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        rounds: { type: 'string' },
        size: { type: 'string' },
        stages: { type: 'string' },
      },
    })
    const [name = ''] = positionals
    if (positionals.length !== 1 || !names.includes(name)) throw new Error(`name one benchmark of: ${names.join(', ')}`)
    return {
      name,
      json: values.json,
      ...wholeNumber('rounds', values.rounds),
      ...wholeNumber('size', values.size),
      ...wholeNumber('stages', values.stages),
    }
  } catch (error) {
    process.stderr.write(`npm run bench: ${error instanceof Error ? error.message : String(error)}\n`)
    return process.exit(2)
  }
}

function wholeNumber<Name extends string>(name: Name, text: string | undefined): Partial<Record<Name, number>> {
  if (text === undefined) return {}
  const value = Number(text)
  if (!Number.isInteger(value) || value <= 0) throw new Error(`--${name} must be a whole number above 0`)
  return { [name]: value } as Record<Name, number>
}

function round(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toPrecision(4)
}
