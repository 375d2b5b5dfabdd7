import fc from 'fast-check'
import { jsonpatch } from 'json-p3'
import t from 'tap'
import * as v from 'valibot'
import { answer, parseReview } from '../../../runtime/injection/app.ts'
import { type FoundSync, injectAgent, type InjectionSettings } from '../../../runtime/injection/inject.ts'
import { type Pod, pod as podSchema } from '../../../runtime/injection/pod.ts'
import { agentSettings } from '../../support/pods.ts'

const settings: InjectionSettings = {
  agent: agentSettings({
    image: 'agent',
    imagePullPolicy: 'Always',
    imagePullSecrets: [{ name: 'pull' }],
    resources: {},
    allowImageOverride: true,
    clusterRole: 'agent',
    autoBind: true,
  }),
  delivery: { url: 'https://delivery:9445' },
}

const name = fc.constantFrom('gateway', 'data', 'ignition-data', 'cluster-sync-pod-info', 'cluster-sync-pod-info-2', 'pull', 'a', 'b')
const text = fc.oneof(name, fc.constantFrom('$(A)', '$(B)/x', '$$(A)', '-Dignition.config.mode=$(A)', 'DEPLOYMENT_MODE', 'A', 'B'))
const maybe = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> => fc.option(value, { nil: undefined })
const present = <Value extends object>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value> =>
  value.map((record) => JSON.parse(JSON.stringify(record)) as Value)

const container = fc.record({
  name,
  args: maybe(fc.array(text, { maxLength: 3 })),
  env: maybe(fc.array(fc.record({ name: text, value: text }), { maxLength: 3 })),
  volumeMounts: maybe(fc.array(fc.record({ name, mountPath: text, subPathExpr: maybe(text) }), { maxLength: 2 })),
  ports: maybe(fc.array(fc.record({ containerPort: fc.integer({ min: 8080, max: 8086 }) }), { maxLength: 3 })),
  securityContext: maybe(fc.record({ runAsUser: fc.integer({ min: 0, max: 3 }) })),
})
const annotation = fc.constantFrom('clustersync.io/gateway-sync', 'clustersync.io/data-volume', 'x/~y')
const pods: fc.Arbitrary<Pod> = present(
  fc.record({
    metadata: fc.record({
      annotations: fc.dictionary(annotation, text).map((others) => ({ ...others, 'clustersync.io/inject': 'true' })),
      labels: maybe(fc.dictionary(text, text)),
    }),
    spec: fc.record({
      initContainers: maybe(fc.array(container, { maxLength: 2 })),
      containers: fc.array(container, { minLength: 1, maxLength: 2 }),
      volumes: maybe(fc.uniqueArray(fc.record({ name }), { selector: (volume) => volume.name, maxLength: 4 })),
      imagePullSecrets: maybe(fc.array(fc.record({ name }), { maxLength: 2 })),
    }),
  }),
)
const syncs: fc.Arbitrary<FoundSync> = fc.constantFrom(
  { kind: 'found', name: 'plant', spec: { git: { repo: 'https://h/r', ref: 'main' }, sync: { profiles: {} } } },
  { kind: 'missing', name: 'x' },
  { kind: 'ambiguous', count: 2 },
)

function patched(pod: Pod, sync: FoundSync): Pod {
  const injection = injectAgent(pod, settings, sync)
  if (injection.kind !== 'patch') return pod
  return v.parse(podSchema, jsonpatch.apply(structuredClone(injection.operations) as never, structuredClone(pod) as never))
}

void t.test('any pod that requests injection gets exactly one agent, and injection is idempotent', async (t) => {
  fc.assert(
    fc.property(pods, syncs, (pod, sync) => {
      const once = patched(pod, sync)
      const agents = (once.spec.initContainers ?? []).filter((container) => container.name === 'cluster-sync-agent')
      t.equal(agents.length, 1)
      t.strictSame(patched(once, sync), once)
    }),
    { verbose: 1 },
  )
})

void t.test('containers and volumes of the pod stay unchanged, and names stay unique', async (t) => {
  fc.assert(
    fc.property(pods, syncs, (pod, sync) => {
      const after = patched(pod, sync)
      t.strictSame(after.spec.containers, pod.spec.containers)
      t.strictSame(after.spec.initContainers?.slice(0, -1), pod.spec.initContainers ?? [])
      const volumes = after.spec.volumes?.map((volume) => volume.name) ?? []
      t.strictSame(after.spec.volumes?.slice(0, pod.spec.volumes?.length ?? 0), pod.spec.volumes ?? [])
      t.equal(new Set(volumes).size, volumes.length)
      const agent = after.spec.initContainers?.at(-1)
      t.ok(
        agent?.volumeMounts?.every((mount) => volumes.includes(mount.name)),
        'every mount has its volume',
      )
      const claimed = pod.spec.containers.flatMap(({ ports = [] }) => ports.map(({ containerPort }) => containerPort))
      t.notOk(agent?.ports?.some(({ containerPort }) => claimed.includes(containerPort)))
    }),
    { verbose: 1 },
  )
})

void t.test('any JSON value is a valid review, another object or malformed', async (t) => {
  const reviews = fc.oneof(
    fc.jsonValue(),
    fc.record({
      apiVersion: fc.constant('admission.k8s.io/v1'),
      kind: fc.constant('AdmissionReview'),
      request: fc.record({ uid: fc.string(), namespace: fc.jsonValue(), object: fc.oneof(fc.jsonValue(), pods) }),
    }),
  )
  fc.assert(
    fc.property(reviews, (review) => {
      t.match(parseReview(review).kind, /^(?:pod|other|malformed)$/)
    }),
    { verbose: 1, numRuns: 500 },
  )
})

void t.test('a warning is one short line', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (warning) => {
      const { response } = answer('u', [], [warning]) as { response: { warnings: string[] } }
      t.match(response.warnings[0], /^cluster-sync: [\x20-\x7e]{0,242}$/)
    }),
    { verbose: 1 },
  )
})
