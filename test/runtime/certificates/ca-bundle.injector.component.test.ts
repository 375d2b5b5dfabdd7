/**
 * A certificate issued by cert-manager: a replica is ready once the webhook configurations contain the certificate's CA.
 */
import t from 'tap'
import { nextCertificates } from '../../../runtime/certificates/rotation.ts'
import { createServing } from '../../../runtime/certificates/serving.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { Kube } from '../../../runtime/kube/client.ts'
import { type Log, silentLog } from '../../../runtime/platform/log/log.ts'
import { Temporal } from '../../../runtime/platform/temporal.ts'
import { steppedClock } from '../../support/stepped-clock.ts'
import { until } from '../../support/world.ts'
import { awaitCaBundle } from '../../../runtime/certificates/ca-bundle.ts'

async function issued(): Promise<{ cert: string; key: string; caBundle: string }> {
  const { leaf, caBundle } = await nextCertificates(undefined, { dnsNames: ['localhost'], now: Temporal.Now.instant() })
  return { cert: leaf.certificate, key: leaf.key, caBundle }
}

/** One configuration with two webhooks and the current content of `bundles`. */
function kubeOf(bundles: () => (string | undefined)[]): Pick<Kube, 'get'> {
  return {
    get: async () => {
      const webhooks = bundles().map((text) => ({
        clientConfig: text === undefined ? {} : { caBundle: Buffer.from(text).toString('base64') },
      }))
      return {
        apiVersion: 'v1',
        kind: 'Configuration',
        metadata: { name: 'plant', uid: 'u', resourceVersion: '1' },
        webhooks,
      } as never
    },
  }
}

void t.test('a certificate is trusted once every webhook has its CA, and not with another CA', async (t) => {
  const [own, other] = [await issued(), await issued()]
  let bundles: (string | undefined)[] = [undefined, undefined]
  const { clock, step } = steppedClock()
  const keeper = awaitCaBundle(
    { kube: kubeOf(() => bundles), clock, log: silentLog },
    { ...createServing(own), run: async () => {} },
    'plant',
  )
  const running = keeper.run(AbortSignal.timeout(30_000))
  for (const wrong of [
    [undefined, undefined],
    [other.caBundle, own.caBundle],
    [own.caBundle, undefined],
    ['none', own.caBundle],
  ]) {
    bundles = wrong
    await step(1_000)
    await step(1_000)
    t.notOk(keeper.isTrusted(), JSON.stringify(wrong.map((text) => text?.slice(0, 10))))
  }
  bundles = [own.caBundle, `${other.caBundle}${own.caBundle}`]
  void step(1_000)
  await until(() => keeper.isTrusted() || undefined, 'it is trusted')
  await running
})

void t.test('a replica without the CA after a minute, or without permission to read it, works and logs a warning', async (t) => {
  const told: unknown[] = []
  const log: Log = { ...silentLog, warn: ({ reason }) => told.push(reason) }
  const { clock, step } = steppedClock()
  const keepers = { ...createServing(await issued()), run: async () => {} }
  const late = awaitCaBundle({ kube: kubeOf(() => [undefined]), clock, log }, keepers, 'plant')
  const running = late.run(AbortSignal.timeout(30_000))
  await step(59_000)
  t.notOk(late.isTrusted())
  void step(1_000)
  await until(() => late.isTrusted() || undefined, 'it goes on')
  await running
  const forbidden: Pick<Kube, 'get'> = { get: async () => await Promise.reject(new Fault('Forbidden', 'not allowed')) }
  const blind = awaitCaBundle({ kube: forbidden, clock, log }, keepers, 'plant')
  await blind.run(AbortSignal.timeout(30_000))
  t.ok(blind.isTrusted())
  t.strictSame(told, ['Timeout', 'Forbidden'])
})
