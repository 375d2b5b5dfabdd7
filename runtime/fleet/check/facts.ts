/**
 * The facts that are collected about an installation before they are checked. A missing permission is a fact too, and no reason to report a failure.
 */
import type { FleetFacts } from '../facts.ts'
import type { Finding, SectionId } from './report.ts'

/** `refused`: the permission to read is missing; `failed`: the request failed for another reason. */
export type Probed<Value> = { kind: 'seen'; value: Value } | { kind: 'refused'; message: string } | { kind: 'failed'; message: string }

/** A CustomResourceDefinition: its schema by version, and whether the API server serves it. */
export type InstalledCrd = { name: string; established: boolean; served: ReadonlyMap<string, unknown> }

/** The controller settings in the manifests, as far as they are checked. */
export type OperatorSettings = {
  namespace: string
  fullname: string
  leaderElection: boolean
  watchNamespaces: readonly string[]
  podLabels: Readonly<Record<string, string>>
  /** The controller writes the CA bundle of the webhook. */
  keepsBundle: boolean
  /** The controller issues the certificate. */
  selfManaged: boolean
  webhookConfiguration: string | undefined
  agentRole: string
  bindsAgents: boolean
  isReceiverOpen: boolean
}

/** The lease of the leader election; `renewedAt` is RFC 3339, as the holder wrote it. */
export type Lease = { holder: string | undefined; renewedAt: string | undefined; durationSeconds: number }

/** `resource` has its subresource after a slash; `name` undefined: every name. */
export type Permission = { verb: string; group: string; resource: string; name: string | undefined }

/** The answer of the API server about one permission of an account (SubjectAccessReview); `namespace` undefined: all namespaces. */
export type PermissionAnswer = { account: string; right: Permission; namespace: string | undefined; allowed: boolean }

/** PEM texts of the Secret. */
export type CertificateSecret = { name: string; leaf: string | undefined; authority: string | undefined }

/** The result of creating a pod with `dryRun`: whether the webhook injects an agent. The pod is not stored. */
export type Admission =
  | { kind: 'injected'; namespace: string }
  | { kind: 'untouched'; namespace: string }
  | { kind: 'failed'; namespace: string; message: string }
  | { kind: 'refused'; message: string }
  /** No namespace has a GatewaySync to test with, or the webhook is missing. */
  | { kind: 'notTested'; why: string }

/** Whether the delivery endpoint answers, over a direct connection or through the API server (`service`). */
export type Delivery =
  | { kind: 'answers'; url: string; by: 'connection' | 'service' }
  | { kind: 'silent'; url: string; message: string }
  | { kind: 'refused'; message: string }
  | { kind: 'notTested'; why: string }

/** One Deployment or StatefulSet of a controller, with its related objects. */
export type InstallationFacts = {
  name: string
  namespace: string
  version: string | undefined
  replicas: number
  readyReplicas: number
  /** Undefined if the settings cannot be read. */
  settings: OperatorSettings | undefined
  lease: Probed<Lease | undefined> | undefined
  permissions: Probed<readonly PermissionAnswer[]>
  certificate: Probed<CertificateSecret | undefined>
  /** CA bundles of its webhooks, PEM; undefined if the webhook configuration is missing. */
  bundles: Probed<readonly string[] | undefined> | undefined
  admission: Admission
  delivery: readonly Delivery[]
}

/** A container that waits for its image. */
export type WaitingImage = { namespace: string; pod: string; image: string; reason: string; message: string | undefined }

export type CheckFacts = {
  server: string
  /** The context of the kubeconfig that the user named. */
  context?: string | undefined
  cliVersion: string
  api: Probed<string>
  definitions: Probed<readonly InstalledCrd[]>
  installations: Probed<readonly InstallationFacts[]>
  fleet: Probed<FleetFacts>
  /** Images of pods that have or request an agent, and of the operator's own pods. */
  images: Probed<{ pods: number; waiting: readonly WaitingImage[] }>
}

/** A fact that could not be read gives a warning, not an error of the installation. */
export function ifProbed<Value>(section: SectionId, fact: Probed<Value>, findingsOf: (value: Value) => Finding[]): Finding[] {
  if (fact.kind === 'seen') return findingsOf(fact.value)
  const advice = fact.kind === 'refused' ? 'Run the check with administrator permissions to include this.' : undefined
  const text = `not checked: ${fact.message}`
  return [{ section, level: 'warning', text, ...(advice === undefined ? {} : { advice }) }]
}
