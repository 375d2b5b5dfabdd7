/**
 * Which volume of a pod holds the gateway's data.
 */
import t from 'tap'
import { env, gateway, inject } from '../../support/injected.ts'
import { barePod, chartPod } from '../../support/pods.ts'

void t.test('the data volume is found as the gateway has it', async (t) => {
  const cases: { name: string; annotation?: string; volumes: string[]; mount?: object; expected: object; warning?: RegExp }[] = [
    { name: "is the chart's", volumes: ['data'], expected: { name: 'data', mountPath: '/usr/local/bin/ignition/data' } },
    {
      name: "is, of several, the one at the gateway's data directory",
      volumes: ['data', 'ignition-data', 'plant-store'],
      mount: { name: 'plant-store', mountPath: '/usr/local/bin/ignition/data/' },
      expected: { name: 'plant-store', mountPath: '/usr/local/bin/ignition/data/' },
    },
    {
      name: 'is the one that the annotation names',
      annotation: 'plant-store',
      volumes: ['data', 'plant-store'],
      mount: { name: 'plant-store', mountPath: '/x/' },
      expected: { name: 'plant-store', mountPath: '/x/' },
    },
    {
      name: "keeps the gateway's subPath",
      volumes: ['data'],
      mount: { name: 'data', mountPath: '/d', subPath: 'gw/data' },
      expected: { name: 'data', mountPath: '/d', subPath: 'gw/data' },
    },
    {
      name: 'keeps what a subPathExpr is made of',
      volumes: ['data'],
      mount: { name: 'data', mountPath: '/d', subPathExpr: '$(GATEWAY_POD_INDEX)/$$(X)' },
      expected: { name: 'data', mountPath: '/d', subPathExpr: '$(CLUSTER_SYNC_COPY_GATEWAY_POD_INDEX)/$$(X)' },
    },
    {
      name: 'is written even where the gateway only reads it, with a warning',
      volumes: ['data'],
      mount: { name: 'data', mountPath: '/d', readOnly: true },
      expected: { name: 'data', mountPath: '/d' },
      warning: /read-only/,
    },
    {
      name: 'that the gateway does not mount is taken whole, with a warning',
      volumes: ['data'],
      mount: { name: 'other', mountPath: '/d' },
      expected: { name: 'data', mountPath: '/usr/local/bin/ignition/data' },
      warning: /does not mount the data volume "data"/,
    },
  ]
  for (const { name, annotation, volumes, mount, expected, warning } of cases) {
    const pod = chartPod(annotation === undefined ? {} : { 'clustersync.io/data-volume': annotation })
    pod.spec.volumes = volumes.map((volume) => ({ name: volume, emptyDir: {} }))
    if (mount !== undefined) gateway(pod)['volumeMounts'] = [mount]
    const { agent, warnings } = inject(pod)
    t.same(agent.volumeMounts?.[0], expected, name)
    t.equal(env(agent)['CLUSTER_SYNC_DATA_DIR'], (expected as { mountPath: string }).mountPath, name)
    const others = warnings.filter((text) => !text.includes('Guaranteed'))
    if (warning === undefined) t.same(others, [], name)
    else t.match(others[0], warning, name)
  }
})

void t.test('a pod without a data volume gets an idle agent and is told how to name the volume', async (t) => {
  const { agent, warnings, pod } = inject(barePod())
  t.notOk('CLUSTER_SYNC_DATA_DIR' in env(agent))
  t.match(warnings, [/no volume ignition-data or data; name it in the annotation clustersync.io\/data-volume; the agent stays idle/])
  t.equal(pod.spec.volumes?.length, 3)
  const several = chartPod()
  several.spec.volumes = ['data', 'ignition-data'].map((name) => ({ name, emptyDir: {} }))
  gateway(several)['volumeMounts'] = [{ name: 'data', mountPath: '/d' }]
  const ambiguous = inject(several)
  t.notOk('CLUSTER_SYNC_DATA_DIR' in env(ambiguous.agent), 'nobody guesses which of two is meant')
  t.match(ambiguous.warnings, [/has the volumes ignition-data and data, none of them mounted at/])
  const misnamed = inject(chartPod({ 'clustersync.io/data-volume': 'dta' }))
  t.match(misnamed.warnings, [/the pod has no volume "dta"; it has: data/])
})
