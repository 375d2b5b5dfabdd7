/**
 * What somebody who asks for it reads of the changes on gateways: which annotations ask, and what the agents have told in their reports. Pure.
 */
import { changesAnnotations } from '../gatewaysync/names.ts'
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

/** Nobody asks any more, unless somebody else does by now: agents take what they have told out of their reports. */
export function forgetChanges(annotations: Annotations, id: string): Change {
  if (annotations[changesAnnotations.at] !== id) return {}
  return { metadata: { annotations: { [changesAnnotations.at]: null, [changesAnnotations.gateway]: null } } }
}

/** One row for each gateway that was asked, with its answer to any of these requests. */
export function toldChanges(
  facts: FleetFacts,
  { ids, gateway: asked }: { ids: ReadonlySet<string>; gateway: string | undefined },
  now: Temporal.Instant,
): GatewayChanges[] {
  return fleetView(facts, now)
    .syncs.flatMap(({ namespace, name, gateways }) =>
      gateways.map(({ pod, gateway, state }): GatewayChanges => {
        const isOwn = (report: FleetFacts['reports'][number]): boolean =>
          report.namespace === namespace && report.pod === pod && report.gatewaySync === name
        const changes = facts.reports.find(isOwn)?.told?.changes
        const isAnswer = changes !== undefined && ids.has(changes.request)
        const base = { namespace, gatewaySync: name, pod, gateway, hasAgent: state !== 'missingAgent' }
        return { ...base, changes: isAnswer ? changes : undefined }
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
