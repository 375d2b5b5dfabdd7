/**
 * The agent's resources, and their effect on the pod's QoS class.
 */
import t from 'tap'
import { type Pod } from '../../../runtime/injection/pod.ts'
import { matchObject } from '../../support/assertions.ts'
import { gateway, inject, plant, settings, spec } from '../../support/injected.ts'
import { chartPod, type PodShape } from '../../support/pods.ts'

void t.test("the GatewaySync's resources replace the installation's", async (t) => {
  const equal = { cpu: '50m', memory: '128Mi' }
  const { agent, warnings } = inject(chartPod(), { ...plant, spec: { ...spec, agent: { resources: { requests: equal, limits: equal } } } })
  t.strictSame(agent.resources, { requests: equal, limits: equal })
  t.strictSame(warnings, [])
  matchObject(t, inject(chartPod()).warnings, [/loses the class Guaranteed/])
  const burstable = chartPod()
  gateway(burstable)['resources'] = {}
  t.strictSame(inject(burstable).warnings, [])
})

void t.test('a pod with the QoS class Guaranteed keeps it', async (t) => {
  const equal = { cpu: '500m', memory: '256Mi' }
  const agent = { ...settings.agent, guaranteed: equal }
  const of = (pod: Pod & PodShape, resources?: object) => {
    const sync = resources === undefined ? plant : { ...plant, spec: { ...spec, agent: { resources } } }
    const { agent: container, warnings } = inject(pod, sync, { agent })
    return [container.resources, warnings]
  }
  t.strictSame(of(chartPod()), [{ requests: equal, limits: equal }, []], 'stays so: the agent has equal requests and limits')
  const burstable = chartPod()
  gateway(burstable)['resources'] = { requests: { cpu: '1' }, limits: { cpu: '1', memory: 0 } }
  t.strictSame(
    of(burstable),
    [settings.agent.resources, []],
    'is none where a limit is missing or nothing; there the agent has no CPU limit',
  )
  matchObject(
    t,
    of(chartPod(), { limits: { memory: '1Gi' } }),
    [{ limits: { memory: '1Gi' } }, [/loses the class Guaranteed/]],
    'is as its GatewaySync says',
  )
  const more = { ...settings.agent.resources, limits: { 'ephemeral-storage': '1Gi', memory: '1Gi' } }
  t.strictSame(
    inject(chartPod(), plant, { agent: { ...agent, resources: more } }).agent.resources,
    { requests: equal, limits: { ...equal, 'ephemeral-storage': '1Gi' } },
    'has what else the installation says',
  )
  const whole = chartPod()
  whole.spec['resources'] = { requests: { memory: '2Gi' }, limits: { memory: '2Gi' } }
  const { agent: shared, warnings } = inject(whole, plant, { agent })
  t.notOk('resources' in shared, 'shares them with its agent where they are of the pod as a whole')
  t.strictSame(warnings, [])
})

void t.test('resources that the API server would reject are ignored', async (t) => {
  const cases: [object, object, string[]][] = [
    [{ requests: { memory: '1Gi' }, limits: { memory: '512Mi' } }, settings.agent.resources, ['a request exceeds its limit; not used']],
    [{ requests: { cpu: 1 }, limits: { cpu: '1000m' } }, { requests: { cpu: 1 }, limits: { cpu: '1000m' } }, []],
    [{ requests: { memory: '1G' } }, { requests: { memory: '1G' } }, []],
    [
      { limits: { gpus: 1, memory: '1Gi' } },
      { limits: { memory: '1Gi' } },
      ['gpus is not used; there are: cpu, memory, ephemeral-storage'],
    ],
    [{ limits: { memory: '-1Gi' } }, { limits: {} }, ['memory is not used; there are: cpu, memory, ephemeral-storage']],
  ]
  for (const [resources, expected, warnings] of cases) {
    const result = inject(chartPod(), { ...plant, spec: { ...spec, agent: { resources } } })
    t.strictSame(result.agent.resources, expected)
    const found = result.warnings.filter((text) => !text.includes('Guaranteed'))
    t.strictSame(
      found,
      warnings.map((text) => `spec.agent.resources: ${text}`),
    )
  }
})
