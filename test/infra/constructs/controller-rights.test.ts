/**
 * The controller's account and what it may do: nothing beyond what its calls need, and only where it works.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { deploymentOf, everything, everythingOff, fullname, type Kinds, objectsOf, one } from '../installed.ts'

void t.test('the account: of another name everything is bound to that, and one that is there already is not made', async (t) => {
  const objects = objectsOf({ serviceAccount: { create: false, name: 'syncer' }, watchNamespaces: ['a'] })
  t.same(
    objects.filter(({ kind }) => kind === 'ServiceAccount'),
    [],
  )
  t.equal(deploymentOf(objects).spec.template.spec.serviceAccountName, 'syncer')
  const subjects = objects.flatMap((object) => (object['subjects'] ?? []) as { name: string; namespace: string }[])
  t.ok(subjects.length > 0)
  for (const subject of subjects) t.match(subject, { name: 'syncer', namespace: 'operators' })
  // Who may skip stages is asked by the verb.
  const policies = objects.filter(({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && !metadata.name.endsWith('-stages'))
  t.equal(policies.length, 3)
  for (const policy of policies) t.match(JSON.stringify(policy), 'system:serviceaccount:operators:syncer')
  t.equal(one(objectsOf(everything), 'ServiceAccount').metadata.name, 'syncer')
})

void t.test('the controller may bind exactly the role of agents, and only where it is to bind', async (t) => {
  const binding = (values: ValuesInput): unknown =>
    one(objectsOf(values), 'ClusterRole', `${fullname}-watched`)
      .rules.filter(({ verbs }) => verbs.includes('bind'))
      .map(({ resources, resourceNames }) => [resources, resourceNames])
  t.same(binding({}), [[['clusterroles'], [`${fullname}-agent`]]])
  t.same(binding({ rbac: { autoBindAgent: { enabled: false } } }), [])
})

void t.test('an installation for some namespaces may read and write nothing in others', async (t) => {
  const bound = (values: ValuesInput): unknown =>
    objectsOf(values)
      .filter(({ kind, metadata }) => kind.endsWith('Binding') && metadata.name === `${fullname}-watched`)
      .map(({ kind, metadata, roleRef, subjects }) => [kind, metadata['namespace'], (roleRef as { kind: string }).kind, subjects])
  const account = [{ kind: 'ServiceAccount', name: fullname, namespace: 'operators' }]
  t.same(bound({}), [['ClusterRoleBinding', undefined, 'ClusterRole', account]])
  t.same(bound({ watchNamespaces: ['a', 'b'] }), [
    ['RoleBinding', 'a', 'ClusterRole', account],
    ['RoleBinding', 'b', 'ClusterRole', account],
  ])
  const everywhere = one(objectsOf({}), 'ClusterRole', `${fullname}-controller`).rules
  t.same(
    everywhere.map(({ resources, resourceNames, verbs }) => [resources, resourceNames, verbs]),
    [
      [['tokenreviews'], undefined, ['create']],
      [['subjectaccessreviews'], undefined, ['create']],
      [['mutatingwebhookconfigurations'], [fullname], ['get']],
    ],
    'asked about callers, and of its own webhook',
  )
})

void t.test('a receiver that anyone may use is told of in an event of the own pod, which no other installation may write', async (t) => {
  const own = (values: ValuesInput): (string[] | undefined)[] => one(objectsOf(values), 'Role').rules.map(({ resources }) => resources)
  const open = { enabled: true }
  t.same(own({ watchNamespaces: ['a'], webhookReceiver: open }), [['leases'], ['leases'], ['pods'], ['events']])
  t.same(own({ watchNamespaces: ['a'], webhookReceiver: { ...open, hmac: { secretRef: { name: 'push' } } } }), [['leases'], ['leases']])
})

void t.test('no role has a wildcard, or lists Secrets', async (t) => {
  for (const values of [{}, everything, everythingOff]) {
    const roles = objectsOf(values).filter((object): object is Kinds['Role'] => 'rules' in object && object.kind.endsWith('Role'))
    t.equal(roles.length, values === everythingOff ? 5 : 6)
    for (const { metadata, rules } of roles) {
      t.notMatch(JSON.stringify(rules), '*', metadata.name)
      for (const { resources, verbs } of rules)
        if (resources?.includes('secrets') === true) t.notOk(verbs.includes('list') || verbs.includes('watch'), metadata.name)
    }
  }
})

void t.test('Secrets are read where that is needed: in the watched namespaces, in those that are named, or nowhere', async (t) => {
  const bound = (values: ValuesInput): unknown =>
    objectsOf(values)
      .filter(({ kind, metadata }) => kind.endsWith('Binding') && metadata.name === `${fullname}-secrets`)
      .map(({ kind, metadata }) => [kind, metadata['namespace']])
  t.same(bound({}), [['ClusterRoleBinding', undefined]])
  t.same(bound({ watchNamespaces: ['a'] }), [['RoleBinding', 'a']])
  t.same(bound({ rbac: { secrets: { namespaces: ['b', 'c'] } } }), [
    ['RoleBinding', 'b'],
    ['RoleBinding', 'c'],
  ])
  t.same(bound({ rbac: { secrets: { enabled: false } } }), [])
  t.notMatch(JSON.stringify(one(objectsOf({}), 'ClusterRole', `${fullname}-watched`).rules), 'secrets')
})

void t.test('of RoleBindings the controller may write the one of agents and no other', async (t) => {
  const rules = one(objectsOf({}), 'ClusterRole', `${fullname}-watched`).rules.filter(({ resources }) =>
    resources?.includes('rolebindings'),
  )
  t.match(rules, [{ resourceNames: [`${fullname}-agent`], verbs: ['create', 'list', 'patch', 'delete'] }])
})
