/**
 * Builds what a cycle results in: the part of the SyncReport that the engine knows, and the state that the manifest records. Pure, except
 * for the boot id.
 */
import { timestamp } from '../platform/clock.ts'
import { asFault, type Fault, type Reason } from '../platform/fault.ts'
import { folderUnverifiedRule, reportLimits, type SyncReportStatus } from '../api/schema/report.ts'
import { driftMessage } from '../api/drift-message.ts'
import { parentOf } from '../api/values.ts'
import type { GatewayStatus } from '../gateway/gateway.ts'
import { Temporal } from '../platform/temporal.ts'
import type { Run, StagedRun } from './apply/apply.ts'
import { activeMode, type ActiveMode, type SyncTarget } from './model/desired.ts'
import { modeFindings, Refused, remainingFindings, reportable } from './model/findings.ts'
import type { Manifest, State } from './model/manifest.ts'
import { patchesWithoutFile, type ResolvedMapping } from './desired/mappings.ts'
import { currentBootId } from './disk/clean-marker.ts'
import type { ScanKind } from './model/paths.ts'
import type { Counts } from './plan/plan.ts'
import { changeMarks, diffText, type FileDiff } from './plan/preview.ts'
import type { Drift, Prepared } from './plan/make-plan.ts'

/** What a cycle contributes to the SyncReport; its caller adds the reporter and the times. */
export type CycleResult = Omit<SyncReportStatus, 'startedAt' | 'finishedAt' | 'agentVersion' | 'history' | 'gateway' | 'profile'>

/** Reasons with the phase Blocked: a user must change something first; the gateway keeps its files. */
const blocking: ReadonlySet<Reason> = new Set([
  'InvalidSpec',
  'SourcePathMissing',
  'DestinationNotAllowed',
  'MappingConflict',
  'MassDeletion',
  'LocalChanges',
  'ModeRemoved',
  'PathTooLong',
  'TemplateFailed',
  'SymbolicLink',
  'CollectionsInvalid',
  'UnknownProfile',
  'DesignerOpen',
])

/** The part of a report that describes the applied commit, regardless of the result of the cycle. `state` is the manifest's. */
export function lastApplied(state: State | undefined, target: SyncTarget): Omit<CycleResult, 'phase'> {
  const mode = activeMode(target, state)
  const result: Omit<CycleResult, 'phase'> = {}
  if (mode !== undefined) result.mode = { name: mode.name, from: mode.from }
  if (state === undefined) return result
  if (state.commit !== null) Object.assign(result, { commit: state.commit, ref: state.ref, syncHash: state.syncHash })
  const { projects, config } = state.scanned
  const latest = [projects, config]
    .filter((at) => at !== undefined)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .at(-1)
  if (latest === undefined) return result
  result.scan = { finishedAt: latest }
  if (projects !== undefined) result.scan.projects = { finishedAt: projects }
  if (config !== undefined) result.scan.config = { finishedAt: config }
  return result
}

/** The report of a failed cycle: what is in place, and the fault. */
export function failed(error: unknown, state: State | undefined, target: SyncTarget): CycleResult {
  const fault = asFault(error)
  // Waiting for other gateways' turns is not a failure of this one.
  const waits = fault.reason === 'TooManyRequests' || (fault.reason === 'DesignerOpen' && target.profile.designerSessionPolicy === 'Wait')
  const faultOf = faultFields(fault)
  const result: CycleResult = { ...lastApplied(state, target), ...faultOf, phase: waits ? 'Pending' : faultOf.phase }
  if (fault instanceof Refused && fault.findings.length > 0) result.findings = reportable(fault.findings)
  return result
}

/** Adds why it is unknown whether the files on disk are those of a commit; `why` undefined: they are verified. */
export function withUnverified(result: CycleResult, why: string | undefined): CycleResult {
  if (why === undefined) return result
  const finding = { rule: folderUnverifiedRule, path: '', message: `${why}; the next sync verifies every file by its content` }
  return { ...result, findings: reportable([finding, ...(result.findings ?? [])]) }
}

/** The report fields of a fault that needs a user's action. */
export function faultFields({ reason, message }: Fault): Pick<CycleResult, 'phase' | 'reason' | 'message'> {
  return { phase: blocking.has(reason) ? 'Blocked' : 'Failed', reason, message }
}

/** What a report needs besides the manifest. `drift` undefined: not checked. */
export type Summary = {
  manifest: Manifest
  counts: Counts
  drift: Drift | undefined
  mappings: readonly ResolvedMapping[]
}

/** The report of a cycle that ends with the files in place; `waiting` names what the gateway has not done yet. */
export function filesInPlace(
  target: SyncTarget,
  { manifest, counts, drift, mappings }: Summary,
  waiting: { reason: Reason; message: string } | undefined,
): CycleResult {
  const result: CycleResult = { ...lastApplied(manifest.state, target), phase: 'Synced', files: counts, projects: projectsOf(manifest) }
  if (drift !== undefined) result.drift = { count: drift.count, paths: [...drift.paths] }
  const { findings = [], problems = [] } = manifest.state ?? {}
  const mode = activeMode(target, manifest.state)
  const all = [...modeFindings(mode), ...patchesWithoutFile(mappings, manifest.files), ...findings]
  if (all.length > 0) result.findings = reportable(all)
  if (problems.length > 0) result.scan = { ...result.scan, problems: [...problems] }
  const health = healthOf(manifest.state)
  if (health !== undefined) result.health = health
  if (waiting !== undefined) return { ...result, phase: 'Pending', ...waiting }
  if (mode?.lastKnown === true) return { ...result, phase: 'Pending', ...unknownMode(mode) }
  if (drift === undefined || drift.count === 0) return result
  return {
    ...result,
    phase: 'Drifted',
    reason: 'Drifted',
    message: driftMessage(drift),
  }
}

function healthOf({ health }: Partial<State> = {}): CycleResult['health'] {
  if (health === undefined) return undefined
  const since = timestamp(Temporal.Instant.fromEpochMilliseconds(health.since))
  return { since, ...(health.newProblems.length > 0 ? { newProblems: health.newProblems } : {}) }
}

/** The delivered files stay, but the phase is not Synced, because the gateway may by now run in another mode. */
function unknownMode({ name }: ActiveMode): { reason: Reason; message: string } {
  return {
    reason: 'ModeUnknown',
    message: `the deployment mode is currently unknown, so the files of the last known mode "${name}" stay; set the mode or start the gateway`,
  }
}

/** The report if an open Designer forbids writing: Pending under the policy `Wait`, otherwise Blocked, which needs a user's action. */
export function blockedByDesigner(state: State | undefined, target: SyncTarget, designers: readonly string[]): CycleResult {
  const phase = target.profile.designerSessionPolicy === 'Wait' ? 'Pending' : 'Blocked'
  const message = `open Designer sessions: ${designers.join(', ')}`
  return { ...lastApplied(state, target), phase, reason: 'DesignerOpen', message, designers: [...designers] }
}

/** The report of a cycle that waits for the gateway; `message` names the cause. */
export function waitingForStart(state: State | undefined, target: SyncTarget, message: string): CycleResult {
  return { ...lastApplied(state, target), phase: 'Pending', reason: 'GatewayNotReady', message }
}

/** The report of a dry run: what would be done. */
export function dryRunResult(
  target: SyncTarget,
  manifest: Manifest,
  { plan, diff, findings: found }: Pick<Prepared, 'plan' | 'diff' | 'findings'>,
  changes: readonly FileDiff[],
): CycleResult {
  const findings = remainingFindings(manifest.state?.findings ?? [], diff, found)
  const { added, changed, removed } = plan.counts
  const [problem] = plan.problems
  const message =
    problem === undefined ? `${added} to add, ${changed} to change, ${removed} to remove` : `would be refused: ${problem.message}`
  const result: CycleResult = {
    ...lastApplied(manifest.state, target),
    // A dry run reports the configuration that it was run for, though nothing of it is in place.
    syncHash: target.syncHash,
    phase: 'DryRun',
    reason: problem?.reason ?? 'DryRun',
    message,
    dryRun: {
      added,
      changed,
      removed,
      paths: changes
        .slice(0, reportLimits.dryRunPaths)
        .map(({ op, path }) => `${changeMarks[op]} ${path}`.slice(0, reportLimits.dryRunPathCharacters)),
    },
  }
  if (result.dryRun !== undefined && changes.length > 0) result.dryRun.diff = diffText(changes, reportLimits.diffCharacters)
  const files = new Map<string, { mapping: number }>(manifest.files)
  for (const file of [...plan.puts, ...plan.adopts]) files.set(file.path, file)
  for (const path of [...plan.deletes.map((deletion) => deletion.path), ...plan.released]) files.delete(path)
  // A refused plan does not list all of its files.
  const unused = problem === undefined ? patchesWithoutFile(diff.mappings, files) : []
  const all = [...modeFindings(activeMode(target, manifest.state)), ...unused, ...findings]
  if (all.length > 0) result.findings = reportable(all)
  return result
}

/** The delivered projects, by name. */
function projectsOf({ files }: Manifest): string[] {
  const names = new Set<string>()
  for (const file of files.keys()) {
    // Most files are not project manifests; the regular expression takes a while for thousands.
    const name = file.endsWith('/project.json') ? /^projects\/([^/]+)\/project\.json$/.exec(file)?.[1] : undefined
    if (name !== undefined) names.add(name)
  }
  return [...names].toSorted().slice(0, reportLimits.projects)
}

/** Returns the manifest's state once everything that a cycle prepared is in place; `staged` is undefined if no file changes. */
export function nextState(run: Run, staged: StagedRun | undefined, nowMs: number): State {
  const { target, status } = run
  const { state } = run.manifest
  const { diff, plan, findings } = run.prepared
  const first = state === undefined
  // Findings about a resource are out of date once this run has validated the resource again.
  const before = (state?.findings ?? []).filter(({ path }) => staged?.classified.has(parentOf(path)) !== true)
  return {
    commit: target.commit,
    ref: target.ref,
    syncHash: target.syncHash,
    treeKey: diff.treeKey,
    mappings: diff.mappings.map(({ key }) => key),
    chain: diff.chain,
    ...lastMode(target, state),
    absent: diff.absent,
    publish: staged?.id ?? state?.publish ?? '',
    bootId: currentBootId(),
    scanPending: pendingScans(state, plan.scan, status),
    scanned: state?.scanned ?? {},
    commissioning: status === 'commissioning' || (state?.commissioning ?? false),
    publishedAt: staged === undefined && !first ? state.publishedAt : nowMs,
    findings: remainingFindings(before, diff, [...findings, ...(staged?.findings ?? [])]),
    problems: state?.problems ?? [],
    ...nextHealth(run, staged, nowMs),
  }
}

/** Problems are compared with those before this commit and configuration, however often their files are repaired. */
function nextHealth({ target, manifest: { state }, problems }: Run, staged: StagedRun | undefined, nowMs: number): Pick<State, 'health'> {
  const isSame = state !== undefined && state.commit === target.commit && state.syncHash === target.syncHash
  const old = state?.health
  if (isSame) return old === undefined ? {} : { health: old }
  // The problems of a stopped commit are not a baseline: the next commit would be allowed to keep them.
  const isStopped = target.rolledOutBefore !== undefined && state?.commit !== target.rolledOutBefore
  const harmed = isStopped && old?.before !== undefined && old.newProblems.length > 0 ? old : undefined
  if (staged === undefined) return harmed === undefined ? {} : { health: { ...harmed, since: nowMs } }
  const before = harmed?.before ?? problems
  return { health: { since: nowMs, ...(before === undefined ? {} : { before }), newProblems: [] } }
}

/** The mode, if it is known. Without collections it is not read, and the last known one stays. */
function lastMode(target: SyncTarget, state: State | undefined): Pick<State, 'mode'> {
  const active = activeMode(target, state)
  if (active === undefined || active.from === 'None') return state?.mode === undefined ? {} : { mode: state.mode }
  return { mode: { name: active.name, from: active.from } }
}

/** After commissioning, a gateway must read again the files that it got during it. */
function pendingScans(state: State | undefined, touched: readonly ScanKind[], status: GatewayStatus | undefined): ScanKind[] {
  const again = status === 'commissioning' || (state?.commissioning ?? false)
  return (['projects', 'config'] as const).filter((kind) => again || touched.includes(kind) || (state?.scanPending.includes(kind) ?? false))
}
