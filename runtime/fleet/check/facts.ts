/**
 * What is found out about an installation before it is judged. What may not be looked at is a fact too: it is no reason to call anything broken.
 */
import type { FleetFacts } from '../facts.ts'

/** `refused`: the right to look is missing; `failed`: it was asked and something else went wrong. */
export type Looked<Value> = { kind: 'seen'; value: Value } | { kind: 'refused'; message: string } | { kind: 'failed'; message: string }

/** A CustomResourceDefinition: its schema by version, and whether the API server serves it. */
export type Definition = { name: string; established: boolean; served: ReadonlyMap<string, unknown> }

/** What the manifests told the controller, as far as it is checked. */
export type OperatorSettings = {
  namespace: string
  fullname: string
  leaderElection: boolean
  watchNamespaces: readonly string[]
  podLabels: Readonly<Record<string, string>>
  /** Who writes the CA bundle of the webhook. */
  keepsBundle: boolean
  /** The certificate is issued by the controller itself. */
  selfManaged: boolean
  webhookConfiguration: string | undefined
  agentRole: string
  bindsAgents: boolean
  isReceiverOpen: boolean
}

/** Of the leader election; `renewedAt` is RFC 3339, as the holder wrote it. */
export type Lease = { holder: string | undefined; renewedAt: string | undefined; durationSeconds: number }

/** `resource` has its subresource behind a slash; `name` undefined: every name. */
export type Right = { verb: string; group: string; resource: string; name: string | undefined }

/** What the API server says of one right of an account (SubjectAccessReview); `namespace` undefined: in all of them. */
export type RightAnswer = { account: string; right: Right; namespace: string | undefined; allowed: boolean }

/** PEM texts of the Secret. */
export type CertificateSecret = { name: string; leaf: string | undefined; authority: string | undefined }

/** What became of a pod that was created with `dryRun`: whether the webhook injects an agent. Nothing stays of it. */
export type Admission =
  | { kind: 'injected'; namespace: string }
  | { kind: 'untouched'; namespace: string }
  | { kind: 'failed'; namespace: string; message: string }
  | { kind: 'refused'; message: string }
  /** There is no namespace with a GatewaySync to try it in, or no webhook. */
  | { kind: 'notAsked'; why: string }

/** Whether the delivery endpoint answers: connected to directly, or asked through the API server (`service`). */
export type Delivery =
  | { kind: 'answers'; url: string; by: 'connection' | 'service' }
  | { kind: 'silent'; url: string; message: string }
  | { kind: 'refused'; message: string }
  | { kind: 'notAsked'; why: string }

/** One Deployment or StatefulSet of a controller, and everything that belongs to it. */
export type InstallationFacts = {
  name: string
  namespace: string
  version: string | undefined
  replicas: number
  readyReplicas: number
  /** Undefined where its settings cannot be read. */
  settings: OperatorSettings | undefined
  lease: Looked<Lease | undefined> | undefined
  rights: Looked<readonly RightAnswer[]>
  certificate: Looked<CertificateSecret | undefined>
  /** CA bundles of its webhooks, PEM; undefined where the configuration is missing. */
  bundles: Looked<readonly string[] | undefined> | undefined
  admission: Admission
  delivery: readonly Delivery[]
}

/** A container that waits for its image. */
export type WaitingImage = { namespace: string; pod: string; image: string; reason: string; message: string | undefined }

export type CheckFacts = {
  server: string
  cliVersion: string
  api: Looked<string>
  definitions: Looked<readonly Definition[]>
  installations: Looked<readonly InstallationFacts[]>
  fleet: Looked<FleetFacts>
  /** Of pods that have or want an agent, and of the operator's own. */
  images: Looked<{ pods: number; waiting: readonly WaitingImage[] }>
}
