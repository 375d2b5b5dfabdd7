/**
 * Admission as it runs in a cluster: a real API server with Pod Security `restricted` calls the real app over TLS, with certificates that
 * the real keeper issues, stores and rotates.
 */
import t from 'tap'
import { lifetimes } from '../../runtime/certificates/rotation.ts'
import { openSelfManaged } from '../../runtime/certificates/self-managed.ts'
import type { CertificateKeeper } from '../../runtime/certificates/serving.ts'
import { systemClock } from '../../runtime/clock.ts'
import { Fault } from '../../runtime/fault.ts'
import { admissionApp, type AdmissionOutcome, mutatePath } from '../../runtime/injection/app.ts'
import type { FoundSync } from '../../runtime/injection/inject.ts'
import { createKube, type Kube, loadKube } from '../../runtime/kube/client.ts'
import { type KubeObject, podType, secretType, webhookConfigurationType } from '../../runtime/kube/types.ts'
import { silentLog } from '../../runtime/log.ts'
import { serve } from '../../runtime/serve.ts'
import { startControlPlane } from '../cluster/control-plane.ts'
import { objectsOf, one } from '../infra/installed.ts'
import { agentSettings, barePod, chartPod, type PodShape } from '../support/pods.ts'
import { requires } from '../support/requires.ts'
import { steppedClock } from '../support/stepped-clock.ts'
import { namespaceType, serviceAccountType, until } from '../support/world.ts'

const day = 86_400_000
const testLabel = 'test.clustersync.io/injection'
/** The namespaces whose pods are never asked about, labelled here as those that are. */
const clusters = ['kube-system', 'kube-node-lease']
const signal = AbortSignal.timeout(240_000)

type Setup = {
  kube: Kube
  operator: string
  keeper: CertificateKeeper
  /** Moves the keeper's time and lets it look once. */
  moveTo(now: Temporal.Instant): Promise<void>
  outcomes: AdmissionOutcome[]
  found: { sync: FoundSync }
}

const spec = {
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  gateway: { api: { secretName: 'gateway-api' } },
}

function withAgent(agent: object): FoundSync {
  return { kind: 'found', name: 'plant', spec: { ...spec, agent } }
}

async function makeNamespace(kube: Kube, prefix: string, labels: Record<string, string> = {}): Promise<string> {
  const name = `${prefix}-${Math.random().toString(36).slice(2, 8)}`
  await kube.create(namespaceType, { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }, signal)
  await makeAccounts(kube, name)
  return name
}

async function makeAccounts(kube: Kube, name: string): Promise<void> {
  for (const [account, extra] of [
    ['default', {}],
    ['no-token', { automountServiceAccountToken: false }],
  ] as const) {
    const object = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace: name, name: account }, ...extra }
    await kube.create(serviceAccountType, object, signal).catch((error: unknown) => {
      // A controller manager makes the default one by itself.
      if (!(error instanceof Fault) || error.reason !== 'Conflict') throw error
    })
  }
}

/** The webhook as the manifests install it, but for its address. Other tests of the run share this API server, so it has namespaces of its own. */
function webhook(name: string, port: number, requireLabel = false): object {
  const values = { webhook: { namespaceSelector: { requireLabel, matchLabels: { [testLabel]: name } } } }
  const installed = one(objectsOf(values), 'MutatingWebhookConfiguration')
  const clientConfig = { url: `https://localhost:${port}${mutatePath}` }
  return { ...installed, metadata: { name }, webhooks: installed.webhooks.map((hook) => ({ ...hook, clientConfig })) }
}

type Tap = { teardown(handler: () => unknown): void }

async function setup(t: Tap): Promise<Setup> {
  const plane = await startControlPlane()
  t.teardown(() => plane.stop())
  const kube = createKube(loadKube({ kubeconfig: plane.adminKubeconfig }), { clock: systemClock, userAgent: 'test' })
  const operator = await makeNamespace(kube, 'operator')
  const configuration = `${operator}-injection`
  // The first authority was made so long ago that it is announced to be replaced a day ago, and replaced now.
  const { clock, set, step } = steppedClock(Temporal.Now.instant().subtract({ milliseconds: (lifetimes.authority * 2) / 3 + day }))
  const options = { namespace: operator, secretName: 'serving', dnsNames: ['localhost'], webhookConfiguration: configuration }
  const keeper = await openSelfManaged({ kube, clock, log: silentLog }, options, signal)
  const outcomes: AdmissionOutcome[] = []
  const found: { sync: FoundSync } = { sync: { kind: 'found', name: 'plant', spec } }
  const app = admissionApp({
    notReady: () => [],
    settings: {
      agent: agentSettings({
        image: 'clustersync/agent:1',
        imagePullPolicy: 'IfNotPresent',
        imagePullSecrets: [{ name: 'pull' }],
        resources: { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } },
        guaranteed: { cpu: '500m', memory: '256Mi' },
        allowImageOverride: true,
        clusterRole: 'agent',
        autoBind: true,
      }),
      delivery: { url: 'https://delivery.operator.svc:9445' },
    },
    lookup: () => found.sync,
    clock: systemClock,
    log: silentLog,
    observe: (outcome) => outcomes.push(outcome),
  })
  const stop = new AbortController()
  const served = await serve({ app, port: 0, host: '::', tls: keeper.current(), log: silentLog }, stop.signal)
  keeper.onChange(served.exchange)
  for (const name of clusters) {
    await makeAccounts(kube, name)
    const label = (value: string | null) => ({ metadata: { labels: { [testLabel]: value } } })
    await kube.mergePatch(namespaceType, { name }, label(configuration), {}, signal)
    t.teardown(() => kube.mergePatch(namespaceType, { name }, label(null), {}, AbortSignal.timeout(30_000)))
  }
  await kube.create(webhookConfigurationType, webhook(configuration, served.port), signal)
  const running = keeper.run(stop.signal)
  t.teardown(async () => {
    stop.abort(new Error('the test has ended'))
    await Promise.all([running, served.closed])
    await kube.delete(webhookConfigurationType, { name: configuration }, AbortSignal.timeout(30_000))
    kube.close()
  })
  const moveTo = async (now: Temporal.Instant): Promise<void> => {
    set(now)
    await step()
  }
  // As of yesterday: the next authority is announced, the present one signs.
  await moveTo(Temporal.Now.instant().subtract({ milliseconds: day }))
  return { kube, operator, keeper, moveTo, outcomes, found }
}

async function admit(kube: Kube, namespace: string, shape: PodShape): Promise<PodShape> {
  const unique = shape.metadata['generateName'] === undefined ? { name: `gw-${Math.random().toString(36).slice(2, 10)}` } : {}
  const metadata = { ...shape.metadata, ...unique, namespace }
  const object = { apiVersion: 'v1', kind: 'Pod', ...shape, metadata }
  return (await kube.create(podType, object, signal)) as unknown as PodShape
}

type Agent = { volumeMounts: { name: string; mountPath: string }[]; env: { name: string }[]; restartPolicy: string }

function agentsOf(pod: PodShape): Agent[] {
  return (pod.spec.initContainers ?? []).filter(({ name }) => name === 'cluster-sync-agent') as unknown as Agent[]
}

function changed(shape: PodShape, change: (shape: PodShape) => void): PodShape {
  const copy = structuredClone(shape)
  change(copy)
  return copy
}

/** The first container, which is the gateway's. */
function gateway(pod: PodShape): Record<string, unknown> {
  return pod.spec.containers[0] ?? {}
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

void t.test('an API server asks admission about each pod that wants an agent', { timeout: 280_000 }, async (t) => {
  if (!requires(t)) return
  const { kube, operator, keeper, moveTo, outcomes, found } = await setup(t)
  const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted', 'pod-security.kubernetes.io/enforce-version': 'latest' }
  const here = { [testLabel]: `${operator}-injection` }
  const plant = await makeNamespace(kube, 'plant', { ...restricted, ...here })

  await t.test('the keeper tells the API server which authorities to trust', async (t) => {
    const configuration = (await kube.get(webhookConfigurationType, { name: `${operator}-injection` }, signal)) as KubeObject & {
      webhooks: { clientConfig: { caBundle?: string } }[]
    }
    const [only] = configuration.webhooks
    t.equal(Buffer.from(only?.clientConfig.caBundle ?? '', 'base64').toString(), keeper.current().caBundle)
    t.equal(keeper.current().caBundle.match(/BEGIN/g)?.length, 2, 'the next one is announced')
  })

  for (const [name, shape] of shapes) {
    await t.test(`a pod ${name} passes restricted:latest with exactly one agent`, async (t) => {
      const pod = await admit(kube, plant, shape)
      const [agent, ...others] = agentsOf(pod)
      t.same(others, [])
      t.equal(agent?.restartPolicy, 'Always')
      const tokens = agent?.volumeMounts.filter(({ mountPath }) => mountPath === '/var/run/secrets/kubernetes.io/serviceaccount') ?? []
      t.match(tokens, [{ name: /^cluster-sync-api-token(-2)?$/ }], 'the token of ours and no other')
      t.equal(pod.metadata.labels?.['clustersync.io/agent'], 'true')
      t.equal(pod.metadata.annotations?.['clustersync.io/injected'], 'true')
    })
  }

  await t.test('a pod keeps the class that it has without an agent', async (t) => {
    const classOf = async (shape: PodShape): Promise<unknown> => ((await admit(kube, plant, shape)) as KubeObject).status
    t.match(await classOf(chartPod()), { qosClass: 'Guaranteed' })
    t.match(await classOf(changed(chartPod(), (pod) => (gateway(pod)['resources'] = { limits: { memory: '1Gi' } }))), {
      qosClass: 'Burstable',
    })
    const whole = { requests: { cpu: '1', memory: '2Gi' }, limits: { cpu: '1', memory: '2Gi' } }
    const ofPod = changed(chartPod(), (pod) => {
      pod.spec['resources'] = whole
      gateway(pod)['resources'] = whole
    })
    t.match(await classOf(ofPod), { qosClass: 'Guaranteed' }, 'also where all of it is taken')
  })

  await t.test('a copy of an injected pod is admitted as it is', async (t) => {
    const first = await admit(kube, plant, chartPod())
    const { annotations = {}, labels = {} } = first.metadata
    const copy: PodShape = { metadata: { annotations, labels }, spec: first.spec }
    t.equal(agentsOf(await admit(kube, plant, copy)).length, 1)
    t.equal(outcomes.at(-1), 'unchanged')
  })

  await t.test('whatever is known of the GatewaySync, the pod is admitted', async (t) => {
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
      t.equal(agentsOf(await admit(kube, plant, chartPod())).length, 1, sync.kind)
    }
    found.sync = { kind: 'found', name: 'plant', spec }
  })

  await t.test('pods that do not ask are not even seen', async (t) => {
    const before = outcomes.length
    for (const value of ['false', 'True']) {
      t.same(agentsOf(await admit(kube, plant, chartPod({ 'clustersync.io/inject': value }))), [])
    }
    t.same(
      agentsOf(
        await admit(
          kube,
          plant,
          changed(barePod(), (pod) => delete pod.metadata.annotations),
        ),
      ),
      [],
    )
    t.equal(outcomes.length, before)
  })

  await t.test("pods of the cluster's own namespaces are not even seen, also where they ask", async (t) => {
    const before = outcomes.length
    for (const name of clusters) t.same(agentsOf(await admit(kube, name, barePod())), [], name)
    t.equal(outcomes.length, before)
  })

  await t.test('where a label is required, pods of namespaces without it are not even seen', async (t) => {
    const name = `${operator}-injection`
    const labelled = await makeNamespace(kube, 'labelled', { ...here, 'clustersync.io/injection': 'enabled' })
    const others = [plant, await makeNamespace(kube, 'disabled', { ...here, 'clustersync.io/injection': 'disabled' })]
    const agents = async (namespace: string): Promise<number> => agentsOf(await admit(kube, namespace, barePod())).length
    const require = async (requireLabel: boolean): Promise<void> => {
      const { webhooks } = (await kube.get(webhookConfigurationType, { name }, signal)) as KubeObject & { webhooks: object[] }
      const { namespaceSelector } = (webhook(name, 0, requireLabel) as { webhooks: [{ namespaceSelector: object }] }).webhooks[0]
      await kube.mergePatch(
        webhookConfigurationType,
        { name },
        { webhooks: webhooks.map((hook) => ({ ...hook, namespaceSelector })) },
        {},
        signal,
      )
      const wanted = requireLabel ? 0 : 1
      await until(async () => ((await agents(plant)) === wanted ? true : undefined), 'the API server acts upon the change')
    }
    t.equal(await agents(labelled), 1)
    for (const namespace of others) t.equal(await agents(namespace), 1, 'until a label is required')
    await require(true)
    t.equal(await agents(labelled), 1)
    for (const namespace of others) t.equal(await agents(namespace), 0)
    await require(false)
  })

  await t.test('a pod of root is admitted where the namespace permits it', async (t) => {
    const free = await makeNamespace(kube, 'free', here)
    const root = changed(chartPod(), (pod) => (pod.spec['securityContext'] = { runAsUser: 0 }))
    t.equal(agentsOf(await admit(kube, free, root)).length, 1)
  })

  await t.test('a pod in the network of its node reserves no port for its agent', async (t) => {
    const free = await makeNamespace(kube, 'free', here)
    const onHost = changed(chartPod(), (pod) => {
      Object.assign(pod.spec, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })
      Object.assign(gateway(pod), { ports: [{ containerPort: 8088 }] })
    })
    const pod = await admit(kube, free, onHost)
    const [agent] = agentsOf(pod)
    t.match(agent, { startupProbe: { exec: {} }, livenessProbe: { exec: {} } })
    t.notMatch(JSON.stringify(agent), /hostPort|httpGet/)
    t.match(gateway(pod), { ports: [{ hostPort: 8088 }] }, "as the API server reserves the gateway's own")
  })

  await t.test('no call fails while the authority is replaced', async (t) => {
    const before = keeper.current()
    let admitted = 0
    let rotated = false
    const load = async (): Promise<void> => {
      for (let after = 0; after < 10;) {
        t.equal(agentsOf(await admit(kube, plant, barePod())).length, 1)
        admitted += 1
        if (rotated) after += 1
      }
    }
    const running = Promise.all([load(), load()])
    await moveTo(Temporal.Now.instant())
    rotated = true
    await running
    t.not(keeper.current().cert, before.cert)
    t.same(
      keeper
        .current()
        .caBundle.match(/-----BEGIN[^]+?END CERTIFICATE-----\n/g)
        ?.toReversed(),
      before.caBundle.match(/-----BEGIN[^]+?END CERTIFICATE-----\n/g),
      'the announced authority signs, the old one is still trusted',
    )
    t.ok(admitted >= 20)
  })

  await t.test('a webhook that was applied anew is trusted again', async () => {
    const name = `${operator}-injection`
    const read = async () =>
      (await kube.get(webhookConfigurationType, { name }, signal)) as KubeObject & { webhooks: { clientConfig: object }[] }
    const { webhooks } = await read()
    const bare = webhooks.map((hook) => ({ ...hook, clientConfig: { ...hook.clientConfig, caBundle: null } }))
    await kube.mergePatch(webhookConfigurationType, { name }, { webhooks: bare }, {}, signal)
    await moveTo(Temporal.Now.instant())
    await admitSoon(kube, plant)
  })

  await t.test('replicas that start together serve one certificate, and a deleted Secret comes back as it was', async (t) => {
    const options = { namespace: operator, secretName: 'shared', dnsNames: ['localhost'], webhookConfiguration: undefined }
    const open = () => openSelfManaged({ kube, clock: systemClock, log: silentLog }, options, signal)
    const keepers = await Promise.all([open(), open(), open()])
    t.equal(new Set(keepers.map((each) => each.current().cert)).size, 1)

    const { clock, step } = steppedClock()
    const alone = await openSelfManaged({ kube, clock, log: silentLog }, options, signal)
    const stop = new AbortController()
    const running = alone.run(stop.signal)
    await kube.delete(secretType, { namespace: operator, name: 'shared' }, signal)
    await step()
    const again = await open()
    t.equal(again.current().cert, keepers[0]?.current().cert)
    stop.abort(new Error('done'))
    await running
  })
})

/** A changed webhook configuration acts within a fraction of a second. */
async function admitSoon(kube: Kube, namespace: string): Promise<void> {
  const until = Date.now() + 60_000
  for (;;) {
    try {
      await admit(kube, namespace, barePod())
      return
    } catch (error) {
      if (Date.now() > until) throw error
    }
  }
}
