/**
 * What runs the controller: its kind, its updates, its claims, its budget for disruptions.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { version } from '../../../runtime/version.ts'
import type { Manifest } from '../../support/manifest.ts'
import { deploymentOf, everything, fullname, objectsOf, settingsOf } from '../installed.ts'

void t.test('a version is no part of a selector, so that an upgrade is one', async (t) => {
  t.notMatch(JSON.stringify(deploymentOf(objectsOf({})).spec.selector), version)
})

void t.test('mirrors on claims: a StatefulSet makes one for each replica, and none of its labels ever changes', async (t) => {
  const objects = objectsOf(everything)
  const { kind, metadata, spec } = deploymentOf(objects)
  t.same([kind, metadata.name], ['StatefulSet', fullname])
  t.same(spec.volumeClaimTemplates, [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'source', labels: spec.selector.matchLabels },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'fast',
        resources: { requests: { storage: '1Gi' } },
        volumeMode: 'Filesystem',
      },
    },
  ])
  t.match(spec, {
    serviceName: `${fullname}-delivery`,
    podManagementPolicy: 'Parallel',
    persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Delete' },
  })
  const { volumes, containers } = spec.template.spec
  t.notOk(
    volumes.some(({ name }) => name === 'source'),
    'no other volume takes its place',
  )
  t.ok(containers[0].volumeMounts.some(({ name, mountPath }) => name === 'source' && mountPath === '/var/lib/cluster-sync'))
  t.match(settingsOf(objects).source, { folder: '/var/lib/cluster-sync/mirrors', sizeLimit: '128e6' })
})

void t.test('without leader election an update never runs two replicas at a time', async (t) => {
  const strategy = (enabled: boolean) => deploymentOf(objectsOf({ leaderElection: { enabled } })).spec.strategy.type
  t.equal(strategy(false), 'Recreate')
  t.equal(strategy(true), 'RollingUpdate')
})

void t.test('a budget for disruptions is there when there is more than one replica, and can be left out', async (t) => {
  const budgets = (values: ValuesInput): Manifest[] => objectsOf(values).filter(({ kind }) => kind === 'PodDisruptionBudget')
  t.same(budgets({}), [])
  t.same(budgets({ replicaCount: 3, podDisruptionBudget: { enabled: false } }), [])
  t.match(budgets({ replicaCount: 3, podDisruptionBudget: { minAvailable: 2 } }), [
    { spec: { minAvailable: 2, selector: deploymentOf(objectsOf({})).spec.selector } },
  ])
})
