/**
 * Scrapes the controller like Prometheus: in OpenMetrics, with the token of an account that may read metrics.
 */
import { deadline, systemClock } from '../../../runtime/platform/clock.ts'
import { readText, startCall } from '../../../runtime/http/client.ts'
import type { ResourceType } from '../../../runtime/kube/types.ts'
import type { Installation } from '../../support/installation.ts'

/** `ms`: from the request to the last byte. */
export type Scrape = { ms: number; bytes: number; series: number; status: number; text: string }

const bindingType: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
}
/** The accounts of the installation's namespaces; one of them reads metrics here. */
const account = 'gateway'
const maxBytes = 64 * 1024 * 1024
const answeredWithinMs = 15_000

/**
 * Grants the account of a namespace the metrics reader role; `caBundle` verifies the controller's certificate. Returns a function that
 * scrapes a port; the permission takes effect after a while.
 */
export async function openScraper(
  { world, manifests }: Installation,
  namespace: string,
  caBundle: string,
): Promise<(port: number) => Promise<Scrape>> {
  const role = manifests.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.endsWith('-metrics-reader'))
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${namespace}-reader` },
    roleRef: { apiGroup: bindingType.group, kind: 'ClusterRole', name: role?.metadata.name },
    subjects: [{ kind: 'ServiceAccount', namespace, name: account }],
  }
  await world.kube.create(bindingType, binding, world.signal)
  const token = await world.token(namespace, account)
  return async (port) => {
    const startedMs = systemClock.monotonicMs()
    const headers = { authorization: `Bearer ${token}`, accept: 'application/openmetrics-text;version=1.0.0' }
    const signal = deadline(answeredWithinMs, world.signal)
    const { answered } = startCall(`https://localhost:${port}/metrics`, { ca: caBundle, headers, signal })
    const response = await answered
    const text = (await readText(response, maxBytes)) ?? ''
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
    return { ms: systemClock.monotonicMs() - startedMs, bytes: Buffer.byteLength(text), series, status: response.statusCode ?? 0, text }
  }
}
