import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { type AdmissionDeps, admissionApp } from '../../../runtime/injection/app.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { matchObject } from '../../support/assertions.ts'
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
    lookup: ({ name }) => ({ kind: 'missing', name: name ?? 'x' }),
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

void t.test('a pod that requests injection is allowed with a patch', async (t) => {
  const { post, observed } = setup()
  const response = await answered(await post(review(chartPod())))
  matchObject(t, response, {
    uid: 'u-1',
    allowed: true,
    patchType: 'JSONPatch',
    warnings: [/GatewaySync "x" does not exist/, /loses the QoS class Guaranteed/],
  })
  const operations = JSON.parse(Buffer.from(response.patch ?? '', 'base64').toString()) as { path: string }[]
  t.ok(operations.some(({ path }) => path === '/spec/initContainers/-'))
  t.strictSame(observed, ['injected'])
})

void t.test('a pod that does not request injection is allowed unchanged, without a GatewaySync lookup', async (t) => {
  const { post, observed } = setup({ lookup: () => t.fail('looked up') as never })
  t.strictSame(await answered(await post(review({ ...chartPod(), metadata: {} }))), { uid: 'u-1', allowed: true })
  t.strictSame(observed, ['unchanged'])
})

void t.test('the lookup gets the namespace of the request and the GatewaySync name of the pod', async (t) => {
  const asked: unknown[] = []
  const { post } = setup({
    lookup({ namespace, name }) {
      asked.push([namespace, name])
      return { kind: 'ambiguous', count: 0 }
    },
  })
  await post(review(chartPod()))
  await post(review(chartPod({ 'clustersync.io/gateway-sync': 'mine' })))
  t.strictSame(asked, [
    ['plant', undefined],
    ['plant', 'mine'],
  ])
})

void t.test('a replica that has not listed the GatewaySyncs yet answers 503', async (t) => {
  const { post, observed } = setup({ notReady: () => ['the objects of the cluster have not been listed yet'] })
  const response = await post('{}')
  t.equal(response.status, 503)
  t.strictSame(observed, ['failed'])
})

void t.test('a review with an unexpected error is counted as failed', async (t) => {
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

void t.test('a failed lookup injects an idle agent instead of refusing the pod', async (t) => {
  const { post } = setup({ lookup: () => Promise.reject(new Fault('ApiUnavailable', 'away')) })
  matchObject(t, await answered(await post(review(chartPod()))), {
    allowed: true,
    patchType: 'JSONPatch',
    warnings: [/could not be read: away/, /loses the QoS class Guaranteed/],
  })
})

void t.test('a lookup that never answers injects an idle agent', async (t) => {
  const { post } = setup({ lookup: () => new Promise(() => {}), clock: { ...systemClock, wait: async () => {} } })
  matchObject(t, await answered(await post(review(chartPod()))), {
    allowed: true,
    warnings: [/no answer within 2000 ms/, /loses the QoS class Guaranteed/],
  })
})

void t.test('an object that is not a pod is allowed with a warning', async (t) => {
  const { post, observed } = setup()
  const pods = [null, 'pod', {}, { metadata: {}, spec: { containers: 'none' } }]
  for (const pod of pods)
    matchObject(t, await answered(await post(review(pod))), { uid: 'u-1', allowed: true, warnings: [/not a valid pod/] })
  t.strictSame(
    observed,
    pods.map(() => 'malformed'),
  )
})

void t.test('a body that is not a review is a bad request', async (t) => {
  const { post } = setup()
  for (const body of ['', '{', 'null', '[]', '{"kind":"AdmissionReview"}']) t.equal((await post(body)).status, 400, body)
})

void t.test('a body that is too large is rejected, with or without its length', async (t) => {
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
