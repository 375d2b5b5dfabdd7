/**
 * Tests pod records made from pods as admission returns them: whether their agent can work, and how the GatewaySync reports them.
 */
import type { V1Pod, V1PodSpec } from '@kubernetes/client-node'
import t from 'tap'
import { followedRef } from '../../../../runtime/api/followed-ref.ts'
import { decide } from '../../../../runtime/reconcile/decide/decide.ts'
import { desiredRef } from '../../../../runtime/reconcile/decide/request.ts'
import type { GatewaySyncStatus } from '../../../../runtime/api/schema/status.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import type { Pod } from '../../../../runtime/injection/pod.ts'
import type { Json, Stored } from '../../../../runtime/kube/types.ts'
import { projectPod } from '../../../../runtime/reconcile/store/records.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { matchObject } from '../../../support/assertions.ts'
import { specWith } from '../../../support/gatewaysync.ts'
import { env, gateway, inject } from '../../../support/injected.ts'
import { barePod, chartPod, type PodShape } from '../../../support/pods.ts'

const now = Temporal.Instant.from('2026-01-01T00:00:00Z')

/** The pod of the chart with two candidate data volumes, one of which the gateway mounts elsewhere. */
function podOfTwoVolumes(annotations: Record<string, string> = {}): Pod & PodShape {
  const pod = chartPod(annotations)
  pod.spec.volumes = ['data', 'ignition-data'].map((name) => ({ name, emptyDir: {} }))
  gateway(pod)['volumeMounts'] = [{ name: 'data', mountPath: '/d' }]
  return pod
}

/** The pod as the API server stores it after admission. */
function stored(pod: PodShape): Stored<V1Pod> {
  const metadata = { ...pod.metadata, namespace: 'plant', name: 'gw-0', uid: 'uid-gw-0', resourceVersion: '1' }
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: pod.spec as unknown as Json<V1PodSpec> }
}

/** The status of a GatewaySync with a published commit and only this pod. */
function statusWith(pod: PodShape): GatewaySyncStatus {
  const record = projectPod(stored(pod))
  const spec = specWith()
  return decide({
    generation: 1,
    spec,
    annotations: {},
    status: {},
    desired: desiredRef(followedRef(spec.git), {}, {}),
    source: {
      kind: 'resolved',
      commit: parseCommitHash('a'.repeat(40)),
      committedAt: undefined,
      fetchedAt: now.toString(),
      verified: undefined,
      verdict: { kind: 'notChecked' },
      durationMs: 12,
    },
    pods: record === undefined ? [] : [record],
    reports: new Map(),
    delivery: undefined,
    now,
  }).status
}

const agentsInjected = ({ conditions = [] }: GatewaySyncStatus) => conditions.find(({ type }) => type === 'AgentsInjected')

void t.test('a pod with an ambiguous or missing data volume is a gateway without an agent', async (t) => {
  const rows: [string, Pod & PodShape][] = [
    ['two volumes, none mounted as the data directory', podOfTwoVolumes()],
    ['no volume at all', barePod()],
    ['an annotation that names no volume', chartPod({ 'clustersync.io/data-volume': 'dta' })],
  ]
  for (const [name, asked] of rows) {
    const { agent, pod } = inject(asked)
    t.notOk('CLUSTER_SYNC_DATA_DIR' in env(agent), `${name}: its agent is idle`)
    matchObject(t, pod.metadata, { labels: { 'clustersync.io/agent': 'true' } }, `${name}: and labeled as any other`)
    const status = statusWith(pod)
    matchObject(t, status.gateways, { total: 1, missingAgent: 1, pending: 0 }, name)
    t.strictSame(status.unreported ?? [], [], `${name}: no report is waited for`)
    const message = /^1 of 1 gateways: gw-0: MissingAgent, the pod requests an agent but has no working one; recreate the pod$/
    matchObject(t, agentsInjected(status), { status: 'False', reason: 'MissingAgent', message }, name)
  }
})

void t.test('a pod with a known data volume is a gateway that is expected to report', async (t) => {
  const rows: [string, Pod & PodShape][] = [
    ["the chart's", chartPod()],
    ['two volumes, of which its owner names one', podOfTwoVolumes({ 'clustersync.io/data-volume': 'ignition-data' })],
  ]
  for (const [name, asked] of rows) {
    const status = statusWith(inject(asked).pod)
    matchObject(t, status.gateways, { total: 1, missingAgent: 0, pending: 1 }, name)
    t.strictSame(status.unreported, ['gw-0'], name)
    matchObject(t, agentsInjected(status), { status: 'True', reason: 'Injected' }, name)
  }
})
