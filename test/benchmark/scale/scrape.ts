/**
 * Prometheus, as far as the controller notices: scrapes in OpenMetrics with the token of an account that may read them.
 */
import { systemClock } from '../../../runtime/clock.ts'
import { readText, startCall } from '../../../runtime/http/client.ts'
import type { ResourceType } from '../../../runtime/kube/types.ts'
import type { Installation } from '../../support/installation.ts'
import { until } from '../../support/world.ts'

/** `ms`: from the question to the last byte. */
export type Scrape = { ms: number; bytes: number; series: number }

const bindingType: ResourceType = {
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'clusterrolebindings',
  kind: 'ClusterRoleBinding',
  namespaced: false,
}
/** The accounts of the installation's namespaces; one of them reads here. */
const account = 'gateway'
const maxBytes = 64 * 1024 * 1024

/** Gives the account of a namespace the role of a reader; `caBundle` is what the controller's certificate is checked with. */
export async function openScraper(
  { world, manifests, ports }: Installation,
  namespace: string,
  caBundle: string,
): Promise<() => Promise<Scrape>> {
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
  const scrape = async (): Promise<Scrape & { status: number }> => {
    const startedMs = systemClock.monotonicMs()
    const headers = { authorization: `Bearer ${token}`, accept: 'application/openmetrics-text;version=1.0.0' }
    const { answered } = startCall(`https://localhost:${ports.metrics}/metrics`, { ca: caBundle, headers, signal: world.signal })
    const response = await answered
    const text = (await readText(response, maxBytes)) ?? ''
    const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
    return { ms: systemClock.monotonicMs() - startedMs, bytes: Buffer.byteLength(text), series, status: response.statusCode ?? 0 }
  }
  await until(async () => ((await scrape()).status === 200 ? true : undefined), 'the account may read the metrics')
  return scrape
}
