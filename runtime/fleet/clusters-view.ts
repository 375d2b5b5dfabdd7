/**
 * Merges the fleets of several clusters into one view. Pure.
 */
import type { Temporal } from '../platform/temporal.ts'
import { fleetViewOf } from './fleet-view.ts'
import type { ClusterFailure, FleetView } from './view.ts'

/** `context`: the name of the cluster in the kubeconfig. */
export type ClusterAnswer = { context: string; view: FleetView } | ClusterFailure

/** In the order of the answers. With a failure nothing is known to be ready. */
export function clustersView(answers: readonly ClusterAnswer[], now: Temporal.Instant): FleetView {
  const read = answers.filter((answer) => 'view' in answer)
  const failures = answers.flatMap((answer) => ('view' in answer ? [] : [answer]))
  const view = fleetViewOf(
    read.flatMap(({ view }) => view.syncs),
    {
      at: now.toString({ smallestUnit: 'second' }),
      notes: read.flatMap(({ context, view }) => view.notes.map((note) => `${context}: ${note}`)),
    },
  )
  if (failures.length === 0) return view
  const failed = `${failures.length} of ${answers.length} clusters cannot be read.`
  return { ...view, level: 'error', ready: false, summary: read.length === 0 ? failed : `${view.summary} ${failed}`, failures }
}
