/**
 * A certificate of cert-manager: a replica is ready once somebody has told the API server whom to trust.
 */
import t from 'tap'
import { awaitCaBundle } from '../../../runtime/certificates/await-ca-bundle.ts'
import { nextCertificates } from '../../../runtime/certificates/rotation.ts'
import { createServing } from '../../../runtime/certificates/serving.ts'
import { Fault } from '../../../runtime/fault.ts'
import type { Kube } from '../../../runtime/kube/client.ts'
import type { KubeObject } from '../../../runtime/kube/types.ts'
import { type Log, silentLog } from '../../../runtime/log.ts'
import { steppedClock } from '../../support/stepped-clock.ts'
import { until } from '../../support/world.ts'

async function issued(): Promise<{ cert: string; key: string; caBundle: string }> {
  const { leaf, caBundle } = await nextCertificates(undefined, { dnsNames: ['localhost'], now: Temporal.Now.instant() })
  return { cert: leaf.certificate, key: leaf.key, caBundle }
}

/** Two webhooks of one configuration, with what `bundles` holds at the time. */
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
      } as KubeObject
    },
  }
}

void t.test('it is trusted once every webhook has its authority, and not by that of another', async (t) => {
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

void t.test('after a minute without an authority, and where it may not look, a replica works all the same and says so', async (t) => {
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
  t.same(told, ['Timeout', 'Forbidden'])
})
