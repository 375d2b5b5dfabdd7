/**
 * The sentence of the engine: changes -> plan -> stage -> publish -> rescan -> report. One cycle brings one data directory to one commit,
 * or leaves it at the old one, and says which.
 */
import type { Source } from '../delivery/protocol.ts'
import { asFault, Fault, isAbort } from '../fault.ts'
import type { Gateway, GatewayStatus } from '../gateway/gateway.ts'
import { discard, manifestChanges, publishRun, stageAll, type Run } from './publish/publish.ts'
import { currentBootId, markCleanWhenSettled, mustVerify } from './disk/clean-marker.ts'
import type { Wanted } from './model/wanted.ts'
import { ownershipOf } from './disk/disk.ts'
import { Refused } from './model/findings.ts'
import { isInterrupted } from './publish/journal.ts'
import type { Manifest, State } from './model/manifest.ts'
import { appendManifest, readManifest } from './disk/manifest-file.ts'
import { nextState } from './next-state.ts'
import { type CycleResult, dryRunResult, ended, type Ended, failed, occupied, standing } from './outcome.ts'
import { openFolder, type OpenDeps } from './publish/open-folder.ts'
import type { ScanKind } from './model/paths.ts'
import { isEmptyPlan, type Plan } from './plan/plan.ts'
import { diffPlan } from './plan/preview.ts'
import { prepare, type Prepared, type Repair } from './plan/make-plan.ts'
import { judgeRun } from './check/policy.ts'
import { designersInTheWay, scanPending } from './gateway-session.ts'
import { type CycleStep, doStep, type StepDeps } from './step.ts'

export type { Wanted } from './model/wanted.ts'
export { type EngineMemory, present, recoverFolder } from './publish/open-folder.ts'
export type { CycleResult } from './outcome.ts'

export type CycleDeps = OpenDeps &
  Pick<StepDeps, 'stepped'> & {
    source: Source
    /** Undefined: there is no gateway to talk to, and files in place are all that is asked for. */
    gateway: Gateway | undefined
  }

/** What a dry run compares: a report holds 16 KiB of it. */
const shownInReport = { files: 50, fileBytes: 64 * 1024, totalBytes: 1024 * 1024 }

/** Only a scan ends a lock; a gateway that does not answer lets go of it by itself. */
const lockReturnMs = 5_000
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
  return { ...standing(state, wanted), phase: 'Paused', message: 'paused: nothing is written' }
}

async function dryRun(deps: CycleDeps, wanted: Wanted, signal: AbortSignal): Promise<CycleResult> {
  const { source } = deps
  ownershipOf(wanted.dataDir)
  const manifest = await knownManifest(deps, wanted, signal)
  const prepared = await doStep(deps, 'plan', wanted.commit, () => prepare(source, wanted, manifest, 'as-configured', signal))
  const changes = await diffPlan(source, wanted, prepared, shownInReport, signal)
  return dryRunResult(wanted, manifest, prepared, changes)
}

/** Who writes nothing takes no lock, except to end a publish that a killed process left: a mixture of two commits waits for nobody. */
async function knownManifest(deps: CycleDeps, { dataDir }: Wanted, signal: AbortSignal): Promise<Manifest> {
  if (isInterrupted(dataDir)) return await openFolder(deps, dataDir, signal)
  return deps.memory.manifest ?? readManifest(dataDir)
}

async function sync(deps: CycleDeps, wanted: Wanted, signal: AbortSignal): Promise<CycleResult> {
  const { source, gateway } = deps
  const ownership = ownershipOf(wanted.dataDir)
  const manifest = await openFolder(deps, wanted.dataDir, signal)
  const writing = wanted.halt === undefined ? signal : AbortSignal.any([signal, wanted.halt])
  const status = await gateway?.status(writing)
  const repair = repairOf(manifest, wanted, status)
  const prepared = await doStep(deps, 'plan', wanted.commit, () => prepare(source, wanted, manifest, repair, writing))
  refuse(prepared.plan)
  const writes = prepared.plan.puts.length + prepared.plan.deletes.length > 0
  const designers = writes ? await designersInTheWay(gateway, status, wanted, writing) : []
  if (designers.length > 0) return occupied(manifest.state, wanted, designers)
  if (waitsForStart(deps, prepared, status)) {
    const message = `${prepared.plan.deletes.length} files are to go, which waits until the gateway has started`
    return { ...standing(manifest.state, wanted), phase: 'Pending', reason: 'GatewayNotReady', message }
  }
  await bringInPlace(deps, { wanted, manifest, prepared, ownership, status }, writing)
  const summary = { manifest, counts: prepared.plan.counts, drift: prepared.drift, mappings: prepared.intent.mappings }
  return await letGatewayRead(deps, wanted, summary, status, signal)
}

/** Throws the first problem of a plan; a path that is too long for a message stands in the findings too. */
function refuse({ problems }: Plan): void {
  const [problem] = problems
  if (problem === undefined) return
  const named = problems.flatMap(({ path, message }) => (path === undefined ? [] : [{ rule: 'path-too-long', path, message }]))
  throw new Refused(problem.reason, problem.message, named)
}

/** A gateway that starts may fault over a file that disappears; one that starts for ever needs the commit. */
function waitsForStart({ clock, memory }: CycleDeps, { plan }: Prepared, status: GatewayStatus | undefined): boolean {
  if (status !== 'starting') memory.startingSinceMs = undefined
  else memory.startingSinceMs ??= clock.monotonicMs()
  const sinceMs = memory.startingSinceMs
  return plan.deletes.length > 0 && sinceMs !== undefined && clock.monotonicMs() - sinceMs < longestStartMs
}

function repairOf({ state, doubt }: Manifest, { dataDir }: Wanted, status: GatewayStatus | undefined): Repair {
  if (doubt !== undefined) return 'verify-content'
  if (state === undefined) return 'as-configured'
  if (mustVerify(dataDir, state, currentBootId())) return 'verify-content'
  return state.commissioning && status === 'running' ? 'after-commissioning' : 'as-configured'
}

/** Everything that writes below the data directory. */
async function bringInPlace(deps: CycleDeps, run: Run, signal: AbortSignal): Promise<void> {
  const { clock, log, gateway, boundary = ignore } = deps
  const { wanted, manifest, prepared, status } = run
  const { plan } = prepared
  const nowMs = clock.now().epochMilliseconds
  if (plan.puts.length + plan.deletes.length === 0) {
    remember(run, nextState(run, undefined, nowMs))
    return
  }
  const step = <Result>(name: CycleStep, work: () => Result | Promise<Result>): Promise<Result> => doStep(deps, name, wanted.commit, work)
  const staged = await step('stage', () => stageAll(deps, run, boundary, signal))
  let locked = false
  try {
    const { findings, folders } = await step('check', () => judgeRun(wanted, manifest, prepared, staged, signal))
    staged.findings.push(...findings)
    staged.judged = folders
    locked = await step('lock', () => passGate(gateway, plan.scan, status, wanted, signal))
    signal.throwIfAborted()
  } catch (error) {
    discard(staged)
    if (locked) await giveLockBack(gateway, plan.scan)
    throw error
  }
  try {
    await step('publish', () => publishRun({ log }, run, staged, nextState(run, staged, nowMs), boundary))
  } catch (error) {
    // A mixture is for no gateway to read.
    if (locked && !isInterrupted(wanted.dataDir)) await giveLockBack(gateway, plan.scan)
    throw error
  }
}

/** Nothing was published: the gateway need not hold its own changes back for a minute, nor refuse the next try. */
async function giveLockBack(gateway: Gateway | undefined, kinds: readonly ScanKind[]): Promise<void> {
  await gateway?.scan(kinds, AbortSignal.timeout(lockReturnMs)).catch(() => undefined)
}

/**
 * The last look before the first rename: a gateway that came up while content was fetched is locked too, and its Designers count. Returns
 * whether the gateway's lock is ours now.
 */
async function passGate(
  gateway: Gateway | undefined,
  kinds: readonly ScanKind[],
  before: GatewayStatus | undefined,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<boolean> {
  if (gateway === undefined || kinds.length === 0) return false
  const now = before === 'running' ? before : await gateway.status(signal)
  if (now !== 'running') return false
  if (before !== 'running') {
    const designers = await designersInTheWay(gateway, now, wanted, signal)
    if (designers.length > 0) throw new Fault('DesignerOpen', `open Designer sessions: ${designers.join(', ')}`)
  }
  return (await gateway.lock(kinds, signal)) === 'held'
}

/** The manifest learns what needed no file: a commit without a change for us, adopted files, stats looked at. */
function remember({ wanted, manifest, prepared }: Run, state: State): void {
  const changes = manifestChanges(manifest, undefined, prepared)
  const sameState = JSON.stringify(manifest.state) === JSON.stringify(state)
  if (isEmptyPlan(prepared.plan) && changes.length === 0 && sameState) return
  appendManifest(wanted.dataDir, manifest, changes, state)
}

/** Files in place and gateway loaded are two facts: a scan that failed is tried again alone. */
async function letGatewayRead(
  deps: CycleDeps,
  wanted: Wanted,
  summary: Ended,
  status: GatewayStatus | undefined,
  signal: AbortSignal,
): Promise<CycleResult> {
  const { gateway, clock, memory } = deps
  const { manifest } = summary
  const { state } = manifest
  if (state === undefined) throw new Fault('Unexpected', 'a cycle ended without a state')
  const nowMs = clock.now().epochMilliseconds
  if (gateway === undefined || state.scanPending.length === 0) {
    markCleanWhenSettled(wanted.dataDir, state, nowMs)
    return ended(wanted, summary, undefined)
  }
  if (status !== 'running') {
    const message = `the files are in place; the gateway is ${status ?? 'unknown'} and has not read them yet`
    return ended(wanted, summary, {
      reason: status === 'unreachable' ? 'GatewayUnreachable' : 'GatewayNotReady',
      message,
    })
  }
  try {
    appendManifest(wanted.dataDir, manifest, [], await doStep(deps, 'scan', wanted.commit, () => scanPending(gateway, state, signal)))
    return ended(wanted, summary, undefined)
  } catch (error) {
    if (isAbort(error, signal)) throw error
    // The files stay: only the scan is missing.
    memory.manifest = undefined
    return { ...ended(wanted, summary, undefined), ...failed(error, state, wanted) }
  }
}

function ignore(): void {}
