import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import { type AdmissionDeps, admissionApp } from '../../../runtime/injection/app.ts'
import { silentLog } from '../../../runtime/log.ts'
import { agentSettings, chartPod } from '../../support/pods.ts'

type Observed = Parameters<AdmissionDeps['observe']>[0][]

function setup(changed: Partial<AdmissionDeps> = {}): {
  post: (body: string | ReadableStream, headers?: Record<string, string>) => Promise<Response>
  observed: Observed
} {
  const observed: Observed = []
  const app = admissionApp({
    settings: {
      agent: agentSettings({
        image: 'agent',
        imagePullPolicy: 'Always',
        imagePullSecrets: [],
        resources: {},
        allowImageOverride: false,
        clusterRole: 'agent',
        autoBind: true,
      }),
      delivery: { url: 'https://delivery:9445' },
    },
    notReady: () => [],
    lookup: (_namespace, name) => ({ kind: 'missing', name: name ?? 'x' }),
    clock: systemClock,
    log: silentLog,
    observe: (outcome) => observed.push(outcome),
    ...changed,
  })
  return { observed, post: async (body, headers = {}) => await app.request('/mutate', { method: 'POST', body, headers, duplex: 'half' }) }
}

function review(object: unknown): string {
  const request = { uid: 'u-1', namespace: 'plant', operation: 'CREATE', object }
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })
}

type Answer = { response: { uid: string; allowed: boolean; patchType?: string; patch?: string; warnings?: string[] } }

async function answered(response: Response): Promise<Answer['response']> {
  return ((await response.json()) as Answer).response
}

void t.test('a pod that asks is allowed, with a patch', async (t) => {
  const { post, observed } = setup()
  const response = await answered(await post(review(chartPod())))
  t.match(response, { uid: 'u-1', allowed: true, patchType: 'JSONPatch', warnings: [/GatewaySync "x" does not exist/] })
  const operations = JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString()) as { path: string }[]
  t.ok(operations.some(({ path }) => path === '/spec/initContainers/-'))
  t.same(observed, ['injected'])
})

void t.test('a pod that does not ask is allowed as it is, and no GatewaySync is looked up', async (t) => {
  const { post, observed } = setup({ lookup: () => t.fail('looked up') as never })
  t.same(await answered(await post(review({ ...chartPod(), metadata: {} }))), { uid: 'u-1', allowed: true })
  t.same(observed, ['unchanged'])
})

void t.test('the lookup is told the namespace of the request and the name that the pod gives', async (t) => {
  const asked: unknown[] = []
  const { post } = setup({
    lookup(namespace, name) {
      asked.push([namespace, name])
      return { kind: 'ambiguous', count: 0 }
    },
  })
  await post(review(chartPod()))
  await post(review(chartPod({ 'clustersync.io/gateway-sync': 'mine' })))
  t.same(asked, [
    ['plant', undefined],
    ['plant', 'mine'],
  ])
})

void t.test('a replica that has not listed the GatewaySyncs yet decides about no pod', async (t) => {
  const { post, observed } = setup({ notReady: () => ['the objects of the cluster have not been listed yet'] })
  const response = await post('{}')
  t.equal(response.status, 503)
  t.strictSame(observed, ['failed'])
})

void t.test('a review that meets a bug is counted as failed', async (t) => {
  const settings = {
    get agent(): never {
      throw new TypeError('a bug')
    },
    delivery: { url: '' },
  }
  const { post, observed } = setup({ settings })
  t.equal((await post(review(chartPod()))).status, 500)
  t.strictSame(observed, ['failed'])
})

void t.test('a lookup that fails makes an idle agent, not a refusal', async (t) => {
  const { post } = setup({ lookup: () => Promise.reject(new Fault('ApiUnavailable', 'away')) })
  t.match(await answered(await post(review(chartPod()))), { allowed: true, patchType: 'JSONPatch', warnings: [/could not be read: away/] })
})

void t.test('a lookup that never answers makes an idle agent', async (t) => {
  const { post } = setup({ lookup: () => new Promise(() => {}), clock: { ...systemClock, wait: async () => {} } })
  t.match(await answered(await post(review(chartPod()))), { allowed: true, warnings: [/no answer within 2000 ms/] })
})

void t.test('an object that is no pod is allowed with a warning', async (t) => {
  const { post, observed } = setup()
  const pods = [null, 'pod', {}, { metadata: {}, spec: { containers: 'none' } }]
  for (const pod of pods) t.match(await answered(await post(review(pod))), { uid: 'u-1', allowed: true, warnings: [/not a pod/] })
  t.same(
    observed,
    pods.map(() => 'malformed'),
  )
})

void t.test('a body that is no review is a bad request', async (t) => {
  const { post } = setup()
  for (const body of ['', '{', 'null', '[]', '{"kind":"AdmissionReview"}']) t.equal((await post(body)).status, 400, body)
})

void t.test('a body that is too large is refused, with and without its length', async (t) => {
  const { post } = setup()
  t.equal((await post('x', { 'content-length': String(4 * 1024 * 1024) })).status, 413, 'by its length, unread')
  let pulled = 0
  const endless = new ReadableStream({
    pull(controller) {
      pulled += 1
      controller.enqueue(new Uint8Array(1024 * 1024))
    },
  })
  const { post: stream } = setup()
  const response = await stream(endless, { 'transfer-encoding': 'chunked' })
  t.equal(response.status, 413, 'by what arrives')
  t.ok(pulled < 8, `${pulled} MiB were read`)
})
