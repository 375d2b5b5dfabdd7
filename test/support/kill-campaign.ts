/**
 * Killed at a random instant, again and again: the next start finds its way to exactly one commit, and the next cycle to the wanted one.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { systemClock } from '../../runtime/clock.ts'
import { silentLog } from '../../runtime/log.ts'
import { runCycle } from '../../runtime/sync/cycle.ts'
import { releaseLock } from '../../runtime/sync/disk/lock.ts'
import { readManifest } from '../../runtime/sync/disk/manifest-file.ts'
import { recover } from '../../runtime/sync/publish/recover.ts'
import { listTree } from '../../scripts/quickstart/check.ts'
import { bundlePrograms } from './measured-process.ts'
import { memorySource, profileOf, type Tree, wantedOf } from './memory-source.ts'
import { temporaryFolder } from './repository.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const signal = AbortSignal.timeout(540_000)

const many = (content: string, from: number, to: number): Tree =>
  Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`projects/many/d${index % 4}/f${from + index}`, content]))
const trees: Tree[] = [
  { ...many('1', 0, 30), 'projects/turn': 'a file', 'projects/turn-too/x': 'x', 'projects/same': 's', 'projects/run!': '#!' },
  { ...many('2', 10, 40), 'projects/turn/now/a': 'folder', 'projects/turn-too': 'a file', 'projects/same': 's', 'projects/run': '#!' },
  { ...many('2', 0, 12), 'projects/large': 'x'.repeat(300_000), 'projects/same': 's', 'projects/new/tree/of/files': '1' },
]
const source = memorySource()
const commits = trees.map((tree) => source.commit(tree))

/** The tree that lies below `projects`, in the notation of the source: a name that ends with ! is executable. */
function present(dataDir: string): Record<string, string> {
  const files = listTree(path.join(dataDir, 'projects')).filter((file) => file !== 'foreign')
  return Object.fromEntries(
    files.map((file) => {
      const full = path.join(dataDir, 'projects', file)
      return [`projects/${file}${(statSync(full).mode & 0o100) === 0 ? '' : '!'}`, readFileSync(full, 'utf8')]
    }),
  )
}

/** Starts the program, waits for its first commit and kills it so many milliseconds later. */
function runAndKill(program: string, dataDir: string, afterMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // Without the environment of a test runner, which would load itself into the program.
    const child = spawn('env', ['--ignore-environment', `NODE_COMPILE_CACHE=${program}.cache`, process.execPath, program, dataDir], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), afterMs))
    child.once('error', reject)
    child.once('close', (code, killed) => (killed === 'SIGKILL' ? resolve() : reject(new Error(`the program ended with ${code}`))))
    child.stdin.end(JSON.stringify(trees))
  })
}

/** Kills the engine so many times, over two folders at once; `t` fails where a folder is not exactly one commit afterwards. */
export async function killAgainAndAgain(t: Test, kills: number): Promise<void> {
  const folder = temporaryFolder(t, 'kill')
  const [program = ''] = await bundlePrograms([path.resolve(import.meta.dirname, 'programs/cycle-forever.ts')], folder)
  const found = { publishing: 0, staging: 0, between: 0 }
  const wrong: string[] = []
  let left = kills

  const killOnce = async (dataDir: string): Promise<void> => {
    const afterMs = Math.random() * 25
    await runAndKill(program, dataDir, afterMs)
    const names = readdirSync(path.join(dataDir, '.cluster-sync'))
    found[names.includes('journal') ? 'publishing' : names.some((name) => name.startsWith('run-')) ? 'staging' : 'between'] += 1

    const manifest = readManifest(dataDir)
    recover(dataDir, manifest, Date.now(), silentLog, () => {})
    const recovered = trees[commits.findIndex((commit) => commit === manifest.state?.commit)]
    if (!t.same(present(dataDir), { ...recovered }, `one commit after a kill at ${afterMs} ms`)) wrong.push(dataDir)
    t.same(
      readdirSync(path.join(dataDir, '.cluster-sync')).filter((name) => /^(?:run-|journal|.*\.tmp$)/.test(name)),
      [],
      'nothing is left',
    )
    const next = Math.floor(Math.random() * commits.length)
    const commit = commits[next]
    if (commit === undefined) return
    // What was recovered must be known exactly too: the next cycle believes the manifest.
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
    const result = await runCycle(deps, wantedOf(dataDir, commit, profile), signal)
    releaseLock(dataDir)
    t.equal(result.phase, 'Synced', result.message ?? '')
    t.equal(result.findings, undefined, 'nothing is taken for a local change')
    t.same(present(dataDir), { ...trees[next] }, 'exactly the next commit')
    t.equal(readFileSync(path.join(dataDir, 'projects/foreign'), 'utf8'), 'theirs')
  }

  const work = async (name: string): Promise<void> => {
    const dataDir = path.join(folder, name)
    mkdirSync(path.join(dataDir, 'projects'), { recursive: true })
    writeFileSync(path.join(dataDir, 'projects/foreign'), 'theirs')
    while (left > 0 && wrong.length === 0) {
      left -= 1
      await killOnce(dataDir)
    }
  }
  await Promise.all(['one', 'two'].map(work))
  t.comment(`killed while publishing ${found.publishing}, while staging ${found.staging}, otherwise ${found.between} times`)
}
