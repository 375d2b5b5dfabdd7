/**
 * What somebody can do about a GatewaySync that is not in step. Pure.
 */
import { type Reason, reasons } from '../fault.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation, group } from '../gatewaysync/names.ts'
import { shortCommit } from '../gatewaysync/values.ts'
import type { FleetFacts } from './facts.ts'
import { runbookEntry } from './runbook.ts'
import type { GatewayView, SyncView } from './view.ts'

type Stuck = Omit<SyncView, 'next'>

/** One sentence or command each, most useful first; none for what passes by itself or is as it should be. */
export function nextSteps(sync: Stuck, from: FleetFacts['from']): string[] {
  const steps = [
    ...(from === 'cluster' ? stepsOfRollout(sync) : []),
    ...stepsOfSync(sync, from),
    ...sync.gateways.flatMap((gateway) => stepsOfGateway(sync, gateway, from)),
  ]
  const entries = [sync.reason, ...sync.gateways.filter(({ level }) => level === 'error').map(({ reason }) => reason)].flatMap(
    (reason) => runbookEntry(reason) ?? [],
  )
  return [...new Set([...steps, ...entries.map((entry) => `More about it: ${entry}`)])]
}

function stepsOfRollout(sync: Stuck): string[] {
  const { rollout } = sync
  if (rollout?.state === 'Progressing' && rollout.waitsFor === 'Approval')
    return [`Let stage ${rollout.stage ?? ''} begin: cluster-sync approve ${nameOf(sync)}`]
  if (rollout?.state === 'Stopped')
    return [
      `Once the cause is gone, go on: cluster-sync resume ${nameOf(sync)}`,
      `Go back to the commit before: cluster-sync abort ${nameOf(sync)}`,
    ]
  return rollout?.state === 'RolledBack' ? [`Push a corrected commit, or try this one again: cluster-sync resume ${nameOf(sync)}`] : []
}

function stepsOfSync(sync: Stuck, from: FleetFacts['from']): string[] {
  const { reason, level, published } = sync
  const stays = published === undefined ? 'nothing is published until then' : `commit ${shortCommit(published.commit)} stays until then`
  if (reason === 'CollectionsInvalid' || reason === 'CheckFailed')
    return [`Correct what the findings name, look at it with "cluster-sync lint", and push; ${stays}.`]
  if (reason === 'NotVerified') return [`Sign the commit with a key that spec.git.verify accepts, and push; ${stays}.`]
  if (reason === 'Paused')
    return [
      from === 'cluster' ? `Let it go on: cluster-sync resume ${nameOf(sync)}` : 'Let it go on: set spec.paused to false in the file.',
    ]
  if (reason === 'DryRun') return ['Let it write: set spec.sync.defaults.dryRun (or that of the profile) to false.']
  if (level === 'working' && sync.ready === 'Unknown' && from === 'cluster')
    return ['If this stays, see whether the operator runs: cluster-sync check']
  if (level !== 'error' || !Object.hasOwn(reasons, reason)) return []
  return reasons[reason as Reason].retry === 'backoff'
    ? [`It is tried again by itself; ${stays}.`]
    : [`Nothing is tried again before the GatewaySync, its Secret or the commit changes; ${stays}.`]
}

function stepsOfGateway(sync: Stuck, { pod, reason, state }: GatewayView, from: FleetFacts['from']): string[] {
  if (from === 'standalone') return [...(stepsOfTarget[reason ?? ''] ?? [])]
  const { namespace, name, published } = sync
  if (state === 'missingAgent' || reason === 'AgentOutdated' || reason === 'AgentDown')
    return [`Recreate the pod, its owner makes it anew: kubectl -n ${namespace} delete pod ${pod}`]
  if (reason === 'MassDeletion' && published !== undefined) {
    const annotation = `${confirmDeletionsAnnotation}=${published.commit}`
    return [`If these deletions are right: kubectl -n ${namespace} annotate gatewaysyncs.${group} ${name} --overwrite ${annotation}`]
  }
  if (reason === 'LocalChanges' && published !== undefined) {
    const annotation = `${confirmOverwritesAnnotation}=${published.commit}`
    return [`If these changes may be lost: kubectl -n ${namespace} annotate gatewaysyncs.${group} ${name} --overwrite ${annotation}`]
  }
  return []
}

/** What to do about a blocked target of the standalone runner, whose file has no annotations. */
const stepsOfTarget: Readonly<Record<string, readonly string[]>> = {
  MassDeletion: ['If these deletions are right, raise spec.sync.defaults.maxDeletions.'],
  LocalChanges: ['Keep the changes: cluster-sync capture. To give them up, set spec.sync.defaults.drift to report.'],
}

function nameOf({ namespace, name }: Stuck): string {
  return `${name} -n ${namespace}`
}
