/**
 * Which image the agent has, and who may pull it.
 */
import t from 'tap'
import { inject, plant, settings, spec } from '../../support/injected.ts'
import { chartPod } from '../../support/pods.ts'

void t.test("the GatewaySync's image is used where the installation permits it", async (t) => {
  const asked = { ...spec, agent: { image: { tag: '2.0.0', pullPolicy: 'Always' } } }
  const refused = inject(chartPod(), { ...plant, spec: asked })
  t.equal(refused.agent['image'], settings.agent.image, 'is not used unless the installation permits it')
  t.match(refused.warnings[0], /spec.agent.image is not used/)
  const agent = { ...settings.agent, allowImageOverride: true }
  const taken = inject(chartPod(), { ...plant, spec: asked }, { agent })
  t.match(taken.agent, { image: 'registry.example:5000/clustersync/agent:2.0.0', imagePullPolicy: 'Always' }, 'names a tag alone')
  const other = inject(chartPod(), { ...plant, spec: { ...spec, agent: { image: { repository: 'other/agent' } } } }, { agent })
  t.equal(other.agent['image'], 'other/agent:1.2.3', 'names a repository alone')
  const spaced = inject(chartPod(), { ...plant, spec: { ...spec, agent: { image: { tag: '2 ' } } } }, { agent })
  t.equal(spaced.agent['image'], settings.agent.image, 'is not used where the API server would refuse the pod')
})

void t.test('pull secrets are added once', async (t) => {
  const pod = chartPod()
  pod.spec.imagePullSecrets = [{ name: 'pull' }]
  const asked = { ...spec, agent: { imagePullSecrets: [{ name: 'pull' }, { name: 'own' }] } }
  t.same(inject(pod, { ...plant, spec: asked }).pod.spec.imagePullSecrets, [{ name: 'pull' }, { name: 'own' }])
})
