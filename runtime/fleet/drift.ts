/**
 * The local changes on gateways: requests a list of them by annotations, and reads them from the reports of the agents. Pure.
 */
import { counted } from '../platform/text/counted.ts'
import { shortCommit, visible } from '../api/values.ts'
import type { Temporal } from '../platform/temporal.ts'
import type { FleetFacts } from './facts.ts'
import { fleetView } from './fleet-view.ts'
import { folded, heading, type Style } from './terminal.ts'
import { changesAnnotations } from '../api/names.ts'
import { changesRequest, concerns } from '../reconcile/decide/capture.ts'
import type { Annotations } from '../reconcile/decide/request.ts'
import type { ReportedChanges } from '../api/schema/report.ts'
import type { Change } from './request-patch.ts'

/** `count` undefined: the agent has not reported. `paths` holds the first of the files. */
export type GatewayDrift = {
  namespace: string
  gatewaySync: string
  pod: string
  gateway: string | undefined
  /** The commit that the files are compared with. */
  commit: string | undefined
  count: number | undefined
  paths: readonly string[]
  /** When the agent finished its last sync. */
  finishedAt: string | undefined
}

/** One row for each gateway that follows a GatewaySync of the facts. */
export function fleetDrift(facts: FleetFacts, now: Temporal.Instant): GatewayDrift[] {
  return fleetView(facts, now).syncs.flatMap(({ namespace, name, gateways }) =>
    gateways.map(({ pod, gateway, commit, finishedAt }) => {
      const report = facts.reports.find((report) => report.namespace === namespace && report.pod === pod && report.gatewaySync === name)
      const drift = report?.details?.drift
      // An agent that has applied a commit and reports no drift has found none.
      const count = drift?.count ?? (report?.status?.commit === undefined ? undefined : 0)
      return { namespace, gatewaySync: name, pod, gateway, commit, count, paths: drift?.paths ?? [], finishedAt }
    }),
  )
}

/** Formats the drift as lines of text; gateways without changes are only counted. */
export function driftText(gateways: readonly GatewayDrift[], style: Style): string[] {
  const changed = gateways.filter(({ count }) => (count ?? 0) > 0)
  const silent = gateways.filter(({ count }) => count === undefined)
  const unchanged = gateways.length - changed.length - silent.length
  return [
    ...changed.flatMap((each) => gatewayLines(each, style)),
    ...silent.flatMap((each) => silentLine(each, style)),
    changedCount({ all: gateways.length, changed: changed.length, unchanged }),
  ]
}

/** The line of a gateway whose agent has not reported. */
function silentLine({ namespace, pod }: { namespace: string; pod: string }, style: Style): string[] {
  return folded(`${namespace}/${pod}: unknown, its agent has not reported`, style.width, '')
}

/** Summarizes the result in one line. */
function changedCount({ all, changed, unchanged }: { all: number; changed: number; unchanged: number }): string {
  const silent = all - changed - unchanged
  const others = [...(unchanged === 0 ? [] : [`${unchanged} without`]), ...(silent === 0 ? [] : [`${silent} unknown`])]
  return [`${changed} of ${counted(all, 'gateway')} with local changes`, ...others].join(', ')
}

function gatewayLines({ namespace, pod, gateway, commit, count = 0, paths }: GatewayDrift, style: Style): string[] {
  const name = gateway === undefined || gateway === pod ? '' : ` (${gateway})`
  const since = commit === undefined ? '' : ` since commit ${shortCommit(commit)}`
  const rest = count - paths.length
  return [
    heading(`${namespace}/${pod}${name}: ${counted(count, 'file')} changed or deleted${since}`, style),
    ...paths.flatMap((path) => folded(path, style.width, '  ')),
    ...(rest > 0 ? [`  … ${rest} more`] : []),
  ]
}

/** `changes` undefined: the agent has not answered; it never will if `hasAgent` is false. */
export type GatewayChanges = {
  namespace: string
  gatewaySync: string
  pod: string
  gateway: string | undefined
  hasAgent: boolean
  changes: ReportedChanges | undefined
}

/** Requests the changes of one gateway or pod, or of all. */
export function changesRequestPatch({ id, gateway }: { id: string; gateway: string | undefined }): Change {
  return { metadata: { annotations: { [changesAnnotations.at]: id, [changesAnnotations.gateway]: gateway ?? null } } }
}

/**
 * Only one request fits into the annotations, so a concurrent request may have replaced this one. Repeats the request if the current one does not
 * cover every gateway that has yet to answer; it then covers all gateways, so that the other request is answered too. Returns undefined if no request
 * is needed.
 */
export function repeatedChangesPatch(
  rows: readonly GatewayChanges[],
  annotations: Annotations,
  repeated: { id: string; gateway: string | undefined },
): Change | undefined {
  const request = changesRequest(annotations)
  const isCovered = ({ pod, gateway = pod }: GatewayChanges): boolean => request !== undefined && concerns(request, { pod, gateway })
  if (rows.filter(isAwaited).every(isCovered)) return undefined
  return changesRequestPatch(request === undefined ? repeated : { ...repeated, gateway: undefined })
}

/** Returns whether the agent has yet to answer. */
export function isAwaited({ hasAgent, changes }: GatewayChanges): boolean {
  return hasAgent && changes === undefined
}

/**
 * Removes the request, upon which agents drop the answer from their reports. Returns undefined if the current request is not one of `ids`, because
 * another client has replaced it.
 */
export function forgetChanges(annotations: Annotations, ids: ReadonlySet<string>): Change | undefined {
  const request = changesRequest(annotations)
  if (request === undefined || !ids.has(request.id)) return undefined
  return { metadata: { annotations: { [changesAnnotations.at]: null, [changesAnnotations.gateway]: null } } }
}

/**
 * Returns one row for each requested gateway, with its answer to any of these requests. `before`: rows read earlier. An earlier answer still counts
 * if a later request has removed it from the report.
 */
export function answeredChanges(
  facts: FleetFacts,
  { ids, gateway: selected, before = [] }: { ids: ReadonlySet<string>; gateway: string | undefined; before?: readonly GatewayChanges[] },
  now: Temporal.Instant,
): GatewayChanges[] {
  const seen = new Map(before.map((row) => [`${row.namespace}/${row.pod}`, row.changes]))
  return fleetView(facts, now)
    .syncs.flatMap(({ namespace, name, gateways }) =>
      gateways.map(({ pod, gateway, state }): GatewayChanges => {
        const isOwn = (report: FleetFacts['reports'][number]): boolean =>
          report.namespace === namespace && report.pod === pod && report.gatewaySync === name
        const changes = facts.reports.find(isOwn)?.details?.changes
        const isAnswer = changes !== undefined && ids.has(changes.request)
        const base = { namespace, gatewaySync: name, pod, gateway, hasAgent: state !== 'missingAgent' }
        return { ...base, changes: isAnswer ? changes : seen.get(`${namespace}/${pod}`) }
      }),
    )
    .filter(({ pod, gateway }) => selected === undefined || selected === pod || selected === gateway)
}

/** The number of changed files. */
export function countOf({ changed, added, removed }: ReportedChanges): number {
  return changed + added + removed
}

/** Formats the changes as lines of text; gateways without changes are only counted. */
export function changesText(gateways: readonly GatewayChanges[], style: Style): string[] {
  const listed = gateways.flatMap(({ changes, ...each }) => (changes === undefined ? [] : [{ ...each, changes }]))
  const changed = listed.filter(({ changes }) => countOf(changes) > 0)
  return [
    ...changed.flatMap(({ namespace, pod, gateway, changes }) => {
      const name = gateway === undefined || gateway === pod ? '' : ` (${gateway})`
      return [heading(`${namespace}/${pod}${name}`, style), ...changes.text.split('\n').map((line) => `  ${visible(line)}`)]
    }),
    ...gateways.filter(({ changes }) => changes === undefined).flatMap((each) => silentLine(each, style)),
    changedCount({ all: gateways.length, changed: changed.length, unchanged: listed.length - changed.length }),
  ]
}
