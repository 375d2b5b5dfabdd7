/**
 * Admission in a cluster: an API server with Pod Security `restricted` calls it for pods of every kind that request an agent.
 */
import t from 'tap'
import type { FoundSync } from '../../runtime/injection/inject.ts'
import type { KubeObject } from '../../runtime/kube/types.ts'
import { agentsOf, changed, openAdmission, spec } from '../support/admission.ts'
import { matchObject } from '../support/assertions.ts'
import { gateway } from '../support/injected.ts'
import { barePod, chartPod, type PodShape } from '../support/pods.ts'
import { requires } from '../support/requires.ts'

function withAgent(agent: object): FoundSync {
  return { kind: 'found', name: 'plant', spec: { ...spec, agent } }
}

const shapes: [string, PodShape][] = [
  ["the chart's", chartPod()],
  ['bare, without a data volume', barePod()],
  ['with a token of its own switched off', changed(chartPod(), (pod) => (pod.spec['automountServiceAccountToken'] = false))],
  ['of a ServiceAccount that mounts no token', changed(chartPod(), (pod) => (pod.spec['serviceAccountName'] = 'no-token'))],
  [
    'with its data in a subPath',
    changed(
      chartPod(),
      (pod) => (gateway(pod)['volumeMounts'] = [{ name: 'data', mountPath: '/usr/local/bin/ignition/data', subPath: 'gw' }]),
    ),
  ],
  [
    'with its data in a subPathExpr',
    changed(
      chartPod(),
      (pod) =>
        (gateway(pod)['volumeMounts'] = [{ name: 'data', mountPath: '/usr/local/bin/ignition/data', subPathExpr: '$(GATEWAY_POD_INDEX)' }]),
    ),
  ],
  [
    'whose gateway has a user of its own',
    changed(chartPod(), (pod) => Object.assign(gateway(pod)['securityContext'] as object, { runAsUser: 1000 })),
  ],
  [
    'whose mode comes from a ConfigMap',
    changed(chartPod(), (pod) =>
      Object.assign(gateway(pod), { env: undefined, envFrom: [{ configMapRef: { name: 'site' } }, { secretRef: { name: 'more' } }] }),
    ),
  ],
  [
    'with our port and a volume of our name',
    changed(chartPod(), (pod) => {
      gateway(pod)['ports'] = [{ containerPort: 8083, name: 'mine' }]
      Object.assign(pod.spec, {
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'cluster-sync-api-token', emptyDir: {} },
        ],
      })
    }),
  ],
  [
    'with a GatewaySync, volume and labels that do not exist',
    changed(barePod({ 'clustersync.io/gateway-sync': 'none', 'clustersync.io/data-volume': 'no' }), (pod) => delete pod.metadata.labels),
  ],
]

void t.test('an API server calls admission for each pod that requests an agent', { timeout: 600_000 }, async (t) => {
  if (!requires(t)) return
  const { namespace, admit, outcomes, found } = await openAdmission(t)
  const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/enforce-version': 'latest' }
  const plant = await namespace('plant', restricted)

  for (const [name, shape] of shapes) {
    await t.test(`a pod ${name} passes restricted:latest with exactly one agent`, async (t) => {
      const pod = await admit(plant, shape)
      const [agent, ...others] = agentsOf(pod)
      t.strictSame(others, [])
      t.equal(agent?.restartPolicy, 'Always')
      const tokens = agent?.volumeMounts.filter(({ mountPath }) => mountPath === '/var/run/secrets/kubernetes.io/serviceaccount') ?? []
      matchObject(t, tokens, [{ name: /^cluster-sync-api-token(-2)?$/ }], 'the token of ours and no other')
      t.equal(pod.metadata.labels?.['clustersync.io/agent'], 'true')
      t.equal(pod.metadata.annotations?.['clustersync.io/injected'], 'true')
    })
  }

  await t.test('a pod keeps the QoS class that it has without an agent', async (t) => {
    const classOf = async (shape: PodShape): Promise<unknown> => ((await admit(plant, shape)) as KubeObject).status
    matchObject(t, await classOf(chartPod()), { qosClass: 'Guaranteed' })
    matchObject(t, await classOf(changed(chartPod(), (pod) => (gateway(pod)['resources'] = { limits: { memory: '1Gi' } }))), {
      qosClass: 'Burstable',
    })
    const whole = { requests: { cpu: '1', memory: '2Gi' }, limits: { cpu: '1', memory: '2Gi' } }
    const ofPod = changed(chartPod(), (pod) => {
      pod.spec['resources'] = whole
      gateway(pod)['resources'] = whole
    })
    matchObject(t, await classOf(ofPod), { qosClass: 'Guaranteed' }, 'also where all of it is taken')
  })

  await t.test('a copy of an injected pod is admitted unchanged', async (t) => {
    const first = await admit(plant, chartPod())
    const { annotations = {}, labels = {} } = first.metadata
    const copy: PodShape = { metadata: { annotations, labels }, spec: first.spec }
    t.equal(agentsOf(await admit(plant, copy)).length, 1)
    t.equal(outcomes.at(-1), 'unchanged')
  })

  await t.test('a pod is admitted with any state of its GatewaySync', async (t) => {
    const cases: FoundSync[] = [
      { kind: 'missing', name: 'gone' },
      { kind: 'ambiguous', count: 2 },
      { kind: 'unknown', name: undefined, why: 'line one\nline two \u{1f600}' },
      { kind: 'found', name: 'plant', spec: 'no spec' },
      withAgent({ resources: { requests: { memory: '1Gi' }, limits: { memory: '1Mi' } } }),
      withAgent({ resources: { requests: { cpu: '1m', wheels: 4 }, limits: { 'hugepages-2Mi': '1Gi' } } }),
      withAgent({ image: { tag: ' ' }, imagePullSecrets: [{ name: 'Not A Name' }] }),
    ]
    for (const sync of cases) {
      found.sync = sync
      t.equal(agentsOf(await admit(plant, chartPod())).length, 1, sync.kind)
    }
    found.sync = { kind: 'found', name: 'plant', spec }
  })

  await t.test('a pod that runs as root is admitted if its namespace permits it', async (t) => {
    const free = await namespace('free')
    const root = changed(chartPod(), (pod) => (pod.spec['securityContext'] = { runAsUser: 0 }))
    t.equal(agentsOf(await admit(free, root)).length, 1)
  })

  await t.test('a pod in the host network reserves no port for its agent', async (t) => {
    const free = await namespace('free')
    const onHost = changed(chartPod(), (pod) => {
      Object.assign(pod.spec, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })
      Object.assign(gateway(pod), { ports: [{ containerPort: 8088 }] })
    })
    const pod = await admit(free, onHost)
    const [agent] = agentsOf(pod)
    matchObject(t, agent, { startupProbe: { exec: {} }, livenessProbe: { exec: {} } })
    t.notMatch(JSON.stringify(agent), /hostPort|httpGet/)
    matchObject(t, gateway(pod), { ports: [{ hostPort: 8088 }] }, "as the API server reserves the gateway's own")
  })
})
