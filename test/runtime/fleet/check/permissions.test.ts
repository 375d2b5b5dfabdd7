/**
 * The permissions that `cluster-sync check` checks are exactly those that the manifests grant.
 */
import type { Json } from '../../../../runtime/kube/types.ts'
import type { V1PodSpec } from '@kubernetes/client-node'
import { App } from 'cdk8s'
import t from 'tap'
import { OperatorChart } from '../../../../infra/operator-chart.ts'
import type { ValuesInput } from '../../../../infra/values.ts'
import { settingsOf } from '../../../../runtime/cli/check/installations.ts'
import { agentPermissions, controllerPermissions, permissionText } from '../../../../runtime/fleet/check/permissions.ts'
import type { Manifest } from '../../../support/manifest.ts'
import { inWords, type Permission, rightsOf } from '../../../support/rights.ts'

const release = { name: 'cs', namespace: 'cs' }

const profiles: [string, ValuesInput][] = [
  ['the defaults', {}],
  ['its own certificate', { certManager: { enabled: false } }],
  ['an open receiver', { webhookReceiver: { enabled: true } }],
  ['a receiver with a key', { webhookReceiver: { enabled: true, token: { secret: 'a-token-for-the-test' } } }],
  ['no leader election', { leaderElection: { enabled: false }, replicaCount: 1 }],
  ['bindings of the user', { rbac: { autoBindAgent: { enabled: false } } }],
  ['no webhook', { webhook: { enabled: false }, certManager: { enabled: false } }],
  ['some namespaces', { watchNamespaces: ['a', 'b'] }],
]

void t.test('the checked permissions are those that the roles grant', async (t) => {
  for (const [name, values] of profiles) {
    const manifests = new OperatorChart(new App(), 'operator', { release, values, onWarning: () => {} }).toJson() as Manifest[]
    const deployment = manifests.find(({ kind }) => kind === 'Deployment') as unknown as { spec: { template: { spec: Json<V1PodSpec> } } }
    const found = settingsOf(deployment.spec.template.spec)
    if (found === undefined) {
      t.fail(`${name}: the settings cannot be read`)
      continue
    }
    const granted = (suffixes: readonly string[]): Permission[] =>
      manifests
        .filter(
          ({ kind, metadata }) =>
            (kind === 'ClusterRole' || kind === 'Role') &&
            suffixes.some((suffix) => metadata.name === `${found.settings.fullname}${suffix}`),
        )
        .flatMap(rightsOf)
    const said = (rights: readonly Permission[]): string[] => rights.map(inWords).toSorted()
    const asked = controllerPermissions(found.settings).map(({ verb, group, resource, name }) =>
      inWords({ role: '', verb, group, resource, name, namespace: undefined }),
    )
    t.strictSame(asked.toSorted(), said(granted(['', '-controller', '-watched'])), name)
    const ofAgents = agentPermissions.map(({ verb, group, resource, name }) =>
      inWords({ role: '', verb, group, resource, name, namespace: undefined }),
    )
    t.strictSame(ofAgents.toSorted(), said(granted(['-agent'])), `${name}: agents`)
  }
})

void t.test('a permission is named as in kubectl', async (t) => {
  t.equal(
    permissionText({ verb: 'patch', group: 'clustersync.io', resource: 'gatewaysyncs/status', name: undefined }),
    'patch gatewaysyncs.clustersync.io/status',
  )
  t.equal(permissionText({ verb: 'get', group: '', resource: 'secrets', name: 'x' }), 'get secrets "x"')
})
