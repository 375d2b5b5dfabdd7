/**
 * Pods with an injected agent, for tests of the injection.
 */
import { jsonpatch } from 'json-p3'
import type { Container, Pod } from '../../runtime/injection/pod.ts'
import { type FoundSync, type Injection, injectAgent, type InjectionSettings } from '../../runtime/injection/inject.ts'
import { agentSettings, type PodShape } from './pods.ts'

/** Settings of an installation that injects agents. */
export const settings: InjectionSettings = {
  agent: agentSettings({
    image: 'registry.example:5000/clustersync/agent:1.2.3',
    imagePullPolicy: 'IfNotPresent',
    imagePullSecrets: [{ name: 'pull' }],
    resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
    allowImageOverride: false,
    clusterRole: 'cso-agent',
    autoBind: true,
  }),
  delivery: { url: 'https://cso-delivery.operator.svc:9445' },
}

export const spec = {
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
}
export const plant: FoundSync & { kind: 'found' } = { kind: 'found', name: 'plant', spec }

type Result = { pod: Pod & PodShape; agent: Record<string, unknown> & Container; warnings: string[] }

/** Injects an agent. Throws an Error if the pod is left unchanged. */
export function inject(pod: Pod & PodShape, sync: FoundSync = plant, changed: Partial<InjectionSettings> = {}): Result {
  const injection = injectAgent(pod, { ...settings, ...changed }, sync)
  if (injection.kind !== 'patch') throw new Error(injection.why)
  const patched = apply(pod, injection)
  const agent = [...(patched.spec.initContainers ?? [])].find(({ name }) => name === 'cluster-sync-agent')
  if (agent === undefined) throw new Error('no agent')
  return { pod: patched, agent, warnings: injection.warnings }
}

function apply(pod: Pod & PodShape, injection: Injection & { kind: 'patch' }): Pod & PodShape {
  const operations = structuredClone(injection.operations) as Parameters<typeof jsonpatch.apply>[0]
  return jsonpatch.apply(operations, structuredClone(pod) as never) as never
}

/** The environment of a container, by name. */
export function env(agent: Container): Record<string, unknown> {
  return Object.fromEntries((agent.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom]))
}

/** The gateway container of a pod, to be changed before injection. */
export function gateway(pod: PodShape): Record<string, unknown> {
  return pod.spec.containers.find(({ name }) => name === 'gateway') ?? {}
}
