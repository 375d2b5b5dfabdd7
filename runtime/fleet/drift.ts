/**
 * Lists the files that were changed on gateways, from the last reports of their agents. Pure.
 */
import { counted } from '../platform/text/counted.ts'
import { shortCommit } from '../api/values.ts'
import type { Temporal } from '../platform/temporal.ts'
import type { FleetFacts } from './facts.ts'
import { fleetView } from './fleet-view.ts'
import { heading, type Style } from './paint.ts'
import { folded } from './table.ts'

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
export function silentLine({ namespace, pod }: { namespace: string; pod: string }, style: Style): string[] {
  return folded(`${namespace}/${pod}: unknown, its agent has not reported`, style.width, '')
}

/** Summarizes the result in one line. */
export function changedCount({ all, changed, unchanged }: { all: number; changed: number; unchanged: number }): string {
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
