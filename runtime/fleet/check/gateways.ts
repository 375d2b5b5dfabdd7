/**
 * Checks whether each GatewaySync reaches its git host, each gateway has a working agent of this release, and all images can be pulled. Pure.
 */
import { meaningOf } from '../../api/schema/conditions.ts'
import type { Temporal } from '../../platform/temporal.ts'
import type { FleetFacts } from '../facts.ts'
import { fleetView } from '../fleet-view.ts'
import type { GatewayView } from '../view.ts'
import type { CheckFacts, WaitingImage } from './facts.ts'
import type { Finding } from './report.ts'
import { shortHashes } from '../../api/values.ts'
import { runbookEntry, inContext } from '../steps.ts'
import { docsPage, compareVersions } from '../../platform/version.ts'

/** Maximum number of objects of a kind to name; a fleet may have thousands. */
const named = 10

/** Checks the last answer of the git host of each GatewaySync. */
export function checkGit({ syncs }: FleetFacts): Finding[] {
  const section = 'git'
  if (syncs.length === 0)
    return [
      { section, level: 'warning', text: 'there is no GatewaySync yet', advice: `Create one: ${docsPage('docs/how-to/gateways.md')}` },
    ]
  const findings = syncs.flatMap(({ namespace, name, status, generation }): Finding[] => {
    const where = `${namespace}/${name}`
    const source = status.conditions?.find(({ type }) => type === 'SourceReady')
    const isStale = source?.observedGeneration !== undefined && source.observedGeneration < generation
    if (source === undefined || isStale || source.status === 'Unknown') {
      const advice = 'If this persists, check whether the controller is running and watches this namespace.'
      return [{ section, level: 'warning', text: `${where}: the git host was not contacted yet`, advice }]
    }
    if (source.status === 'True') return []
    const meaning = meaningOf(source.reason)
    const entry = runbookEntry(source.reason)
    const more = entry === undefined ? '' : ` More: ${entry}`
    const advice = meaning === undefined ? undefined : `${source.reason}: ${meaning}.${more}`
    return [{ section, level: 'error', text: `${where}: ${shortHashes(source.message)}`, ...(advice === undefined ? {} : { advice }) }]
  })
  const good = syncs.length - findings.length
  return [
    ...(good > 0 ? [{ section, level: 'ok', text: `${good} of ${syncs.length} GatewaySyncs have fetched their commit` } as const] : []),
    ...limited(findings),
  ]
}

/** Checks the gateways for agents that are missing, do not report or have another version, and for failed syncs. */
export function checkGateways(fleet: FleetFacts, { installations, context }: CheckFacts, now: Temporal.Instant): Finding[] {
  const section = 'gateways'
  const recreate = (namespace: string, pod: string): string => `kubectl${inContext(context)} -n ${namespace} delete pod ${pod}`
  const gateways = fleetView(fleet, now).syncs.flatMap(({ namespace, gateways }) => gateways.map((gateway) => ({ namespace, gateway })))
  const unseen = fleet.notes.map((note): Finding => ({ section, level: 'warning', text: note }))
  const without = gateways.filter(({ gateway }) => gateway.state === 'missingAgent')
  const down = gateways.filter(({ gateway }) => gateway.reason === 'AgentDown' || gateway.reason === 'MalformedReport')
  const broken = [...without, ...down].map(({ namespace, gateway }): Finding => {
    const text = `pod ${namespace}/${gateway.pod}: ${gateway.message ?? gateway.reason ?? 'it has no agent'}`
    return { section, level: 'error', text, advice: `Recreate the pod: ${recreate(namespace, gateway.pod)}` }
  })
  const version = installations.kind === 'seen' ? installations.value.find(({ version }) => version !== undefined)?.version : undefined
  const skewed = gateways.flatMap(({ namespace, gateway }) =>
    skewFinding(`${namespace}/${gateway.pod}`, gateway, recreate(namespace, gateway.pod), version),
  )
  const good = gateways.length - broken.length
  const text = gateways.length === 0 ? 'no pod requests an agent yet' : `${good} of ${gateways.length} gateways have a running agent`
  return [
    ...(good > 0 || gateways.length === 0 ? [{ section, level: 'ok', text } as const] : []),
    ...limited(broken),
    ...limited(skewed),
    ...unseen,
  ]
}

function skewFinding(
  pod: string,
  { reason, message, agentVersion }: GatewayView,
  recreate: string,
  version: string | undefined,
): Finding[] {
  const section = 'gateways'
  const advice = `Recreate the pod to upgrade its agent: ${recreate}`
  if (reason === 'AgentOutdated') return [{ section, level: 'error', text: `pod ${pod}: ${message ?? 'its agent is too old'}`, advice }]
  if (version === undefined || agentVersion === undefined) return []
  const distance = compareVersions(agentVersion, version)
  if (distance === 'same') return []
  const text = `pod ${pod}: its agent has version ${agentVersion}, the controller ${version}`
  const more = distance === 'apart' ? `${advice} (only adjacent versions are tested together)` : advice
  return [{ section, level: 'warning', text, advice: more }]
}

/** Checks by the waiting pods whether the agent images can be pulled. */
export function checkImages({ pods, waiting }: { pods: number; waiting: readonly WaitingImage[] }): Finding[] {
  const section = 'images'
  if (waiting.length === 0) return [{ section, level: 'ok', text: `0 of ${pods} pods are waiting for an image` }]
  return limited(
    waiting.map(({ namespace, pod, image, reason, message }) => ({
      section,
      level: 'error',
      text: `pod ${namespace}/${pod} cannot pull ${image}: ${message ?? reason} (${reason})`,
      advice: 'Check that the registry has this image and that the node may pull it (imagePullSecrets).',
    })),
  )
}

function limited(findings: readonly Finding[]): Finding[] {
  const [first] = findings
  if (first === undefined || findings.length <= named) return [...findings]
  const more: Finding = { section: first.section, level: first.level, text: `and ${findings.length - named} more of this kind` }
  return [...findings.slice(0, named), more]
}
