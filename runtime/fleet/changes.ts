/**
 * What somebody who asks for it reads of the changes on gateways: which annotations ask, and what the agents have told in their reports. Pure.
 */
import { changesAnnotations } from '../gatewaysync/names.ts'
import { changesRequest, concerns } from '../gatewaysync/decide/capture.ts'
import type { Annotations } from '../gatewaysync/decide/request.ts'
import type { ToldChanges } from '../gatewaysync/schema/report.ts'
import { visible } from '../gatewaysync/values.ts'
import type { Change } from './ask.ts'
import { changedCount, silentLine } from './drift.ts'
import type { FleetFacts } from './facts.ts'
import { fleetView } from './fleet-view.ts'
import { heading, type Style } from './paint.ts'

/** `changes` undefined: its agent has not said; it never will where `hasAgent` is false. */
export type GatewayChanges = {
  namespace: string
  gatewaySync: string
  pod: string
  gateway: string | undefined
  hasAgent: boolean
  changes: ToldChanges | undefined
}

/** Asks one gateway or pod, or all. */
export function askChanges({ id, gateway }: { id: string; gateway: string | undefined }): Change {
  return { metadata: { annotations: { [changesAnnotations.at]: id, [changesAnnotations.gateway]: gateway ?? null } } }
}

/**
 * There is one place for a request, so whoever asks at the same time may have taken it. Asks anew where the request that stands there concerns
 * not all who still have to answer, and then all, so that the other one is answered too; undefined: nothing is to be asked.
 */
export function askAgain(
  rows: readonly GatewayChanges[],
  annotations: Annotations,
  asked: { id: string; gateway: string | undefined },
): Change | undefined {
  const request = changesRequest(annotations)
  const isHeard = ({ pod, gateway = pod }: GatewayChanges): boolean => request !== undefined && concerns(request, { pod, gateway })
  if (rows.filter(isAwaited).every(isHeard)) return undefined
  return askChanges(request === undefined ? asked : { ...asked, gateway: undefined })
}

/** Whether its agent still has to answer. */
export function isAwaited({ hasAgent, changes }: GatewayChanges): boolean {
  return hasAgent && changes === undefined
}

/**
 * Nobody asks any more: agents take what they have told out of their reports. Undefined where the request is none of these, which are the own
 * ones: somebody else asks by now.
 */
export function forgetChanges(annotations: Annotations, ids: ReadonlySet<string>): Change | undefined {
  const request = changesRequest(annotations)
  if (request === undefined || !ids.has(request.id)) return undefined
  return { metadata: { annotations: { [changesAnnotations.at]: null, [changesAnnotations.gateway]: null } } }
}

/**
 * One row for each gateway that was asked, with its answer to any of these requests. `before`: what was read earlier; an answer that is there
 * no more, because somebody else has asked or read it too, still counts.
 */
export function toldChanges(
  facts: FleetFacts,
  { ids, gateway: asked, before = [] }: { ids: ReadonlySet<string>; gateway: string | undefined; before?: readonly GatewayChanges[] },
  now: Temporal.Instant,
): GatewayChanges[] {
  const seen = new Map(before.map((row) => [`${row.namespace}/${row.pod}`, row.changes]))
  return fleetView(facts, now)
    .syncs.flatMap(({ namespace, name, gateways }) =>
      gateways.map(({ pod, gateway, state }): GatewayChanges => {
        const isOwn = (report: FleetFacts['reports'][number]): boolean =>
          report.namespace === namespace && report.pod === pod && report.gatewaySync === name
        const changes = facts.reports.find(isOwn)?.told?.changes
        const isAnswer = changes !== undefined && ids.has(changes.request)
        const base = { namespace, gatewaySync: name, pod, gateway, hasAgent: state !== 'missingAgent' }
        return { ...base, changes: isAnswer ? changes : seen.get(`${namespace}/${pod}`) }
      }),
    )
    .filter(({ pod, gateway }) => asked === undefined || asked === pod || asked === gateway)
}

/** How many files somebody changed. */
export function countOf({ changed, added, removed }: ToldChanges): number {
  return changed + added + removed
}

/** Lines for a person; gateways without changes are counted only. */
export function changesText(gateways: readonly GatewayChanges[], style: Style): string[] {
  const said = gateways.flatMap(({ changes, ...each }) => (changes === undefined ? [] : [{ ...each, changes }]))
  const changed = said.filter(({ changes }) => countOf(changes) > 0)
  return [
    ...changed.flatMap(({ namespace, pod, gateway, changes }) => {
      const name = gateway === undefined || gateway === pod ? '' : ` (${gateway})`
      return [heading(`${namespace}/${pod}${name}`, style), ...changes.text.split('\n').map((line) => `  ${visible(line)}`)]
    }),
    ...gateways.filter(({ changes }) => changes === undefined).flatMap((each) => silentLine(each, style)),
    changedCount({ all: gateways.length, changed: changed.length, unchanged: said.length - changed.length }),
  ]
}
