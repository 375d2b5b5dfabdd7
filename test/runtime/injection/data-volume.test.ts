/**
 * Which volume of a pod contains the gateway's data.
 */
import t from 'tap'
import { containsText, matchObject } from '../../support/assertions.ts'
import { env, gateway, inject } from '../../support/injected.ts'
import { barePod, chartPod } from '../../support/pods.ts'

void t.test("the data volume is found with the gateway's mount path and subPath", async (t) => {
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
    t.strictSame(agent.volumeMounts?.[0], expected, name)
    t.equal(env(agent)['CLUSTER_SYNC_DATA_DIR'], (expected as { mountPath: string }).mountPath, name)
    const others = warnings.filter((text) => !text.includes('Guaranteed'))
    if (warning === undefined) t.strictSame(others, [], name)
    else containsText(t, others[0], warning, name)
  }
})

void t.test('a mount of a part or a parent of the data directory is not taken for it', async (t) => {
  const dataDir = '/usr/local/bin/ignition/data'
  const cases: [string[], string][] = [
    [[`${dataDir}/projects`, `${dataDir}/config`], `${dataDir}/projects`],
    [[`${dataDir}/config/`], `${dataDir}/config`],
    [['/usr/local/bin/ignition'], '/usr/local/bin/ignition'],
    [['/usr/local/bin'], '/usr/local/bin'],
  ]
  for (const [paths, told] of cases) {
    const pod = chartPod()
    pod.spec.volumes = [{ name: 'data', emptyDir: {} }]
    gateway(pod)['volumeMounts'] = paths.map((mountPath, index) => ({ name: 'data', mountPath, subPath: `part-${index}` }))
    const { agent, warnings } = inject(pod)
    t.notOk('CLUSTER_SYNC_DATA_DIR' in env(agent), told)
    const why = `volume "data" is mounted at ${told}, which is not the data directory; mount the whole data directory, ${dataDir}`
    t.strictSame(
      warnings.filter((text) => !text.includes('Guaranteed')),
      [`${why}; the agent stays idle`],
    )
  }
})

void t.test('a pod without a data volume gets an idle agent and a warning how to name the volume', async (t) => {
  const { agent, warnings, pod } = inject(barePod())
  t.notOk('CLUSTER_SYNC_DATA_DIR' in env(agent))
  matchObject(t, warnings, [/no volume ignition-data or data; name it in the annotation clustersync.io\/data-volume; the agent stays idle/])
  t.equal(pod.spec.volumes?.length, 3)
  const several = chartPod()
  several.spec.volumes = ['data', 'ignition-data'].map((name) => ({ name, emptyDir: {} }))
  gateway(several)['volumeMounts'] = [{ name: 'data', mountPath: '/d' }]
  const ambiguous = inject(several)
  t.notOk('CLUSTER_SYNC_DATA_DIR' in env(ambiguous.agent), 'nobody guesses which of two is meant')
  matchObject(t, ambiguous.warnings, [/has the volumes ignition-data and data, none of them mounted at/, /loses the class Guaranteed/])
  const misnamed = inject(chartPod({ 'clustersync.io/data-volume': 'dta' }))
  matchObject(t, misnamed.warnings, [/the pod has no volume "dta"; it has: data/, /loses the class Guaranteed/])
})
