/**
 * Runs one sync cycle: open the folder, make a plan, stage, apply, scan, report. A cycle brings one data directory to one commit or leaves
 * it at the old one, and reports which.
 */
import type { Source } from '../content/protocol/protocol.ts'
import { counted } from '../platform/text/counted.ts'
import { asFault, Fault, isAbort } from '../platform/fault.ts'
import type { Gateway, GatewayStatus, ScanKind } from '../gateway/gateway.ts'
import { discard, manifestChanges, applyRun, type Run, type StagedRun } from './apply/apply.ts'
import { currentBootId, markCleanWhenSettled, mustVerify } from './disk/clean-marker.ts'
import type { SyncTarget } from './model/desired.ts'
import { type Ownership, ownershipOf } from './disk/disk.ts'
import { Refused } from './model/findings.ts'
import { isInterrupted, mayBeInterrupted } from './apply/journal.ts'
import type { Manifest, State } from './model/manifest.ts'
import { appendManifest, isSameFile, readManifest } from './disk/manifest-file.ts'
import {
  blockedByDesigner,
  type CycleResult,
  dryRunResult,
  failed,
  filesInPlace,
  lastApplied,
  nextState,
  type Summary,
  waitingForStart,
  withUnverified,
} from './outcome.ts'
import { openFolder, type OpenDeps } from './apply/open-folder.ts'
import { isEmptyPlan, type Plan } from './plan/plan.ts'
import { diffPlan } from './plan/preview.ts'
import type { Repair } from './plan/classify-drift.ts'
import { prepare } from './plan/make-plan.ts'
import {
  blockingDesigners,
  releaseGatewayLock,
  lockForWriting,
  scanPending,
  watchHealth,
  runHealthCheck,
  reportedCheck,
} from './gateway-session.ts'
import { StageAhead } from './apply/stage-ahead.ts'
import { stageContents } from './stage-contents.ts'
import { doStep, type StepDeps } from './step.ts'

export type { SyncTarget } from './model/desired.ts'
export { type EngineMemory, readSynced, recoverFolder } from './apply/open-folder.ts'
export type { CycleResult } from './outcome.ts'

/** Created once per data directory, by the agent or the standalone runner, and kept between its cycles. */
export type CycleDeps = OpenDeps &
  Pick<StepDeps, 'stepped'> & {
    source: Source
    /** Undefined: there is no gateway to call; the cycle ends with the files in place. */
    gateway: Gateway | undefined
    /** Receives progress. */
    watch?: CycleWatch
  }

/** Callbacks for the progress of a cycle. */
export type CycleWatch = {
  /** Receives the plan before anything is written or deleted. */
  planned(plan: Plan): void
  /** Contents received of those requested; equal contents count once. */
  arrived(done: number, total: number): void
  /** The gateway has read the files of these kinds. */
  scanned(kinds: readonly ScanKind[]): void
}

/** Limits of the comparison in a dry run; a report shows 16 KiB of it. */
const shownInReport = { files: 50, fileBytes: 64 * 1024, totalBytes: 1024 * 1024 }

/** A large gateway starts in one to three minutes. */
const maxStartMs = 300_000

/** Throws only the reason of its own signal: every other failure is in the result, as a phase with reason and message. */
export async function runCycle(deps: CycleDeps, target: SyncTarget, signal: AbortSignal): Promise<CycleResult> {
  const { memory, log } = deps
  try {
    if (target.paused) return await paused(deps, target, signal)
    if (target.profile.dryRun) return await dryRun(deps, target, signal)
    return await sync(deps, target, signal)
  } catch (error) {
    // After any failure the manifest is read from the disk again.
    const interrupted = mayBeInterrupted(target.dataDir)
    const state = interrupted ? undefined : memory.manifest?.state
    const unverified = interrupted
      ? 'an apply was interrupted, and the folder may contain files of two commits'
      : memory.manifest?.suspectReason
    memory.manifest = undefined
    if (isAbort(error, signal)) throw error
    if (target.halt !== undefined && isAbort(error, target.halt)) return pausedAt(readManifest(target.dataDir), target)
    if (asFault(error).reason === 'Unexpected') log.error({ err: error, commit: target.commit, hasEvent: true }, 'sync failed unexpectedly')
    return withUnverified(failed(error, state, target), unverified)
  }
}

async function paused(deps: CycleDeps, target: SyncTarget, signal: AbortSignal): Promise<CycleResult> {
  return pausedAt(await knownManifest(deps, target, signal), target)
}

function pausedAt({ state, suspectReason }: Manifest, target: SyncTarget): CycleResult {
  return withUnverified({ ...lastApplied(state, target), phase: 'Paused', message: 'paused: nothing is written' }, suspectReason)
}

async function dryRun(deps: CycleDeps, target: SyncTarget, signal: AbortSignal): Promise<CycleResult> {
  const { source } = deps
  ownershipOf(target.dataDir)
  const manifest = await knownManifest(deps, target, signal)
  const prepared = await doStep(deps, 'plan', target.commit, () => prepare({ source }, target, manifest, 'as-configured', signal))
  const changes = await diffPlan(source, target, prepared, shownInReport, signal)
  return withUnverified(dryRunResult(target, manifest, prepared, changes), manifest.suspectReason)
}

/** Takes no lock, unless a killed process left an interrupted apply: a mixture of two commits must not stay. */
async function knownManifest(deps: CycleDeps, { dataDir }: SyncTarget, signal: AbortSignal): Promise<Manifest> {
  if (isInterrupted(dataDir)) return await openFolder(deps, dataDir, signal)
  const { manifest } = deps.memory
  return manifest !== undefined && isSameFile(dataDir, manifest) ? manifest : readManifest(dataDir)
}

async function sync(deps: CycleDeps, target: SyncTarget, signal: AbortSignal): Promise<CycleResult> {
  const ownership = ownershipOf(target.dataDir)
  const manifest = await openFolder(deps, target.dataDir, signal)
  const writing = target.halt === undefined ? signal : AbortSignal.any([signal, target.halt])
  const status = await deps.gateway?.status(writing)
  const repair = repairOf(manifest, target, status)
  const ahead = stageAhead(deps, target, manifest, ownership)
  let run: Run
  try {
    const listing = { source: deps.source, contents: ahead?.contents, observer: () => ahead?.observer() }
    const prepared = await doStep(deps, 'plan', target.commit, () => prepare(listing, target, manifest, repair, writing))
    refuseProblems(prepared.plan)
    deps.watch?.planned(prepared.plan)
    run = { target, manifest, prepared, ownership, status, problems: undefined }
    const wait = await reasonToWait(deps, run, writing)
    if (wait !== undefined) return withUnverified(wait, manifest.suspectReason)
    if (isWriting(prepared.plan)) {
      const { staged, problems } = await stageContents({ ...deps, ...(ahead === undefined ? {} : { ahead }) }, run, writing)
      await apply(deps, { ...run, problems }, staged, writing)
    } else recordManifest(run, nextState(run, undefined, deps.clock.now().epochMilliseconds))
  } finally {
    if ((await ahead?.discard()) === true) deps.memory.aheadInVain = target.commit
  }
  return await checked(deps, target, await rescan(deps, run, signal), signal)
}

/** Prepares staging with the listing; undefined if that does not help: it failed for this commit before, or the folder holds owned files. */
function stageAhead({ clock, memory, boundary = ignore }: CycleDeps, target: SyncTarget, { files }: Manifest, ownership: Ownership) {
  if (files.size > 0 || memory.aheadInVain === target.commit) return undefined
  return new StageAhead({ clock, boundary }, target, ownership)
}

function isWriting({ puts, deletes }: Plan): boolean {
  return puts.length + deletes.length > 0
}

/** Throws the first problem of a plan, with paths as findings, because a path may be too long for a message. */
function refuseProblems({ problems }: Plan): void {
  const [problem] = problems
  if (problem === undefined) return
  const named = problems.flatMap(({ path, message }) => (path === undefined ? [] : [{ rule: 'path-too-long', path, message }]))
  throw new Refused(problem.reason, problem.message, named)
}

function repairOf({ state, suspectReason }: Manifest, { dataDir }: SyncTarget, status: GatewayStatus | undefined): Repair {
  if (suspectReason !== undefined) return 'verify-content'
  if (state === undefined) return 'as-configured'
  if (mustVerify(dataDir, state, currentBootId())) return 'verify-content'
  return state.commissioning && status === 'running' ? 'after-commissioning' : 'as-configured'
}

/** The result if nothing may be written now: a Designer is open, or files would be deleted under a gateway that is starting. */
async function reasonToWait(deps: CycleDeps, run: Run, signal: AbortSignal): Promise<CycleResult | undefined> {
  const { target, manifest, prepared, status } = run
  const { plan } = prepared
  const designers = isWriting(plan) ? await blockingDesigners(deps.gateway, status, target, signal) : []
  if (designers.length > 0) return blockedByDesigner(manifest.state, target, designers)
  if (!waitsForStart(deps, plan, status)) return undefined
  return waitingForStart(
    manifest.state,
    target,
    `the deletion of ${counted(plan.deletes.length, 'file')} waits until the gateway has started`,
  )
}

/** A starting gateway may fail if a file disappears, so deletions wait, but not forever: the commit may be what lets it start. */
function waitsForStart({ clock, memory }: CycleDeps, plan: Plan, status: GatewayStatus | undefined): boolean {
  if (status !== 'starting') memory.startingSinceMs = undefined
  else memory.startingSinceMs ??= clock.monotonicMs()
  const sinceMs = memory.startingSinceMs
  return plan.deletes.length > 0 && sinceMs !== undefined && clock.monotonicMs() - sinceMs < maxStartMs
}

/** Puts everything in place, or nothing, while the gateway's lock holds back its own changes. */
async function apply(deps: CycleDeps, run: Run, staged: StagedRun, signal: AbortSignal): Promise<void> {
  const { clock, gateway, boundary = ignore } = deps
  const { target, prepared, status } = run
  const kinds = prepared.plan.scan
  let isLocked = false
  try {
    isLocked = await doStep(deps, 'lock', target.commit, () => lockForWriting(gateway, kinds, status, target, signal))
    signal.throwIfAborted()
  } catch (error) {
    await discard(staged)
    if (isLocked) await releaseGatewayLock(gateway, kinds)
    throw error
  }
  try {
    const state = nextState(run, staged, clock.now().epochMilliseconds)
    await doStep(deps, 'publish', target.commit, () => applyRun(run, staged, state, boundary))
  } catch (error) {
    // Unlocking triggers a scan, and the gateway must not read a mixture of two commits.
    if (isLocked && !mayBeInterrupted(target.dataDir)) await releaseGatewayLock(gateway, kinds)
    throw error
  }
}

/** Records changes without a file to write in the manifest: a commit without relevant changes, adopted files, new stats. */
function recordManifest({ target, manifest, prepared }: Run, state: State): void {
  const changes = manifestChanges(manifest, undefined, prepared)
  const sameState = JSON.stringify(manifest.state) === JSON.stringify(state)
  if (isEmptyPlan(prepared.plan) && changes.length === 0 && sameState) return
  appendManifest(target.dataDir, manifest, changes, state)
}

/** Makes the gateway read the files. The files count as in place in any case: only a failed scan is repeated by the next cycle. */
async function rescan(deps: CycleDeps, run: Run, signal: AbortSignal): Promise<CycleResult> {
  const { gateway, clock, memory } = deps
  const { target, manifest, prepared, status } = run
  const summary: Summary = { manifest, counts: prepared.plan.counts, drift: prepared.drift, mappings: prepared.diff.mappings }
  const { state } = manifest
  if (state === undefined) throw new Fault('Unexpected', 'a cycle ended without a state')
  if (gateway === undefined || state.scanPending.length === 0) {
    const nowMs = clock.now().epochMilliseconds
    if (gateway !== undefined && status === 'running') {
      const seen = await watchHealth(gateway, state, nowMs, signal)
      if (seen !== state) appendManifest(target.dataDir, manifest, [], seen)
    }
    markCleanWhenSettled(target.dataDir, manifest.state ?? state, nowMs)
    return filesInPlace(target, summary, undefined)
  }
  if (status !== 'running') {
    const reason = status === 'unreachable' ? 'GatewayUnreachable' : 'GatewayNotReady'
    const message = `the files are in place; the gateway is ${status ?? 'unknown'} and has not read them yet`
    return filesInPlace(target, summary, { reason, message })
  }
  try {
    const scanned = await doStep(deps, 'scan', target.commit, () => scanPending(gateway, state, signal))
    if (typeof scanned === 'string') {
      const message = `the gateway has read its files, but is ${scanned} now; it reads them again when it runs`
      return filesInPlace(target, summary, { reason: 'GatewayNotReady', message })
    }
    appendManifest(target.dataDir, manifest, [], scanned)
    deps.watch?.scanned(state.scanPending)
    return filesInPlace(target, summary, undefined)
  } catch (error) {
    if (isAbort(error, signal)) throw error
    // The files stay in place; only the scan is missing.
    memory.manifest = undefined
    return { ...filesInPlace(target, summary, undefined), ...failed(error, state, target) }
  }
}

/** Adds the gateway's response to the check of a rollout, if one waits for it and everything is in place and read. */
async function checked(deps: CycleDeps, target: SyncTarget, result: CycleResult, signal: AbortSignal): Promise<CycleResult> {
  const { gateway, memory, clock } = deps
  const { check } = target
  if (check === undefined || (result.phase !== 'Synced' && result.phase !== 'Drifted')) {
    memory.check = undefined
    return result
  }
  memory.check = await runHealthCheck(
    gateway,
    { ...target, check },
    { known: memory.check, nowMs: () => clock.now().epochMilliseconds },
    signal,
  )
  return { ...result, healthCheck: reportedCheck(memory.check) }
}

function ignore(): void {}
