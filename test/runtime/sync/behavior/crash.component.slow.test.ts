/**
 * Tests that after a kill at any boundary of an apply, the next start ends at exactly one commit.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type CycleResult, runCycle } from '../../../../runtime/sync/cycle.ts'
import { releaseLock } from '../../../../runtime/sync/disk/lock.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { bundlePrograms } from '../../../support/measured-process.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const source = path.resolve(import.meta.dirname, '../../../support/programs/one-cycle.ts')
const profile = profileOf([{ source: 'projects', destination: 'projects' }])

const before: Tree = {
  'projects/keep': 'k',
  'projects/change': '1',
  'projects/gone/deep/x': 'x',
  'projects/file-then-folder': 'f',
  'projects/folder-then-file/y': 'y',
}
const after: Tree = {
  'projects/keep': 'k',
  'projects/change': '2',
  'projects/new/z': 'z',
  'projects/new/deep/y': 'y',
  'projects/other/z': 'z',
  'projects/file-then-folder/a': 'a',
  'projects/folder-then-file': 'file',
}

function contentOf(dataDir: string): Record<string, string> {
  return Object.fromEntries(
    listTree(path.join(dataDir, 'projects')).map((file) => [
      `projects/${file}`,
      readFileSync(path.join(dataDir, 'projects', file), 'utf8'),
    ]),
  )
}

async function cycle(dataDir: string, tree: Tree, other: Tree): Promise<CycleResult> {
  const source = memorySource()
  source.commit(other)
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  const result = await runCycle(deps, desiredOf(dataDir, source.commit(tree), profile), AbortSignal.timeout(30_000))
  // This process stays alive, so that its lock would be respected.
  releaseLock(dataDir)
  return result
}

function runProgram(
  [program, from]: readonly [string, string],
  dataDir: string,
  boundary: number,
): Promise<{ signal: string | null; stdout: string }> {
  return new Promise((resolve, reject) => {
    // Without the environment of the test runner, which would load itself into the program.
    const child = spawn('env', ['--ignore-environment', process.execPath, program, dataDir, String(boundary), from], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')))
    child.on('error', reject)
    child.on('close', (_code, signal) => resolve({ signal, stdout }))
    child.stdin.end(JSON.stringify([before, after]))
  })
}

for (const from of ['differences', 'listing']) {
  void t.test(
    `killed at each boundary of an apply, the folder is one commit after the next start, and the next cycle ends well (${from})`,
    { timeout: 600_000 },
    async (t) => {
      if (requires(t, 'env')) await killEverywhere(t, from)
    },
  )
}

async function killEverywhere(t: Test, from: string): Promise<void> {
  const folder = temporaryFolder(t, 'crash')
  const [file = ''] = await bundlePrograms([source], folder)
  const program = [file, from] as const
  const seed = path.join(folder, 'seed')
  mkdirSync(seed)
  t.equal((await cycle(seed, before, after)).phase, 'Synced')
  t.strictSame(contentOf(seed), before)
  const whole = path.join(folder, 'whole')
  cpSync(seed, whole, { recursive: true, preserveTimestamps: true })
  const { passed } = JSON.parse((await runProgram(program, whole, 0)).stdout) as { passed: number }
  t.ok(passed >= 12, `there are ${passed} boundaries`)
  t.strictSame(contentOf(whole), after)

  const ends = { old: 0, new: 0 }
  for (let boundary = 1; boundary <= passed; boundary += 1) {
    const dataDir = path.join(folder, `killed-${boundary}`)
    cpSync(seed, dataDir, { recursive: true, preserveTimestamps: true })
    t.equal((await runProgram(program, dataDir, boundary)).signal, 'SIGKILL', `boundary ${boundary}`)
    // The next start may target the old commit, and must not find a mixture either.
    const back = path.join(folder, `back-${boundary}`)
    cpSync(dataDir, back, { recursive: true, preserveTimestamps: true })
    t.equal((await cycle(back, before, after)).phase, 'Synced')
    t.strictSame(contentOf(back), before, `back to the old commit from boundary ${boundary}`)

    const result = await cycle(dataDir, after, before)
    t.equal(result.phase, 'Synced')
    t.strictSame(contentOf(dataDir), after, `the new commit from boundary ${boundary}`)
    ends[result.files?.changed === 0 && result.files.added === 0 ? 'new' : 'old'] += 1
    const left = readdirSync(path.join(dataDir, '.cluster-sync')).filter((name) => /^(?:run-|journal|.*\.tmp$)/.test(name))
    t.strictSame(left, [], `nothing is left of boundary ${boundary}`)
  }
  t.ok(ends.old > 0 && ends.new > 0, `rolled back ${ends.old} times, forward ${ends.new} times`)
}
