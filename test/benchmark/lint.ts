/**
 * `cluster-sync lint` on trees of 10,000 and 100,000 resources: resources per second of the whole command, start included, and its peak
 * memory, from a directory and from a commit.
 */
import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { signatureOf } from '../../runtime/validation/rules/signature.ts'
import { bundleCommand } from '../support/measured-process.ts'
import { gitEnvironment } from '../support/repository.ts'
import { type Figure, median } from './figures.ts'

const sizes = [10_000, 100_000]
const root = 'config/resources'

/** `size`: number of resources. Default: both sizes, one after the other. */
export async function run({ rounds = 3, size: only }: { rounds?: number; size?: number }): Promise<Figure[]> {
  const parent = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-bench-lint-'))
  try {
    const program = await bundleCommand(parent)
    const figures: Figure[] = []
    for (const size of only === undefined ? sizes : [only]) {
      const folder = path.join(parent, String(size))
      writeTree(folder, size)
      commit(folder)
      for (const [from, args] of [
        ['directory', []],
        ['commit', ['--ref', 'HEAD']],
      ] as const) {
        const runs: Measured[] = []
        for (let round = 0; round < rounds; round += 1) runs.push(await measure([program, 'lint', folder, ...args], size))
        const figure = (what: string, value: number, unit: string): Figure => ({ name: `${size} resources, ${from}: ${what}`, value, unit })
        const ms = median(runs.map(({ ms }) => ms))
        figures.push(figure('time', ms, 'ms'), figure('throughput', Math.round(size / (ms / 1000)), 'resources/s'))
        figures.push(figure('peak resident memory', Math.round(Math.max(...runs.map(({ peakMiB }) => peakMiB))), 'MiB'))
      }
      rmSync(folder, { recursive: true, force: true })
    }
    return figures
  } finally {
    rmSync(parent, { recursive: true, force: true })
  }
}

/** Nine of ten resources are in core, the others are overrides in two modes; each has a signed manifest and one file. */
function writeTree(folder: string, count: number): void {
  const mode = (title: string, parent: string): string =>
    JSON.stringify({ title, description: '', enabled: true, inheritable: true, parent })
  for (const [name, parent] of [
    ['external', 'system'],
    ['core', 'external'],
    ['dev', 'core'],
    ['prod', 'core'],
  ] as const) {
    mkdirSync(path.join(folder, root, name), { recursive: true })
    writeFileSync(path.join(folder, root, name, 'config-mode.json'), mode(name, parent))
  }
  for (let index = 0; index < count; index += 1) {
    const collection = index % 20 === 18 ? 'dev' : index % 20 === 19 ? 'prod' : 'core'
    const number = collection === 'core' ? index : index - (index % 20)
    writeResource(path.join(folder, root, collection, 'ignition/schedule', `schedule ${number}`), index)
  }
}

function writeResource(folder: string, index: number): void {
  mkdirSync(folder, { recursive: true })
  const config = JSON.stringify({ profile: { type: 'basic schedule' }, settings: { number: index, text: 'x'.repeat(400) } }, undefined, 2)
  const attributes = { lastModification: { actor: 'plant', timestamp: '2026-01-15T08:00:00Z' } }
  const manifest = { scope: 'A', version: 1, restricted: false, overridable: true, files: ['config.json'], attributes }
  const signature = signatureOf(JSON.stringify(manifest), () => createHash('sha256').update(config).digest('hex'))
  const signed = { ...manifest, attributes: { ...attributes, lastModificationSignature: signature } }
  writeFileSync(path.join(folder, 'config.json'), config)
  writeFileSync(path.join(folder, 'resource.json'), JSON.stringify(signed, undefined, 2))
}

function commit(folder: string): void {
  const git = (...args: string[]): void => void execFileSync('git', ['-C', folder, ...args], { env: gitEnvironment, stdio: 'ignore' })
  git('init', '-q', '-b', 'main')
  git('config', 'gc.auto', '0')
  git('add', '-A')
  git('commit', '-q', '-m', 'Tree')
  // Packed, as on a git host.
  git('gc', '-q')
}

type Measured = { ms: number; peakMiB: number }

/** Polls the high-water mark of the child process; the last sample is close to its end. */
async function measure(args: readonly string[], size: number): Promise<Measured> {
  const startedMs = performance.now()
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
  let peakKiB = 0
  const timer = setInterval(() => (peakKiB = Math.max(peakKiB, highWaterKiB(child.pid))), 5)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  clearInterval(timer)
  const ms = performance.now() - startedMs
  if (code !== 0 || !output.includes(`0 errors, 0 warnings in ${size} resources`))
    throw new Error(`lint ended with ${code}: ${output.slice(0, 500)}`)
  return { ms, peakMiB: peakKiB / 1024 }
}

function highWaterKiB(pid: number | undefined): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
