/**
 * The rights that `cluster-sync check` asks about are those that the manifests grant, in both directions.
 */
import { App } from 'cdk8s'
import t from 'tap'
import { OperatorChart } from '../../../infra/operator-chart.ts'
import type { ValuesInput } from '../../../infra/values.ts'
import { settingsOf, type Workload } from '../../../runtime/cli/check/settings.ts'
import { agentRights, controllerRights, rightInWords } from '../../../runtime/fleet/check/rights.ts'
import type { Manifest } from '../../support/manifest.ts'
import { inWords, type Right, rightsOf } from '../../support/rights.ts'

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

void t.test('the rights that are asked about are those that the roles grant', async (t) => {
  for (const [name, values] of profiles) {
    const manifests = new OperatorChart(new App(), 'operator', { release, values, onWarning: () => {} }).toJson() as Manifest[]
    const deployment = manifests.find(({ kind }) => kind === 'Deployment') as unknown as { spec: Workload }
    const found = settingsOf(deployment.spec)
    if (found === undefined) {
      t.fail(`${name}: the settings cannot be read`)
      continue
    }
    const granted = (suffixes: readonly string[]): Right[] =>
      manifests
        .filter(
          ({ kind, metadata }) =>
            (kind === 'ClusterRole' || kind === 'Role') &&
            suffixes.some((suffix) => metadata.name === `${found.settings.fullname}${suffix}`),
        )
        .flatMap(rightsOf)
    const said = (rights: readonly Right[]): string[] => rights.map(inWords).toSorted()
    const asked = controllerRights(found.settings).map(({ verb, group, resource, name }) =>
      inWords({ role: '', verb, group, resource, name, namespace: undefined }),
    )
    t.same(asked.toSorted(), said(granted(['', '-controller', '-watched'])), name)
    const ofAgents = agentRights.map(({ verb, group, resource, name }) =>
      inWords({ role: '', verb, group, resource, name, namespace: undefined }),
    )
    t.same(ofAgents.toSorted(), said(granted(['-agent'])), `${name}: agents`)
  }
})

void t.test('a right is said as kubectl names it', async (t) => {
  t.equal(
    rightInWords({ verb: 'patch', group: 'clustersync.io', resource: 'gatewaysyncs/status', name: undefined }),
    'patch gatewaysyncs.clustersync.io/status',
  )
  t.equal(rightInWords({ verb: 'get', group: '', resource: 'secrets', name: 'x' }), 'get secrets "x"')
})
