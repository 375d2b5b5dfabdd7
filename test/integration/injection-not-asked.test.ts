/**
 * The pods for which an API server does not call admission, so that the product cannot refuse or delay them.
 */
import t from 'tap'
import { type KubeObject, webhookConfigurationType } from '../../runtime/kube/types.ts'
import { agentsOf, changed, openAdmission } from '../support/admission.ts'
import { barePod, chartPod } from '../support/pods.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

/** The excluded system namespaces, labeled here as covered. */
const clusters = ['kube-system', 'kube-node-lease']

void t.test('an API server does not call admission for other pods', { timeout: 600_000 }, async (t) => {
  if (!requires(t)) return
  const { kube, signal, configuration, namespace, namespaceSelector, admit, outcomes } = await openAdmission(t, clusters)
  const plant = await namespace('plant')

  await t.test('admission is not called for pods that do not request an agent', async (t) => {
    const before = outcomes.length
    for (const value of ['false', 'True']) {
      t.strictSame(agentsOf(await admit(plant, chartPod({ 'clustersync.io/inject': value }))), [])
    }
    const bare = changed(barePod(), (pod) => delete pod.metadata.annotations)
    t.strictSame(agentsOf(await admit(plant, bare)), [])
    t.equal(outcomes.length, before)
  })

  await t.test('admission is not called for pods of system namespaces, even if they request an agent', async (t) => {
    const before = outcomes.length
    for (const name of clusters) t.strictSame(agentsOf(await admit(name, barePod())), [], name)
    t.equal(outcomes.length, before)
  })

  await t.test('with a required label admission is not called for namespaces without it', async (t) => {
    const labeled = await namespace('labeled', { 'clustersync.io/injection': 'enabled' })
    const others = [plant, await namespace('disabled', { 'clustersync.io/injection': 'disabled' })]
    const agents = async (namespace: string): Promise<number> => agentsOf(await admit(namespace, barePod())).length
    const require = async (requireLabel: boolean): Promise<void> => {
      const { webhooks } = (await kube.get(webhookConfigurationType, { name: configuration }, signal)) as KubeObject & {
        webhooks: object[]
      }
      const changes = { webhooks: webhooks.map((hook) => ({ ...hook, namespaceSelector: namespaceSelector(requireLabel) })) }
      await kube.mergePatch(webhookConfigurationType, { name: configuration }, changes, {}, signal)
      const desired = requireLabel ? 0 : 1
      await until(async () => ((await agents(plant)) === desired ? true : undefined), 'the API server acts upon the change')
    }
    t.equal(await agents(labeled), 1)
    for (const namespace of others) t.equal(await agents(namespace), 1, 'until a label is required')
    await require(true)
    t.equal(await agents(labeled), 1)
    for (const namespace of others) t.equal(await agents(namespace), 0)
    await require(false)
  })
})
