/**
 * Kills the engine at random instants repeatedly: the next start ends at exactly one commit, and the next cycle at the desired one.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { recover } from '../../runtime/sync/apply/open-folder.ts'
import { runCycle } from '../../runtime/sync/cycle.ts'
import { releaseLock } from '../../runtime/sync/disk/lock.ts'
import { readManifest } from '../../runtime/sync/disk/manifest-file.ts'
import { listTree } from '../../scripts/quickstart/check.ts'
import { manyFiles } from './fault-campaign.ts'
import { bundlePrograms } from './measured-process.ts'
import { memorySource, profileOf, type Tree, desiredOf } from './memory-source.ts'
import { temporaryFolder } from './repository.ts'

/** The number of kills by activity of the engine; `wrong` is empty if every folder ended exact. */
export type Kills = { publishing: number; staging: number; between: number; wrong: string[] }

const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const folders = 2

/** Three commits of about this number of files: a fifth changes, files become folders and back, and a quarter is deleted at once. */
function treesOf(files: number): Tree[] {
  const [first, second] = manyFiles(files)
  const most = Object.fromEntries(Object.entries(first).slice(Math.ceil(files / 4)))
  return [
    { ...first, 'projects/turn': 'a file', 'projects/turn-too/x': 'x', 'projects/same': 's', 'projects/run!': '#!' },
    { ...second, 'projects/turn/now/a': 'folder', 'projects/turn-too': 'a file', 'projects/same': 's', 'projects/run': '#!' },
    { ...most, 'projects/large': 'x'.repeat(300_000), 'projects/same': 's', 'projects/new/tree/of/files': '1' },
  ]
}

/** Kills this number of engines over a folder of this number of files, two at a time, and stops at the first folder that is not exact. */
export async function killAtRandom(t: Pick<Test, 'teardown'>, files: number, kills: number): Promise<Kills> {
  const folder = temporaryFolder(t, 'kill')
  const [program = ''] = await bundlePrograms([path.resolve(import.meta.dirname, 'programs/cycle-forever.ts')], folder)
  const trees = treesOf(files)
  const found: Kills = { publishing: 0, staging: 0, between: 0, wrong: [] }
  let left = kills
  const work = async (name: string): Promise<void> => {
    const dataDir = path.join(folder, name)
    mkdirSync(path.join(dataDir, 'projects'), { recursive: true })
    writeFileSync(path.join(dataDir, 'projects/foreign'), 'theirs')
    const victim = new Victim(program, dataDir, trees)
    const cycleMs = await victim.measureCycle()
    while (left > 0 && found.wrong.length === 0) {
      left -= 1
      const afterMs = Math.random() * cycleMs * 1.2
      found[await victim.kill(afterMs)] += 1
      for (const problem of await victim.check()) found.wrong.push(`${files} files, killed after ${afterMs} ms: ${problem}`)
    }
  }
  await Promise.all(Array.from({ length: folders }, (_, index) => work(`data-${index}`)))
  return found
}

/** A data directory, and the process that syncs it from commit to commit until it is killed. */
class Victim {
  readonly #program: string
  readonly #dataDir: string
  readonly #trees: readonly Tree[]
  readonly #source = memorySource()
  readonly #commits

  constructor(program: string, dataDir: string, trees: readonly Tree[]) {
    this.#program = program
    this.#dataDir = dataDir
    this.#trees = trees
    this.#commits = trees.map((tree) => this.#source.commit(tree))
  }

  /** The duration of a cycle on this machine, in milliseconds. */
  async measureCycle(): Promise<number> {
    const cycles = 6
    const atMs: number[] = []
    await this.#run((kill) => {
      atMs.push(performance.now())
      if (atMs.length > cycles) kill()
    })
    return ((atMs.at(-1) ?? 0) - (atMs[0] ?? 0)) / cycles
  }

  /** Kills the process this number of milliseconds after its first cycle; returns its activity at that time. */
  async kill(afterMs: number): Promise<'publishing' | 'staging' | 'between'> {
    let isTimed = false
    await this.#run((kill) => {
      if (!isTimed) setTimeout(kill, afterMs)
      isTimed = true
    })
    const names = this.#ownFiles()
    if (names.includes('journal')) return 'publishing'
    return names.some((name) => name.startsWith('run-')) ? 'staging' : 'between'
  }

  /** Starts it; calls `cycled` after each cycle. Resolves when it was killed. */
  #run(cycled: (kill: () => void) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      // Without the environment of a test runner, which would load itself into the program.
      const environment = ['--ignore-environment', `NODE_COMPILE_CACHE=${this.#program}.cache`]
      const child = spawn('env', [...environment, process.execPath, this.#program, this.#dataDir], { stdio: ['pipe', 'pipe', 'inherit'] })
      child.stdout.on('data', () => cycled(() => void child.kill('SIGKILL')))
      child.once('error', reject)
      child.once('close', (code, killed) => (killed === 'SIGKILL' ? resolve() : reject(new Error(`the program ended with ${code}`))))
      child.stdin.end(JSON.stringify(this.#trees))
    })
  }

  /** Recovers like the next start and syncs another commit; returns all differences. */
  async check(): Promise<string[]> {
    const dataDir = this.#dataDir
    const manifest = readManifest(dataDir)
    await recover(dataDir, manifest, silentLog, () => {})
    const recovered = this.#trees[this.#commits.findIndex((commit) => commit === manifest.state?.commit)]
    const problems = this.#differences(recovered ?? {}).map((path) => `${path} after recovery`)
    for (const name of this.#ownFiles()) if (/^(?:run-|journal|.*\.tmp$)/.test(name)) problems.push(`.cluster-sync/${name} is left`)
    const next = Math.floor(Math.random() * this.#commits.length)
    const [commit, tree] = [this.#commits[next], this.#trees[next]]
    if (commit === undefined || tree === undefined) return problems
    // The recovered state must be recorded exactly too, because the next cycle trusts the manifest.
    const deps = { source: this.#source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
    const { phase, message, findings } = await runCycle(deps, desiredOf(dataDir, commit, profile), AbortSignal.timeout(120_000))
    releaseLock(dataDir)
    if (phase !== 'Synced') problems.push(`the next cycle ends as ${phase}: ${message}`)
    if (findings !== undefined) problems.push(`the next cycle finds ${JSON.stringify(findings).slice(0, 1_000)}`)
    return [...problems, ...this.#differences(tree).map((path) => `${path} after the next cycle`)]
  }

  #ownFiles(): string[] {
    return readdirSync(path.join(this.#dataDir, '.cluster-sync'))
  }

  /** The first paths at which the folder differs from the tree, in the notation of the source: a name that ends with ! is executable. */
  #differences(tree: Tree): string[] {
    const expected: Tree = { ...tree, 'projects/foreign': 'theirs' }
    const found = new Map(
      listTree(path.join(this.#dataDir, 'projects')).map((file) => {
        const full = path.join(this.#dataDir, 'projects', file)
        return [`projects/${file}${(statSync(full).mode & 0o100) === 0 ? '' : '!'}`, readFileSync(full, 'utf8')]
      }),
    )
    const paths = new Set([...found.keys(), ...Object.keys(expected)])
    return [...paths].filter((path) => found.get(path) !== expected[path]).slice(0, 20)
  }
}
