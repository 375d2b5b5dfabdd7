/**
 * One GatewaySync as a person reads of it: whether it is ready and why not, what is wanted and what is published, its gateways, and what to do
 * next. Pure.
 */
import * as v from 'valibot'
import { meaningOf, needsSomebody } from '../gatewaysync/decide/conditions.ts'
import { countGateways, type Gateway, type GatewayPod, observeGateways, withWaiting } from '../gatewaysync/decide/gateways.ts'
import { type GatewaySyncSpec, gatewaySyncSpec } from '../gatewaysync/schema/spec.ts'
import type { Condition, GatewayCounts, GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { shortHashes } from '../gatewaysync/values.ts'
import type { FleetFacts, ReportFacts, SyncFacts } from './facts.ts'
import { gatewayView } from './gateway-view.ts'
import { askedEveryMs } from './last-asked.ts'
import type { Level } from './level.ts'
import { nextSteps, stepsOfGateway } from './next-steps.ts'
import { rolloutView } from './rollout-view.ts'
import { stepText } from './step-text.ts'
import type { GatewayView, SyncView } from './view.ts'

const schema = gatewaySyncSpec({ allowLocal: true })

/** `pods` and `reports` are those that follow it. */
export function syncView(
  facts: SyncFacts,
  pods: readonly GatewayPod[],
  reports: readonly ReportFacts[],
  from: FleetFacts['from'],
): SyncView {
  const { status, generation } = facts
  const parsed = v.safeParse(schema, facts.spec)
  const spec = parsed.success ? parsed.output : undefined
  const byPod = new Map(reports.map((report) => [report.pod, report]))
  const gateways = gatewaysOf(spec, status, pods, byPod)
  const rows = gateways.map((gateway): GatewayView => {
    const row = gatewayView(gateway, byPod.get(gateway.pod))
    return { ...row, steps: stepsOfGateway(row, status.published?.commit, from) }
  })
  const counts = status.gateways ?? (gateways.length > 0 ? countGateways(gateways) : undefined)
  const ready = readyOf(status, generation)
  const { source, published } = status
  const view: Omit<SyncView, 'next' | 'steps'> = {
    namespace: facts.namespace,
    name: facts.name,
    level: levelOf(ready, counts),
    ready: ready.status,
    reason: ready.reason,
    message: shortHashes(ready.message),
    meaning: meaningOf(ready.reason),
    repo: spec?.git.repo ?? published?.repo,
    wanted: {
      ref: source?.ref ?? spec?.git.ref,
      requestedBy: source?.requested === undefined ? undefined : (source.requested.by ?? 'somebody'),
      commit: source?.commit,
      committedAt: source?.committedAt,
      checkedAt: source?.checkedAt,
      askedEveryMs: askedEveryMs(facts, spec),
      held: source?.held,
    },
    published: published === undefined ? undefined : { commit: published.commit, ref: published.ref, at: published.at },
    rollout: rolloutView(status.rollout),
    counts,
    inStep: counts === undefined ? 0 : inStepOf(rows, counts, published?.commit),
    gateways: rows,
    findings: status.findings,
    requests: (status.requests ?? []).toReversed().map((request) => ({
      ...request,
      level: request.outcome === 'Handled' ? 'ok' : request.outcome === 'Refused' ? 'error' : 'warning',
      meaning: request.reason === undefined ? undefined : meaningOf(request.reason),
    })),
  }
  const steps = nextSteps(view, from)
  return { ...view, next: steps.map((step) => stepText(view, step)), steps }
}

/** Where no report can be read, as many as the controller counted; it counts one that is paused or failed as that, whatever it runs. */
function inStepOf(rows: readonly GatewayView[], { total, synced, drifted }: GatewayCounts, published: string | undefined): number {
  const known = rows.filter(({ commit }) => commit !== undefined)
  return known.length === 0 ? synced + drifted : Math.min(total, known.filter(({ commit }) => commit === published).length)
}

type Ready = Pick<Condition, 'status' | 'reason' | 'message'>

/** A condition of an earlier generation speaks of a spec that nobody asks for any more. */
function readyOf({ conditions }: GatewaySyncStatus, generation: number): Ready {
  const ready = conditions?.find(({ type }) => type === 'Ready')
  if (ready === undefined) return { status: 'Unknown', reason: 'Pending', message: 'the controller has not looked at this GatewaySync yet' }
  if (ready.observedGeneration !== undefined && ready.observedGeneration < generation)
    return { status: 'Unknown', reason: 'Pending', message: 'the controller has not looked at the present spec yet' }
  return ready
}

const chosen: ReadonlySet<string> = new Set(['Paused', 'DryRun'])

function levelOf(ready: Ready, counts: GatewayCounts | undefined): Level {
  if (needsSomebody(ready)) return 'error'
  if (chosen.has(ready.reason)) return 'warning'
  if (ready.status !== 'True') return 'working'
  return (counts?.drifted ?? 0) > 0 ? 'warning' : 'ok'
}

/** Judged by the controller's own rule, or by the reports alone where the spec is not known or not accepted. */
function gatewaysOf(
  spec: GatewaySyncSpec | undefined,
  status: GatewaySyncStatus,
  pods: readonly GatewayPod[],
  reports: ReadonlyMap<string, ReportFacts>,
): Gateway[] {
  if (spec !== undefined) return withWaiting(observeGateways(spec, status.published?.commit, pods, reports), status.rollout)
  return pods.map(({ name }) => {
    const report = reports.get(name)?.status
    return {
      pod: name,
      state: report?.phase === 'Synced' && report.commit === status.published?.commit ? 'synced' : 'pending',
      reason: report?.reason ?? (report === undefined ? 'NoReport' : undefined),
      message: report?.message,
      commit: report?.commit,
      mode: report?.mode?.name,
    }
  })
}
