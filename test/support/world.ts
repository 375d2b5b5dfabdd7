/**
 * Shared parts of tests on the real API server: a client with all permissions, namespaces, accounts and their tokens.
 */
import type { V1Pod } from '@kubernetes/client-node'
import type { Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { createKube, type Kube, loadKube } from '../../runtime/kube/client.ts'
import { eventType, type New, type ResourceType, type Stored } from '../../runtime/kube/types.ts'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../cluster/control-plane.ts'

export const namespaceType: ResourceType = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false }
export const serviceAccountType: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
}
export const configMapType: ResourceType = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true }

export type World = {
  plane: ControlPlane
  kube: Kube
  signal: AbortSignal
  /** Creates a separate namespace with the given accounts. */
  namespace(prefix: string, ...accounts: string[]): Promise<string>
  /** Applies manifests like `kubectl apply --server-side`. */
  apply(objects: readonly object[]): Promise<void>
  /** A token of an account, for an audience, bound to a pod. */
  token(namespace: string, account: string, options?: { audience?: string; pod?: { name: string; uid: string } }): Promise<string>
  /** A client with the permissions of a token. */
  as(token: string): Kube
}

/** The default lifetime of an API server. */
const tokenSeconds = 3_600

/** `lifetimeMs`: every call to the API server fails after this time; until then tokens are valid. */
export type WorldOptions = ControlPlaneOptions & { lifetimeMs?: number }

export async function openWorld(t: Pick<Test, 'teardown'>, { lifetimeMs = 840_000, ...options }: WorldOptions = {}): Promise<World> {
  const plane = await startControlPlane(options)
  t.teardown(async () => plane.stop())
  const signal = AbortSignal.timeout(lifetimeMs)
  const client = (kubeconfig: string): Kube => {
    const kube = createKube(loadKube({ kubeconfig }), { clock: systemClock, userAgent: 'test' })
    t.teardown(async () => kube.close())
    return kube
  }
  const kube = client(plane.adminKubeconfig)
  return {
    plane,
    kube,
    signal,
    async namespace(prefix, ...accounts) {
      const name = `${prefix}-${systemClock.uuid().slice(0, 8)}`
      await kube.create(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, signal)
      for (const account of ['default', ...accounts]) {
        await kube.create(
          serviceAccountType,
          { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: name, name: account } },
          signal,
        )
      }
      return name
    },
    async apply(objects) {
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects })
      const { code, stderr } = await plane.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], list)
      if (code !== 0) throw new Error(stderr)
    },
    async token(namespace, account, { audience, pod } = {}) {
      const spec = {
        // Unlike with a kubelet, they are not renewed.
        expirationSeconds: Math.max(tokenSeconds, Math.ceil(lifetimeMs / 1000)),
        ...(audience === undefined ? {} : { audiences: [audience] }),
        ...(pod === undefined ? {} : { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', ...pod } }),
      }
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`
      const answer = await kube.post(path, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }, signal)
      return (answer as { status: { token: string } }).status.token
    },
    as: (token) => client(plane.kubeconfigFor(token)),
  }
}

/** Polls until a condition holds; the message describes the condition. */
export async function until<Value>(
  look: () => Promise<Value | undefined> | Value | undefined,
  what: string,
  timeoutMs = 240_000,
  everyMs = 25,
): Promise<Value> {
  const endMs = systemClock.monotonicMs() + timeoutMs
  for (;;) {
    const value = await look()
    if (value !== undefined) return value
    if (systemClock.monotonicMs() > endMs) throw new Error(`not within ${timeoutMs / 1000} s: ${what}`)
    await systemClock.wait(everyMs)
  }
}

/** An Event of a namespace: what `kubectl describe` shows for its object. */
export type SeenEvent = { type: string; reason: string; note: string; regarding: { kind: string; name: string } }

/** All Events of a namespace. */
export async function eventsIn({ kube, signal }: Pick<World, 'kube' | 'signal'>, namespace: string): Promise<SeenEvent[]> {
  const events: SeenEvent[] = []
  for await (const { items } of kube.listPages(eventType, { namespace, limit: 500 }, signal)) {
    events.push(...(items as unknown as SeenEvent[]).map(({ type, reason, note, regarding }) => ({ type, reason, note, regarding })))
  }
  return events
}

/** The smallest pod that the API server accepts. */
export function tinyPod(
  namespace: string,
  name: string,
  more: { account?: string; annotations?: Record<string, string>; labels?: Record<string, string> } = {},
): New<Stored<V1Pod>> {
  const { account = 'default', annotations = {}, labels = {} } = more
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name, annotations, labels },
    spec: { serviceAccountName: account, containers: [{ name: 'gateway', image: 'gateway:8.3' }] },
  }
}
