/**
 * The certificates of admission in a cluster: the keeper writes the trusted authorities to the webhook configuration, and no call fails
 * while they change.
 */
import t from 'tap'
import { matchObject } from '../support/assertions.ts'
import { openSelfManaged } from '../../runtime/certificates/self-managed.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { type KubeObject, secretType, webhookConfigurationType } from '../../runtime/kube/types.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'
import { agentsOf, openAdmission } from '../support/admission.ts'
import { barePod } from '../support/pods.ts'
import { requires } from '../support/requires.ts'
import { steppedClock } from '../support/stepped-clock.ts'

void t.test('an API server trusts admission through every change of its certificates', { timeout: 600_000 }, async (t) => {
  if (!requires(t)) return
  const { kube, signal, operator, configuration, keeper, moveTo, namespace, admit, admitSoon } = await openAdmission(t)
  const plant = await namespace('plant')

  await t.test('the keeper writes the trusted authorities to the webhook configuration', async (t) => {
    const installed = (await kube.get(webhookConfigurationType, { name: configuration }, signal)) as KubeObject & {
      webhooks: { clientConfig: { caBundle?: string } }[]
    }
    const [only] = installed.webhooks
    t.equal(Buffer.from(only?.clientConfig.caBundle ?? '', 'base64').toString(), keeper.current().caBundle)
    t.equal(keeper.current().caBundle.match(/BEGIN/g)?.length, 2, 'the next one is announced')
  })

  await t.test('no call fails while the authority is replaced', async (t) => {
    const before = keeper.current()
    let admitted = 0
    let rotated = false
    const load = async (): Promise<void> => {
      for (let after = 0; after < 10;) {
        t.equal(agentsOf(await admit(plant, barePod())).length, 1)
        admitted += 1
        if (rotated) after += 1
      }
    }
    const running = Promise.all([load(), load()])
    await moveTo(Temporal.Now.instant())
    rotated = true
    await running
    t.not(keeper.current().cert, before.cert)
    t.strictSame(
      keeper
        .current()
        .caBundle.match(/-----BEGIN[^]+?END CERTIFICATE-----\n/g)
        ?.toReversed(),
      before.caBundle.match(/-----BEGIN[^]+?END CERTIFICATE-----\n/g),
      'the announced authority signs, the old one is still trusted',
    )
    t.ok(admitted >= 20)
  })

  await t.test('a webhook that was applied without its authority is trusted again', async (t) => {
    const read = async () =>
      (await kube.get(webhookConfigurationType, { name: configuration }, signal)) as KubeObject & { webhooks: { clientConfig: object }[] }
    const { webhooks } = await read()
    const bare = webhooks.map((hook) => ({ ...hook, clientConfig: { ...hook.clientConfig, caBundle: null } }))
    await kube.mergePatch(webhookConfigurationType, { name: configuration }, { webhooks: bare }, {}, signal)
    await moveTo(Temporal.Now.instant())
    await admitSoon(plant)
    for (const { clientConfig } of (await read()).webhooks) matchObject(t, clientConfig, { caBundle: /./ })
  })

  await t.test('replicas that start together serve one certificate, and a deleted Secret is restored unchanged', async (t) => {
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
