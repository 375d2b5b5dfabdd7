/**
 * The controller's account and its permissions: only what its calls need, and only in its namespaces.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { deploymentOf, everything, everythingOff, fullname, type Kinds, objectsOf, one } from '../installed.ts'
import { containsText, lacksText, matchObject } from '../../support/assertions.ts'

void t.test('an existing account with another name is bound and not created', async (t) => {
  const objects = objectsOf({ serviceAccount: { create: false, name: 'syncer' }, watchNamespaces: ['a'] })
  t.strictSame(
    objects.filter(({ kind }) => kind === 'ServiceAccount'),
    [],
  )
  t.equal(deploymentOf(objects).spec.template.spec.serviceAccountName, 'syncer')
  const subjects = objects.flatMap((object) => (object['subjects'] ?? []) as { name: string; namespace: string }[])
  t.ok(subjects.length > 0)
  for (const subject of subjects) matchObject(t, subject, { name: 'syncer', namespace: 'operators' })
  // The stages policy checks the verb instead of the account.
  const policies = objects.filter(({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && !metadata.name.endsWith('-stages'))
  t.equal(policies.length, 4)
  for (const policy of policies) containsText(t, JSON.stringify(policy), 'system:serviceaccount:operators:syncer')
  t.equal(one(objectsOf(everything), 'ServiceAccount').metadata.name, 'syncer')
})

void t.test('the controller may bind only the agent role, and only if binding is enabled', async (t) => {
  const binding = (values: ValuesInput): unknown =>
    one(objectsOf(values), 'ClusterRole', `${fullname}-watched`)
      .rules.filter(({ verbs }) => verbs.includes('bind'))
      .map(({ resources, resourceNames }) => [resources, resourceNames])
  t.strictSame(binding({}), [[['clusterroles'], [`${fullname}-agent`]]])
  t.strictSame(binding({ rbac: { autoBindAgent: { enabled: false } } }), [])
})

void t.test('an installation for some namespaces may not read or write in others', async (t) => {
  const bound = (values: ValuesInput): unknown =>
    objectsOf(values)
      .filter(({ kind, metadata }) => kind.endsWith('Binding') && metadata.name === `${fullname}-watched`)
      .map(({ kind, metadata, roleRef, subjects }) => [kind, metadata['namespace'], (roleRef as { kind: string }).kind, subjects])
  const account = [{ kind: 'ServiceAccount', name: fullname, namespace: 'operators' }]
  t.strictSame(bound({}), [['ClusterRoleBinding', undefined, 'ClusterRole', account]])
  t.strictSame(bound({ watchNamespaces: ['a', 'b'] }), [
    ['RoleBinding', 'a', 'ClusterRole', account],
    ['RoleBinding', 'b', 'ClusterRole', account],
  ])
  const everywhere = one(objectsOf({}), 'ClusterRole', `${fullname}-controller`).rules
  t.strictSame(
    everywhere.map(({ resources, resourceNames, verbs }) => [resources, resourceNames, verbs]),
    [
      [['tokenreviews'], undefined, ['create']],
      [['subjectaccessreviews'], undefined, ['create']],
      [['mutatingwebhookconfigurations'], [fullname], ['get']],
    ],
    'asked about callers, and of its own webhook',
  )
})

void t.test("an unauthenticated receiver adds permissions for an Event on the controller's own pod", async (t) => {
  const own = (values: ValuesInput): (string[] | undefined)[] => one(objectsOf(values), 'Role').rules.map(({ resources }) => resources)
  const open = { enabled: true }
  t.strictSame(own({ watchNamespaces: ['a'], webhookReceiver: open }), [['leases'], ['leases'], ['pods'], ['events']])
  t.strictSame(own({ watchNamespaces: ['a'], webhookReceiver: { ...open, hmac: { secretRef: { name: 'push' } } } }), [
    ['leases'],
    ['leases'],
  ])
})

void t.test('no role has a wildcard or lists Secrets', async (t) => {
  for (const values of [{}, everything, everythingOff]) {
    const roles = objectsOf(values).filter((object): object is Kinds['Role'] => 'rules' in object && object.kind.endsWith('Role'))
    t.equal(roles.length, values === everythingOff ? 5 : 6)
    for (const { metadata, rules } of roles) {
      lacksText(t, JSON.stringify(rules), '*', metadata.name)
      for (const { resources, verbs } of rules)
        if (resources?.includes('secrets') === true) t.notOk(verbs.includes('list') || verbs.includes('watch'), metadata.name)
    }
  }
})

void t.test('Secrets may be read in the watched namespaces, in the listed ones, or nowhere', async (t) => {
  const bound = (values: ValuesInput): unknown =>
    objectsOf(values)
      .filter(({ kind, metadata }) => kind.endsWith('Binding') && metadata.name === `${fullname}-secrets`)
      .map(({ kind, metadata }) => [kind, metadata['namespace']])
  t.strictSame(bound({}), [['ClusterRoleBinding', undefined]])
  t.strictSame(bound({ watchNamespaces: ['a'] }), [['RoleBinding', 'a']])
  t.strictSame(bound({ rbac: { secrets: { namespaces: ['b', 'c'] } } }), [
    ['RoleBinding', 'b'],
    ['RoleBinding', 'c'],
  ])
  t.strictSame(bound({ rbac: { secrets: { enabled: false } } }), [])
  lacksText(t, JSON.stringify(one(objectsOf({}), 'ClusterRole', `${fullname}-watched`).rules), 'secrets')
})

void t.test('the controller may write only the RoleBinding of agents', async (t) => {
  const rules = one(objectsOf({}), 'ClusterRole', `${fullname}-watched`).rules.filter(({ resources }) =>
    resources?.includes('rolebindings'),
  )
  matchObject(t, rules, [{ resourceNames: [`${fullname}-agent`], verbs: ['create', 'list', 'patch', 'delete'] }])
})
