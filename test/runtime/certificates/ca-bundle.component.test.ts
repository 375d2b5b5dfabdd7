/**
 * A mounted certificate that no issuer injects into the webhooks: the operator keeps the CA in the webhook configuration.
 */
import t from 'tap'
import { nextCertificates } from '../../../runtime/certificates/rotation.ts'
import { createServing } from '../../../runtime/certificates/serving.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { Kube } from '../../../runtime/kube/client.ts'
import type { KubeObject } from '../../../runtime/kube/types.ts'
import { type Log, silentLog } from '../../../runtime/platform/log/log.ts'
import { Temporal } from '../../../runtime/platform/temporal.ts'
import { steppedClock } from '../../support/stepped-clock.ts'
import { keepCaBundle } from '../../../runtime/certificates/ca-bundle.ts'

async function issued(): Promise<{ cert: string; key: string; caBundle: string }> {
  const { leaf, caBundle } = await nextCertificates(undefined, { dnsNames: ['localhost'], now: Temporal.Now.instant() })
  return { cert: leaf.certificate, key: leaf.key, caBundle }
}

type Configuration = KubeObject & { webhooks: { name: string; clientConfig: { caBundle?: string } }[] }

/** A webhook configuration as the API server stores it. */
function cluster(): {
  kube: Pick<Kube, 'get' | 'mergePatch'>
  trusted(): string | undefined
  applyAgain(): void
  refuse(yes: boolean): void
} {
  const fresh = (): Configuration['webhooks'] => [{ name: 'inject.clustersync.io', clientConfig: {} }]
  const metadata = { name: 'plant', uid: 'u', resourceVersion: '1' }
  let webhooks = fresh()
  let refusing = false
  return {
    kube: {
      get: async () => ({ apiVersion: 'v1', kind: 'MutatingWebhookConfiguration', metadata, webhooks }) as never,
      mergePatch: async (_type, _key, patch) => {
        if (refusing) throw new Fault('Forbidden', 'not allowed')
        webhooks = (patch as Configuration).webhooks
        return { apiVersion: 'v1', kind: 'MutatingWebhookConfiguration', metadata } as never
      },
    },
    trusted: () => webhooks[0]?.clientConfig.caBundle,
    applyAgain: () => (webhooks = fresh()),
    refuse: (yes) => (refusing = yes),
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

void t.test('the webhook trusts the mounted CA, a renewed CA, and again after the manifests were reapplied', async (t) => {
  const [first, second] = [await issued(), await issued()]
  const serving = createServing(first)
  const { kube, trusted, applyAgain } = cluster()
  const { clock, step } = steppedClock()
  const keeper = keepCaBundle({ kube, clock, log: silentLog }, { ...serving, run: async () => {} }, 'plant')
  t.equal(keeper.current().cert, first.cert)
  const stop = new AbortController()
  const running = keeper.run(stop.signal)
  await step(15_000)
  t.equal(trusted(), base64(first.caBundle))
  serving.show(second)
  await step(15_000)
  t.equal(trusted(), base64(second.caBundle))
  applyAgain()
  t.equal(trusted(), undefined)
  await step(15_000)
  t.equal(trusted(), base64(second.caBundle))
  stop.abort()
  await running
})

void t.test('a rejected update of the webhook configuration is logged and retried', async (t) => {
  const first = await issued()
  const { kube, trusted, refuse } = cluster()
  const { clock, step } = steppedClock()
  const told: unknown[] = []
  const log: Log = { ...silentLog, warn: ({ reason }) => told.push(reason) }
  const keeper = keepCaBundle({ kube, clock, log }, { ...createServing(first), run: async () => {} }, 'plant')
  refuse(true)
  const stop = new AbortController()
  const running = keeper.run(stop.signal)
  await step(15_000)
  t.strictSame(told, ['Forbidden', 'Forbidden'], 'each attempt is logged')
  t.notOk(keeper.isTrusted(), 'admission would fail')
  refuse(false)
  await step(15_000)
  t.equal(trusted(), base64(first.caBundle))
  t.ok(keeper.isTrusted())
  stop.abort()
  await running
})

void t.test('a replica without permission to update the webhook is ready after one minute, because agents need content', async (t) => {
  const { kube, refuse } = cluster()
  const { clock, step } = steppedClock()
  const keeper = keepCaBundle({ kube, clock, log: silentLog }, { ...createServing(await issued()), run: async () => {} }, 'plant')
  refuse(true)
  const stop = new AbortController()
  const running = keeper.run(stop.signal)
  await step(45_000)
  t.notOk(keeper.isTrusted())
  await step(15_000)
  t.ok(keeper.isTrusted())
  stop.abort()
  await running
})
