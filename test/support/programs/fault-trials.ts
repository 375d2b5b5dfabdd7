/**
 * Brings a folder from one commit to another while calls that change it fail, and checks the result. Runs with the library of
 * failing-calls.c loaded, which may kill it. Reads the work as JSON from stdin; writes one JSON line per finished trial.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { type CycleResult, type EngineMemory, recoverFolder, runCycle } from '../../../runtime/sync/cycle.ts'
import { releaseLock } from '../../../runtime/sync/disk/lock.ts'
import { listTree } from '../../../scripts/quickstart/check.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../memory-source.ts'

/** Calls are counted from 1; 0 means none. `to`: index of the desired tree, starting from the other one. */
export type Trial = { to: 0 | 1; failsAt: number; errno: number; onward: boolean; cuts: boolean; killsAt: number }
/** `killed`: the index of the trial that killed the previous process. */
export type TrialWork = {
  dataDir: string
  control: string
  trees: readonly [Tree, Tree]
  trials: readonly Trial[]
  first: number
  killed: number | undefined
}
/** `calls`: the number of calls while counting; undefined after a kill. */
export type TrialEnd = { index: number; calls: number | undefined; problems: string[]; phase: string | undefined }

const work = JSON.parse(await text(process.stdin)) as TrialWork
const { dataDir, trees } = work
const source = memorySource()
const commits = trees.map((tree) => source.commit(tree))
const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const signal = AbortSignal.timeout(540_000)
/** A file of the gateway, in no commit. */
const foreign = 'projects/foreign'

const control = openSync(work.control, 'r+')
function arm({ failsAt, errno, onward, cuts, killsAt }: Omit<Trial, 'to'>): void {
  writeSync(control, Int32Array.of(0, failsAt, errno, onward ? 1 : 0, killsAt, cuts ? 1 : 0), 0, undefined, 0)
}
function disarm(): number {
  const state = new Int32Array(1)
  readSync(control, state, 0, 4, 0)
  arm({ failsAt: 0, errno: 0, onward: false, cuts: false, killsAt: 0 })
  return state[0] ?? 0
}

/** In the notation of the source: a name that ends with ! is executable. */
function present(): Tree {
  return Object.fromEntries(
    listTree(path.join(dataDir, 'projects')).map((file) => {
      const full = path.join(dataDir, 'projects', file)
      return [`projects/${file}${(statSync(full).mode & 0o100) === 0 ? '' : '!'}`, readFileSync(full, 'utf8')]
    }),
  )
}

function isExactly(tree: Tree): boolean {
  return isDeepStrictEqual(present(), { ...tree, [foreign]: 'theirs' })
}

async function cycle(to: number, memory: EngineMemory): Promise<CycleResult> {
  const commit = commits[to]
  if (commit === undefined) throw new Error(`there is no tree ${to}`)
  return await runCycle(
    { source, gateway: undefined, clock: systemClock, log: silentLog, memory },
    desiredOf(dataDir, commit, profile),
    signal,
  )
}

/** Errors in a report made while calls failed. */
function wrongClaims(result: CycleResult): string[] {
  const problems: string[] = []
  const { phase, reason = '', message = '', commit } = result
  if (phase === 'Drifted') problems.push(`nobody changed anything, and it says ${message}`)
  if (phase === 'Failed' && reason === 'Unexpected') problems.push(`calls a failing disk a bug: ${message}`)
  if (commit === undefined) return problems
  const tree = trees[commits.findIndex((each) => each === commit)]
  if (tree === undefined || !isExactly(tree)) problems.push(`${phase} names a commit that is not in place: ${message}`)
  return problems
}

/** Restarts, like a new process or with the memory of this one, and ends at one of the commits. */
async function checkRestart({ to }: Trial, memory: EngineMemory): Promise<string[]> {
  const problems: string[] = []
  if (memory.manifest === undefined) {
    const { commit } = (await recoverFolder({ clock: systemClock, log: silentLog, memory }, dataDir, signal)) ?? {}
    const tree = trees[commits.findIndex((each) => each === commit)]
    if (tree === undefined ? commit !== undefined : !isExactly(tree)) problems.push(`after recovery the folder is not ${commit ?? 'known'}`)
    if (tree === undefined) problems.push('recovery makes the manifest suspect')
  }
  const { phase, message = '', findings = [] } = await cycle(to, memory)
  if (phase !== 'Synced') problems.push(`the next cycle ends as ${phase}: ${message}`)
  if (findings.length > 0) problems.push(`the next cycle finds ${JSON.stringify(findings)}`)
  if (!isExactly(trees[to])) problems.push(`the next cycle leaves ${JSON.stringify(present()).slice(0, 2_000)}`)
  // The next start removes leftovers that a run could not remove.
  releaseLock(dataDir)
  await recoverFolder({ clock: systemClock, log: silentLog, memory: { manifest: undefined } }, dataDir, signal)
  const left = readdirSync(path.join(dataDir, '.cluster-sync')).filter((name) => !['lock', 'manifest', 'was-synced'].includes(name))
  if (left.length > 0) problems.push(`left behind: ${left.join(' ')}`)
  return problems
}

async function runTrial(trial: Trial, index: number): Promise<TrialEnd> {
  const before: EngineMemory = { manifest: undefined }
  const { phase, message = '' } = await cycle(1 - trial.to, before)
  if (phase !== 'Synced') return { index, calls: undefined, phase, problems: [`the cycle before ends as ${phase}: ${message}`] }
  // Half of the trials start with the memory of the process and end with a restarted one.
  const memory: EngineMemory = index % 2 === 0 ? { manifest: undefined } : before
  releaseLock(dataDir)
  arm(trial)
  const result = await cycle(trial.to, memory)
  const calls = disarm()
  const problems = wrongClaims(result)
  const next: EngineMemory = index % 3 === 0 ? memory : { manifest: undefined }
  problems.push(...(await checkRestart(trial, next)))
  return { index, calls, problems, phase: result.phase }
}

const say = (end: TrialEnd): void => void writeSync(1, `${JSON.stringify(end)}\n`)
disarm()
if (work.killed !== undefined) {
  const trial = work.trials[work.killed]
  if (trial !== undefined)
    say({ index: work.killed, calls: undefined, phase: undefined, problems: await checkRestart(trial, { manifest: undefined }) })
}
for (const [index, trial] of work.trials.entries()) {
  if (index < work.first) continue
  writeSync(1, `${index}\n`)
  say(await runTrial(trial, index))
}
releaseLock(dataDir)
closeSync(control)
