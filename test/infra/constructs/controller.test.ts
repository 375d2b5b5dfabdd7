/**
 * The workload of the controller: its kind, updates, volume claims and disruption budget.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { version } from '../../../runtime/platform/version.ts'
import { lacksText, matchObject } from '../../support/assertions.ts'
import type { Manifest } from '../../support/manifest.ts'
import { deploymentOf, everything, fullname, objectsOf, settingsOf } from '../installed.ts'

void t.test('the selector does not contain the version, so an upgrade can keep it', async (t) => {
  lacksText(t, JSON.stringify(deploymentOf(objectsOf({})).spec.selector), version)
})

void t.test('with persistence a StatefulSet creates one claim per replica, with labels that never change', async (t) => {
  const objects = objectsOf(everything)
  const { kind, metadata, spec } = deploymentOf(objects)
  t.strictSame([kind, metadata.name], ['StatefulSet', fullname])
  t.strictSame(spec.volumeClaimTemplates, [
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
  matchObject(t, spec, {
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
  matchObject(t, settingsOf(objects).source, { folder: '/var/lib/cluster-sync/mirrors', sizeLimit: '128e6' })
})

void t.test('without leader election an update never runs two replicas at a time', async (t) => {
  const strategy = (enabled: boolean) => deploymentOf(objectsOf({ leaderElection: { enabled } })).spec.strategy.type
  t.equal(strategy(false), 'Recreate')
  t.equal(strategy(true), 'RollingUpdate')
})

void t.test('a disruption budget exists with more than one replica, unless disabled', async (t) => {
  const budgets = (values: ValuesInput): Manifest[] => objectsOf(values).filter(({ kind }) => kind === 'PodDisruptionBudget')
  t.strictSame(budgets({}), [])
  t.strictSame(budgets({ replicaCount: 3, podDisruptionBudget: { enabled: false } }), [])
  matchObject(t, budgets({ replicaCount: 3, podDisruptionBudget: { minAvailable: 2 } }), [
    { spec: { minAvailable: 2, selector: deploymentOf(objectsOf({})).spec.selector } },
  ])
})
