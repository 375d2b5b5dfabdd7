/**
 * What a cycle reports: the part of the SyncReport that the engine knows. Pure.
 */
import { timestamp } from '../clock.ts'
import { asFault, type Fault, type Reason } from '../fault.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import { modeFindings } from './model/findings.ts'
import { activeMode, type ActiveMode, type Wanted } from './model/wanted.ts'
import { Refused, reportable, remainingFindings } from './model/findings.ts'
import type { Manifest, State } from './model/manifest.ts'
import { patchesWithoutFile, type ResolvedMapping } from './desired/mappings.ts'
import type { Counts } from './plan/plan.ts'
import { diffText, type FileDiff } from './plan/preview.ts'
import type { Drift, Prepared } from './plan/make-plan.ts'

/** What a cycle contributes to the SyncReport; its caller adds who reports, and when. */
export type CycleResult = Omit<SyncReportStatus, 'startedAt' | 'finishedAt' | 'agentVersion' | 'history' | 'gateway' | 'profile'>

/** Reasons with the phase Blocked: somebody has to change something first; the gateway keeps what it has. */
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

const reportedFindings = 20
const reportedProjects = 100
const reportedPaths = 100
const messageCharacters = 1024
/** Bounds of the SyncReport's schema. */
const diffCharacters = 16_384
const pathCharacters = 4_200

/** The part of a report that says what is in place, whatever the cycle came to. `state` is the manifest's. */
export function lastApplied(state: State | undefined, wanted: Wanted): Omit<CycleResult, 'phase'> {
  const mode = activeMode(wanted, state)
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

/** The report of a cycle that failed: what is in place, and the fault that kept it from changing. */
export function failed(error: unknown, state: State | undefined, wanted: Wanted): CycleResult {
  const fault = asFault(error)
  // Waiting for other gateways' turns is not a failure of this one.
  const waits = fault.reason === 'TooManyRequests' || (fault.reason === 'DesignerOpen' && wanted.profile.designerSessionPolicy === 'wait')
  const told = tellFault(fault)
  const result: CycleResult = { ...lastApplied(state, wanted), ...told, phase: waits ? 'Pending' : told.phase }
  if (fault instanceof Refused && fault.findings.length > 0) result.findings = reportable(fault.findings)
  return result
}

/** What a report says of a fault that does not end by itself. */
export function tellFault({ reason, message }: Fault): Pick<CycleResult, 'phase' | 'reason' | 'message'> {
  return { phase: blocking.has(reason) ? 'Blocked' : 'Failed', reason, message: message.slice(0, messageCharacters) }
}

/** What a report needs besides the manifest. `drift` undefined: not looked for. */
export type Summary = {
  manifest: Manifest
  counts: Counts
  drift: Drift | undefined
  mappings: readonly ResolvedMapping[]
}

/** The report of a cycle at whose end the files are in place; `waiting` says what the gateway has not done yet. */
export function filesInPlace(
  wanted: Wanted,
  { manifest, counts, drift, mappings }: Summary,
  waiting: { reason: Reason; message: string } | undefined,
): CycleResult {
  const result: CycleResult = { ...lastApplied(manifest.state, wanted), phase: 'Synced', files: counts, projects: projectsOf(manifest) }
  if (drift !== undefined) result.drift = { count: drift.count, paths: [...drift.paths] }
  const { findings = [], problems = [] } = manifest.state ?? {}
  const mode = activeMode(wanted, manifest.state)
  const all = [...modeFindings(mode), ...patchesWithoutFile(mappings, manifest.files), ...findings]
  if (all.length > 0) result.findings = all.slice(0, reportedFindings)
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
    message: describeDrift(drift),
  }
}

function healthOf({ health }: Partial<State> = {}): CycleResult['health'] {
  if (health === undefined) return undefined
  const since = timestamp(Temporal.Instant.fromEpochMilliseconds(health.since))
  return { since, ...(health.newProblems.length > 0 ? { newProblems: health.newProblems } : {}) }
}

function describeDrift({ count, paths }: Drift): string {
  const named = paths.slice(0, 3)
  const more = count > named.length ? ` and ${count - named.length} more` : ''
  return `${count} of our files were changed or deleted locally: ${named.join(', ')}${more}`
}

/** The delivered files stay, but the phase is not Synced, because the gateway may by now run in another mode. */
function unknownMode({ name }: ActiveMode): { reason: Reason; message: string } {
  return {
    reason: 'ModeUnknown',
    message: `nobody can tell the deployment mode now, so the files of mode "${name}", the last one known, stay; name the mode or let the gateway answer`,
  }
}

/** The report when an open Designer forbids writing: Pending under the policy `wait`, otherwise Blocked, so that somebody acts. */
export function blockedByDesigner(state: State | undefined, wanted: Wanted, designers: readonly string[]): CycleResult {
  const phase = wanted.profile.designerSessionPolicy === 'wait' ? 'Pending' : 'Blocked'
  const message = `open Designer sessions: ${designers.join(', ')}`.slice(0, messageCharacters)
  return { ...lastApplied(state, wanted), phase, reason: 'DesignerOpen', message, designers: [...designers] }
}

/** The report of a cycle that waits for the gateway; `message` says for what. */
export function waitingForStart(state: State | undefined, wanted: Wanted, message: string): CycleResult {
  return { ...lastApplied(state, wanted), phase: 'Pending', reason: 'GatewayNotReady', message }
}

/** The report of a dry run: what would be done. */
export function dryRunResult(
  wanted: Wanted,
  manifest: Manifest,
  { plan, diff, findings: found }: Pick<Prepared, 'plan' | 'diff' | 'findings'>,
  changes: readonly FileDiff[],
): CycleResult {
  const findings = remainingFindings(manifest.state?.findings ?? [], diff, found)
  const { added, changed, removed } = plan.counts
  const marks = { add: '+', change: '~', remove: '-' }
  const [problem] = plan.problems
  const message =
    problem === undefined ? `${added} to add, ${changed} to change, ${removed} to remove` : `would be refused: ${problem.message}`
  const result: CycleResult = {
    ...lastApplied(manifest.state, wanted),
    // A dry run answers for the configuration it was asked about, though nothing of it is in place.
    syncHash: wanted.syncHash,
    phase: 'DryRun',
    reason: problem?.reason ?? 'DryRun',
    message: message.slice(0, messageCharacters),
    dryRun: {
      added,
      changed,
      removed,
      paths: changes.slice(0, reportedPaths).map(({ op, path }) => `${marks[op]} ${path}`.slice(0, pathCharacters)),
    },
  }
  if (result.dryRun !== undefined && changes.length > 0) result.dryRun.diff = diffText(changes, diffCharacters)
  const files = new Map<string, { mapping: number }>(manifest.files)
  for (const file of [...plan.puts, ...plan.adopts]) files.set(file.path, file)
  for (const path of [...plan.deletes.map((deletion) => deletion.path), ...plan.released]) files.delete(path)
  // A refused plan does not list all of its files.
  const unused = problem === undefined ? patchesWithoutFile(diff.mappings, files) : []
  const all = [...modeFindings(activeMode(wanted, manifest.state)), ...unused, ...findings]
  if (all.length > 0) result.findings = all.slice(0, reportedFindings)
  return result
}

/** The projects that we deliver, by name. */
function projectsOf({ files }: Manifest): string[] {
  const names = new Set<string>()
  for (const file of files.keys()) {
    // Most files are none; the expression takes a while for thousands.
    const name = file.endsWith('/project.json') ? /^projects\/([^/]+)\/project\.json$/.exec(file)?.[1] : undefined
    if (name !== undefined) names.add(name)
  }
  return [...names].toSorted().slice(0, reportedProjects)
}
