/**
 * The sentence of the engine: open the folder, prepare a plan, stage, publish, rescan, report. One cycle brings one data directory to one commit,
 * or leaves it at the old one, and says which.
 */
import type { Source } from '../delivery/protocol.ts'
import { asFault, Fault, isAbort } from '../fault.ts'
import type { Gateway, GatewayStatus } from '../gateway/gateway.ts'
import { discard, manifestChanges, publishRun, type Run, stageAll, type StagedRun } from './publish/publish.ts'
import { currentBootId, markCleanWhenSettled, mustVerify } from './disk/clean-marker.ts'
import type { Wanted } from './model/wanted.ts'
import { ownershipOf } from './disk/disk.ts'
import { Refused } from './model/findings.ts'
import { isInterrupted } from './publish/journal.ts'
import type { Manifest, State } from './model/manifest.ts'
import { appendManifest, readManifest } from './disk/manifest-file.ts'
import { nextState } from './next-state.ts'
import {
  blockedByDesigner,
  type CycleResult,
  dryRunResult,
  failed,
  filesInPlace,
  lastApplied,
  type Summary,
  waitingForStart,
} from './outcome.ts'
import { openFolder, type OpenDeps } from './publish/open-folder.ts'
import { isEmptyPlan, type Plan } from './plan/plan.ts'
import { diffPlan } from './plan/preview.ts'
import { prepare, type Repair } from './plan/make-plan.ts'
import { checkRenderedFiles } from './check/policy.ts'
import { designersInTheWay, giveLockBack, lockForWriting, scanPending } from './gateway-session.ts'
import { doStep, type StepDeps } from './step.ts'

export type { Wanted } from './model/wanted.ts'
export { type EngineMemory, readSynced, recoverFolder } from './publish/open-folder.ts'
export type { CycleResult } from './outcome.ts'

export type CycleDeps = OpenDeps &
  Pick<StepDeps, 'stepped'> & {
    source: Source
    /** Undefined: there is no gateway to talk to, and files in place are all that is asked for. */
    gateway: Gateway | undefined
  }

/** What a dry run compares: a report holds 16 KiB of it. */
const shownInReport = { files: 50, fileBytes: 64 * 1024, totalBytes: 1024 * 1024 }

/** A large gateway starts in one to three minutes. */
const longestStartMs = 300_000

/** Throws only when its own signal ends it: whatever else goes wrong stands in the result. */
export async function runCycle(deps: CycleDeps, wanted: Wanted, signal: AbortSignal): Promise<CycleResult> {
  const { memory, log } = deps
  try {
    if (wanted.paused) return await paused(deps, wanted, signal)
    if (wanted.profile.dryRun) return await dryRun(deps, wanted, signal)
    return await sync(deps, wanted, signal)
  } catch (error) {
    // What the disk holds is looked up anew after any failure.
    const state = isInterrupted(wanted.dataDir) ? undefined : memory.manifest?.state
    memory.manifest = undefined
    if (isAbort(error, signal)) throw error
    if (wanted.halt !== undefined && isAbort(error, wanted.halt)) return pausedAt(readManifest(wanted.dataDir), wanted)
    if (asFault(error).reason === 'Unexpected') log.error({ err: error, commit: wanted.commit }, 'a cycle met a bug')
    return failed(error, state, wanted)
  }
}

async function paused(deps: CycleDeps, wanted: Wanted, signal: AbortSignal): Promise<CycleResult> {
  return pausedAt(await knownManifest(deps, wanted, signal), wanted)
}

function pausedAt({ state }: Manifest, wanted: Wanted): CycleResult {
  return { ...lastApplied(state, wanted), phase: 'Paused', message: 'paused: nothing is written' }
}

async function dryRun(deps: CycleDeps, wanted: Wanted, signal: AbortSignal): Promise<CycleResult> {
  const { source } = deps
  ownershipOf(wanted.dataDir)
  const manifest = await knownManifest(deps, wanted, signal)
  const prepared = await doStep(deps, 'plan', wanted.commit, () => prepare(source, wanted, manifest, 'as-configured', signal))
  const changes = await diffPlan(source, wanted, prepared, shownInReport, signal)
  return dryRunResult(wanted, manifest, prepared, changes)
}

/** A cycle that writes nothing takes no lock, except to end a publish that a killed process left: a mixture of two commits must not stay. */
async function knownManifest(deps: CycleDeps, { dataDir }: Wanted, signal: AbortSignal): Promise<Manifest> {
  if (isInterrupted(dataDir)) return await openFolder(deps, dataDir, signal)
  return deps.memory.manifest ?? readManifest(dataDir)
}

async function sync(deps: CycleDeps, wanted: Wanted, signal: AbortSignal): Promise<CycleResult> {
  const ownership = ownershipOf(wanted.dataDir)
  const manifest = await openFolder(deps, wanted.dataDir, signal)
  const writing = wanted.halt === undefined ? signal : AbortSignal.any([signal, wanted.halt])
  const status = await deps.gateway?.status(writing)
  const repair = repairOf(manifest, wanted, status)
  const prepared = await doStep(deps, 'plan', wanted.commit, () => prepare(deps.source, wanted, manifest, repair, writing))
  refuseProblems(prepared.plan)
  const run: Run = { wanted, manifest, prepared, ownership, status }
  const wait = await reasonToWait(deps, run, writing)
  if (wait !== undefined) return wait
  if (isWriting(prepared.plan)) await publish(deps, run, await stage(deps, run, writing), writing)
  else remember(run, nextState(run, undefined, deps.clock.now().epochMilliseconds))
  return await rescan(deps, run, signal)
}

function isWriting({ puts, deletes }: Plan): boolean {
  return puts.length + deletes.length > 0
}

/** Throws the first problem of a plan; a path that is too long for a message stands in the findings too. */
function refuseProblems({ problems }: Plan): void {
  const [problem] = problems
  if (problem === undefined) return
  const named = problems.flatMap(({ path, message }) => (path === undefined ? [] : [{ rule: 'path-too-long', path, message }]))
  throw new Refused(problem.reason, problem.message, named)
}

function repairOf({ state, doubt }: Manifest, { dataDir }: Wanted, status: GatewayStatus | undefined): Repair {
  if (doubt !== undefined) return 'verify-content'
  if (state === undefined) return 'as-configured'
  if (mustVerify(dataDir, state, currentBootId())) return 'verify-content'
  return state.commissioning && status === 'running' ? 'after-commissioning' : 'as-configured'
}

/** The result where nothing may be written now: a Designer is open, or files are to go from below a gateway that starts. */
async function reasonToWait(deps: CycleDeps, run: Run, signal: AbortSignal): Promise<CycleResult | undefined> {
  const { wanted, manifest, prepared, status } = run
  const { plan } = prepared
  const designers = isWriting(plan) ? await designersInTheWay(deps.gateway, status, wanted, signal) : []
  if (designers.length > 0) return blockedByDesigner(manifest.state, wanted, designers)
  if (!waitsForStart(deps, plan, status)) return undefined
  return waitingForStart(manifest.state, wanted, `${plan.deletes.length} files are to go, which waits until the gateway has started`)
}

/** A gateway that starts may fault over a file that disappears; one that starts for ever needs the commit. */
function waitsForStart({ clock, memory }: CycleDeps, plan: Plan, status: GatewayStatus | undefined): boolean {
  if (status !== 'starting') memory.startingSinceMs = undefined
  else memory.startingSinceMs ??= clock.monotonicMs()
  const sinceMs = memory.startingSinceMs
  return plan.deletes.length > 0 && sinceMs !== undefined && clock.monotonicMs() - sinceMs < longestStartMs
}

/** Writes all new content aside and checks what was rendered of it. Leaves nothing behind where that fails. */
async function stage(deps: CycleDeps, run: Run, signal: AbortSignal): Promise<StagedRun> {
  const { wanted, manifest, prepared } = run
  const staged = await doStep(deps, 'stage', wanted.commit, () => stageAll(deps, run, deps.boundary ?? ignore, signal))
  try {
    const check = () => checkRenderedFiles(wanted, manifest, prepared, staged, signal)
    const { findings, folders } = await doStep(deps, 'check', wanted.commit, check)
    staged.findings.push(...findings)
    staged.judged = folders
    return staged
  } catch (error) {
    discard(staged)
    throw error
  }
}

/** Puts everything in place while the gateway holds its own changes back, or nothing. */
async function publish(deps: CycleDeps, run: Run, staged: StagedRun, signal: AbortSignal): Promise<void> {
  const { clock, gateway, boundary = ignore } = deps
  const { wanted, prepared, status } = run
  const kinds = prepared.plan.scan
  let isLocked = false
  try {
    isLocked = await doStep(deps, 'lock', wanted.commit, () => lockForWriting(gateway, kinds, status, wanted, signal))
    signal.throwIfAborted()
  } catch (error) {
    discard(staged)
    if (isLocked) await giveLockBack(gateway, kinds)
    throw error
  }
  try {
    const state = nextState(run, staged, clock.now().epochMilliseconds)
    await doStep(deps, 'publish', wanted.commit, () => publishRun(deps, run, staged, state, boundary))
  } catch (error) {
    // A mixture is for no gateway to read.
    if (isLocked && !isInterrupted(wanted.dataDir)) await giveLockBack(gateway, kinds)
    throw error
  }
}

/** The manifest learns what needed no file: a commit without a change for us, adopted files, stats looked at. */
function remember({ wanted, manifest, prepared }: Run, state: State): void {
  const changes = manifestChanges(manifest, undefined, prepared)
  const sameState = JSON.stringify(manifest.state) === JSON.stringify(state)
  if (isEmptyPlan(prepared.plan) && changes.length === 0 && sameState) return
  appendManifest(wanted.dataDir, manifest, changes, state)
}

/** Files in place and gateway loaded are two facts: a scan that failed is tried again alone. */
async function rescan(deps: CycleDeps, run: Run, signal: AbortSignal): Promise<CycleResult> {
  const { gateway, clock, memory } = deps
  const { wanted, manifest, prepared, status } = run
  const summary: Summary = { manifest, counts: prepared.plan.counts, drift: prepared.drift, mappings: prepared.diff.mappings }
  const { state } = manifest
  if (state === undefined) throw new Fault('Unexpected', 'a cycle ended without a state')
  if (gateway === undefined || state.scanPending.length === 0) {
    markCleanWhenSettled(wanted.dataDir, state, clock.now().epochMilliseconds)
    return filesInPlace(wanted, summary, undefined)
  }
  if (status !== 'running') {
    const reason = status === 'unreachable' ? 'GatewayUnreachable' : 'GatewayNotReady'
    const message = `the files are in place; the gateway is ${status ?? 'unknown'} and has not read them yet`
    return filesInPlace(wanted, summary, { reason, message })
  }
  try {
    appendManifest(wanted.dataDir, manifest, [], await doStep(deps, 'scan', wanted.commit, () => scanPending(gateway, state, signal)))
    return filesInPlace(wanted, summary, undefined)
  } catch (error) {
    if (isAbort(error, signal)) throw error
    // The files stay: only the scan is missing.
    memory.manifest = undefined
    return { ...filesInPlace(wanted, summary, undefined), ...failed(error, state, wanted) }
  }
}

function ignore(): void {}
