/**
 * The state that a cycle ends with: which commit the files add up to, and what the gateway has yet to read. Pure, except for the boot id.
 */
import type { GatewayStatus } from '../gateway/gateway.ts'
import { parentOf } from '../gatewaysync/values.ts'
import type { Run, StagedRun } from './publish/publish.ts'
import { currentBootId } from './disk/clean-marker.ts'
import { activeMode, type Wanted } from './model/wanted.ts'
import { remainingFindings } from './model/findings.ts'
import type { State } from './model/manifest.ts'
import { type ScanKind } from './model/paths.ts'

/** The manifest's state once everything that a cycle prepared is in place; `staged` is undefined when no file changes. */
export function nextState(run: Run, staged: StagedRun | undefined, nowMs: number): State {
  const { wanted, status } = run
  const { state } = run.manifest
  const { diff, plan, findings } = run.prepared
  const first = state === undefined
  // Findings about a resource are out of date when this run has judged the resource again.
  const before = (state?.findings ?? []).filter(({ path }) => staged?.judged.has(parentOf(path)) !== true)
  return {
    commit: wanted.commit,
    ref: wanted.ref,
    syncHash: wanted.syncHash,
    treeKey: diff.treeKey,
    mappings: diff.mappings.map(({ key }) => key),
    chain: diff.chain,
    ...rememberedMode(wanted, state),
    absent: diff.absent,
    publish: staged?.id ?? state?.publish ?? '',
    bootId: currentBootId(),
    scanPending: pendingScans(state, plan.scan, status),
    scanned: state?.scanned ?? {},
    commissioning: status === 'commissioning' || (state?.commissioning ?? false),
    publishedAt: staged === undefined && !first ? state.publishedAt : nowMs,
    findings: remainingFindings(before, diff, [...findings, ...(staged?.findings ?? [])]),
    problems: state?.problems ?? [],
    ...healthOf(run, staged, nowMs),
  }
}

/** What a gateway complains of is compared with what it did before this commit and configuration, however often their files are repaired. */
function healthOf({ wanted, manifest: { state }, problems }: Run, staged: StagedRun | undefined, nowMs: number): Pick<State, 'health'> {
  const isSame = state !== undefined && state.commit === wanted.commit && state.syncHash === wanted.syncHash
  const old = state?.health
  if (isSame) return old === undefined ? {} : { health: old }
  // What a commit broke that was stopped is no measure: the next one would take the fault along to everybody.
  const isStopped = wanted.rolledOutBefore !== undefined && state?.commit !== wanted.rolledOutBefore
  const harmed = isStopped && old?.before !== undefined && old.newProblems.length > 0 ? old : undefined
  if (staged === undefined) return harmed === undefined ? {} : { health: { ...harmed, since: nowMs } }
  const before = harmed?.before ?? problems
  return { health: { since: nowMs, ...(before === undefined ? {} : { before }), newProblems: [] } }
}

/** The mode as far as it is known. Without collections nobody asks for it, and the one that was known stays. */
function rememberedMode(wanted: Wanted, state: State | undefined): Pick<State, 'mode'> {
  const active = activeMode(wanted, state)
  if (active === undefined || active.from === 'none') return state?.mode === undefined ? {} : { mode: state.mode }
  return { mode: { name: active.name, from: active.from } }
}

/** Files that a gateway got while it was being commissioned it must read again afterwards. */
function pendingScans(state: State | undefined, touched: readonly ScanKind[], status: GatewayStatus | undefined): ScanKind[] {
  const again = status === 'commissioning' || (state?.commissioning ?? false)
  return (['projects', 'config'] as const).filter((kind) => again || touched.includes(kind) || (state?.scanPending.includes(kind) ?? false))
}
