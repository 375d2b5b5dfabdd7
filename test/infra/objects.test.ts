/**
 * What the objects of an installation say: each value arrives where it matters, and nothing is granted or listened to beyond it.
 */
import t from 'tap'
import type { Manifest } from '../support/manifest.ts'
import type { ValuesInput } from '../../infra/values.ts'
import { podAnnotations } from '../../runtime/gatewaysync/names.ts'
import { version } from '../../runtime/version.ts'
import { deploymentOf, everything, everythingOff, fullname, type Kinds, objectsOf, one, settingsOf } from './installed.ts'

void t.test('labels of the pod never override those that the Deployment and the Services select by', async (t) => {
  const { selector, template } = deploymentOf(objectsOf(everything)).spec
  t.same(selector.matchLabels, { 'app.kubernetes.io/name': 'cluster-sync-operator', 'app.kubernetes.io/instance': 'plant' })
  t.match(template.metadata.labels, { ...selector.matchLabels, team: 'plant' })
})

void t.test('a version is no part of a selector, so that an upgrade is one', async (t) => {
  t.notMatch(JSON.stringify(deploymentOf(objectsOf({})).spec.selector), version)
})

void t.test('images: tag and pull secrets as given, the version of this package where no tag is', async (t) => {
  const image = (values: ValuesInput): [string, string | undefined] => {
    const objects = objectsOf(values)
    return [deploymentOf(objects).spec.template.spec.containers[0].image, settingsOf(objects).agent.image]
  }
  t.same(image({}), [`clustersync/controller:${version}`, `clustersync/agent:${version}`])
  t.same(image({ image: { repository: 'a/b', tag: '1' }, agentImage: { repository: 'c/d', tag: '2' } }), ['a/b:1', 'c/d:2'])
  t.same(settingsOf(objectsOf(everything)).agent.imagePullSecrets, [{ name: 'registry' }])
})

void t.test('where the pod runs is as given', async (t) => {
  t.match(deploymentOf(objectsOf(everything)).spec.template, {
    metadata: { annotations: { note: 'a' } },
    spec: {
      hostNetwork: true,
      dnsPolicy: 'ClusterFirstWithHostNet',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      tolerations: [{ key: 'plant', operator: 'Exists' }],
      affinity: { podAntiAffinity: {} },
      priorityClassName: 'system-cluster-critical',
      imagePullSecrets: [{ name: 'registry' }],
    },
  })
})

void t.test('the pod is one that a restricted namespace admits', async (t) => {
  t.match(deploymentOf(objectsOf({})).spec.template.spec, {
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [{ securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } } }],
  })
})

void t.test('security contexts of the values take the place of ours as a whole, so that a cluster may choose the user', async (t) => {
  const contexts = (values: ValuesInput): unknown[] => {
    const { securityContext, containers } = deploymentOf(objectsOf(values)).spec.template.spec
    return [securityContext, containers[0].securityContext]
  }
  const openShift = { runAsNonRoot: true, fsGroupChangePolicy: 'OnRootMismatch', seccompProfile: { type: 'RuntimeDefault' } }
  const container = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } }
  t.same(contexts({ podSecurityContext: openShift, securityContext: container }), [openShift, container])
  t.match(contexts({ podSecurityContext: openShift })[1], { readOnlyRootFilesystem: true })
  t.same(settingsOf(objectsOf({ agent: { securityContext: container } })).agent.securityContext, container, 'so does that of agents')
})

void t.test('a pod in the network of its node replaces its predecessor instead of standing beside it', async (t) => {
  const { strategy, template } = deploymentOf(objectsOf({ hostNetwork: true })).spec
  t.same(strategy, { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } })
  t.match(template.spec, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })
  const usual = deploymentOf(objectsOf({})).spec.template.spec
  t.notOk('hostNetwork' in usual || 'dnsPolicy' in usual)
  t.match(deploymentOf(objectsOf({ dnsPolicy: 'Default' })).spec.template.spec, { dnsPolicy: 'Default' })
})

void t.test(
  'labels and annotations of all objects are on every one and in no selector; ours and those of a single object win',
  async (t) => {
    const objects = objectsOf(everything)
    for (const { kind, metadata } of objects) {
      t.match(metadata['labels'], { site: 'north', 'app.kubernetes.io/name': 'cluster-sync-operator' }, `${kind} ${metadata.name}`)
      t.match(metadata['annotations'], { owner: 'platform' }, `${kind} ${metadata.name}`)
    }
    const { selector, template } = deploymentOf(objects).spec
    t.match(template.metadata, { labels: { site: 'north' }, annotations: { owner: 'platform', note: 'a' } })
    t.notMatch(JSON.stringify(selector), 'site')
    const selectors = objects.flatMap((object) => {
      const { selector, podSelector, podMetricsEndpoints: _ } = (object['spec'] ?? {}) as Record<string, unknown>
      return [selector, podSelector]
    })
    t.notMatch(JSON.stringify(selectors), 'site')
    t.match(one(objects, 'MutatingWebhookConfiguration').metadata, {
      annotations: { 'cert-manager.io/inject-ca-from': `operators/${fullname}-certificate` },
    })
    t.match(deploymentOf(objects).metadata, { annotations: { 'example.com/reload': 'true' } })
  },
)

void t.test('each Service is of the type and has the annotations that are given', async (t) => {
  const objects = objectsOf(everything)
  const service = (suffix: string): unknown => {
    const { metadata, spec } = one(objects, 'Service', `${fullname}${suffix}`)
    const { owner: _owner, note: _note, ...annotations } = metadata['annotations'] as Record<string, string>
    return [spec.type, annotations]
  }
  t.same(service('-metrics'), ['NodePort', { 'example.com/scrape': 'true' }])
  t.same(service('-webhook'), ['ClusterIP', { 'example.com/admission': 'true' }])
  t.same(service('-delivery'), ['ClusterIP', { 'example.com/delivery': 'true' }])
  t.same(service('-webhook-receiver'), ['LoadBalancer', { 'example.com/balancer': 'internal' }])
})

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
  const policies = objects.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
  for (const policy of policies) t.match(JSON.stringify(policy), 'system:serviceaccount:operators:syncer')
  t.equal(one(objectsOf(everything), 'ServiceAccount').metadata.name, 'syncer')
})

void t.test('further volumes come after ours; probes, grace and history are as given', async (t) => {
  const { spec } = deploymentOf(objectsOf(everything))
  const { volumes, containers, terminationGracePeriodSeconds } = spec.template.spec
  const [{ volumeMounts, livenessProbe, readinessProbe }] = containers
  t.same(volumes.at(-1), { name: 'authorities', configMap: { name: 'authorities' } })
  t.same(volumeMounts.at(-1), { name: 'authorities', mountPath: '/etc/authorities', readOnly: true })
  t.match(livenessProbe, {
    httpGet: { path: '/healthz' },
    initialDelaySeconds: 15,
    periodSeconds: 30,
    timeoutSeconds: 5,
    failureThreshold: 3,
  })
  t.match(readinessProbe, { httpGet: { path: '/readyz' }, periodSeconds: 5, failureThreshold: 2 })
  t.same([terminationGracePeriodSeconds, spec.revisionHistoryLimit], [45, 2])
})

void t.test(
  'an installation for some labels is asked about pods with these, and lets others write the status of other GatewaySyncs',
  async (t) => {
    const selector = { matchLabels: { shard: 'north' }, matchExpressions: [{ key: 'trial', operator: 'DoesNotExist' }] }
    const objects = objectsOf(everything)
    t.same(settingsOf(objects).watchLabelSelector, selector)
    t.same(one(objects, 'MutatingWebhookConfiguration').webhooks[0].objectSelector, selector)
    const constraints = objects
      .filter(({ kind }) => kind === 'ValidatingAdmissionPolicy')
      .map(({ metadata, spec }) => [
        metadata.name,
        (spec as { matchConstraints: { objectSelector: object } }).matchConstraints.objectSelector,
      ])
    t.same(constraints, [
      [`${fullname}-report`, {}],
      [`${fullname}-status`, selector],
      [`${fullname}-spec`, {}],
    ])
    t.match(one(objects, 'PodMonitor').spec, {
      selector: { ...selector, matchLabels: { shard: 'north', 'clustersync.io/agent': 'true' } },
    })
    t.same(one(objectsOf({}), 'MutatingWebhookConfiguration').webhooks[0].objectSelector, {})
  },
)

void t.test('how much is logged reaches the controller and its agents', async (t) => {
  const { logLevel, agent } = settingsOf(objectsOf(everything))
  t.same([logLevel, agent.logLevel], ['debug', 'warn'])
})

void t.test('a port below 1024 can be listened at without being root', async (t) => {
  const sysctls = (values: ValuesInput): unknown => deploymentOf(objectsOf(values)).spec.template.spec.securityContext.sysctls
  t.equal(sysctls({ webhookReceiver: { port: 1024 } }), undefined)
  for (const values of [{ metrics: { service: { port: 443 } } }, { webhookReceiver: { port: 80 } }, { delivery: { port: 1023 } }])
    t.same(sysctls(values), [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }])
})

void t.test('mirrors: the size of the volume is what the controller keeps within', async (t) => {
  const source = (values: ValuesInput): unknown => {
    const { template, strategy } = deploymentOf(objectsOf(values)).spec
    const { name: _name, ...volume } = template.spec.volumes.find(({ name }) => name === 'source') ?? { name: '' }
    return [volume, strategy.type, settingsOf(objectsOf(values)).source.sizeLimit]
  }
  t.same(source({}), [{ emptyDir: { sizeLimit: '2Gi' } }, 'RollingUpdate', '2Gi'])
  t.same(source({ source: { storage: { sizeLimit: '128e6' } } }), [{ emptyDir: { sizeLimit: '128e6' } }, 'RollingUpdate', '128e6'])
  const claimed: ValuesInput = { source: { storage: { existingClaim: 'mirrors' } } }
  t.same(source(claimed), [{ persistentVolumeClaim: { claimName: 'mirrors' } }, 'Recreate', '2Gi'])
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

void t.test('an authority by cert-manager keeps its key when it is renewed, its leaves do not', async (t) => {
  const rotation = (name: string): unknown => {
    const { spec } = objectsOf({}).find(({ kind, metadata }) => kind === 'Certificate' && metadata.name === name) as {
      spec?: { privateKey: { rotationPolicy?: string } }
    }
    return spec?.privateKey.rotationPolicy
  }
  t.equal(rotation(`${fullname}-ca`), 'Never')
  t.equal(rotation(`${fullname}-certificate`), 'Always')
})

void t.test('agents: resources are the usual ones, or exactly those given', async (t) => {
  t.same(settingsOf(objectsOf({})).agent.resources, { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } })
  t.same(settingsOf(objectsOf(everything)).agent.resources, { limits: { memory: '1Gi' } })
})

void t.test('agents of Guaranteed pods have what the values give, unless they are to be like all others', async (t) => {
  const guaranteed = (values: ValuesInput): unknown => settingsOf(objectsOf(values)).agent.guaranteed
  t.same(guaranteed({}), { cpu: '500m', memory: '256Mi' })
  t.same(guaranteed({ agent: { guaranteed: { cpu: 1 } } }), { cpu: '1', memory: '256Mi' })
  t.equal(guaranteed({ agent: { guaranteed: { enabled: false } } }), undefined)
})

void t.test('an inline key becomes a Secret, never an environment value; a reference wins over it', async (t) => {
  const objects = objectsOf(everything)
  t.same(one(objects, 'Secret')['data'], { hmac: Buffer.from('inline').toString('base64') })
  const template = deploymentOf(objects).spec.template
  t.notMatch(JSON.stringify(template), 'inline')
  t.match(
    template.spec.volumes.filter(({ name }) => name.startsWith('receiver-')),
    [
      { name: 'receiver-hmac', secret: { secretName: `${fullname}-receiver`, items: [{ key: 'hmac' }] } },
      { name: 'receiver-token', secret: { secretName: 'push', items: [{ key: 'webhook-token' }] } },
    ],
  )
})

function webhookOf(values: ValuesInput) {
  return one(objectsOf(values), 'MutatingWebhookConfiguration').webhooks[0]
}

void t.test("admission is asked of pods that want an agent, never in the cluster's and the operator's own namespaces", async (t) => {
  const never = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', 'kube-node-lease', 'operators'] }
  t.same(webhookOf({}).namespaceSelector, { matchExpressions: [never] })
  t.same(webhookOf(everything).namespaceSelector, {
    matchLabels: { 'clustersync.io/injection': 'enabled' },
    matchExpressions: [never, { key: 'tier', operator: 'In', values: ['plant'] }],
  })
  t.same(webhookOf({ watchNamespaces: ['a', 'b'] }).namespaceSelector, {
    matchExpressions: [never, { ...never, operator: 'In', values: ['a', 'b'] }],
  })
  t.match(webhookOf({}).matchConditions[0].expression, podAnnotations.inject)
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
  const everywhere = one(objectsOf({}), 'ClusterRole', `${fullname}-controller`).rules.flatMap(({ resources }) => resources)
  t.same(everywhere, ['tokenreviews', 'subjectaccessreviews'])
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

void t.test('monitors select what exists: the metrics Service by its labels, timing only as given', async (t) => {
  const objects = objectsOf(everything)
  const monitor = one(objects, 'ServiceMonitor')
  t.match(monitor.metadata['labels'], { release: 'prometheus' })
  t.match(monitor.spec.endpoints, [{ interval: '30s', scrapeTimeout: '10s', honorLabels: true }], "a GatewaySync's namespace is its own")
  const selected = objects.filter(({ kind, metadata }) => {
    const labels = (metadata['labels'] ?? {}) as Record<string, string>
    return kind === 'Service' && Object.entries(monitor.spec.selector.matchLabels).every(([key, value]) => labels[key] === value)
  })
  t.same(
    selected.map(({ metadata }) => metadata.name),
    [`${fullname}-metrics`],
  )
  t.equal((selected[0] as Kinds['Service']).spec.type, 'NodePort')
  t.notOk('interval' in one(objects, 'PodMonitor').spec.podMetricsEndpoints[0])
  t.match(monitor.spec.endpoints, [
    { authorization: { credentials: { name: 'scraper', key: 'token' } }, relabelings: [{ targetLabel: 'site' }] },
  ])
  t.notOk('bearerTokenFile' in (monitor.spec.endpoints[0] ?? {}), 'where a Secret is named, no file is')
  t.match(one(objectsOf({ serviceMonitor: { enabled: true } }), 'ServiceMonitor').spec.endpoints, [{ bearerTokenFile: /token$/ }])
})

void t.test('agents are scraped where they are: everywhere, or in the watched namespaces', async (t) => {
  const where = (values: ValuesInput): unknown =>
    one(objectsOf({ ...values, podMonitor: { enabled: true } }), 'PodMonitor').spec.namespaceSelector
  t.same(where({}), { any: true })
  t.same(where({ watchNamespaces: ['a', 'b'] }), { matchNames: ['a', 'b'] })
})

void t.test('every object but a namespace says which installation it is of', async (t) => {
  for (const { kind, metadata } of objectsOf(everything)) {
    t.match(metadata['labels'], deploymentOf(objectsOf({})).spec.selector.matchLabels, `${kind} ${metadata.name}`)
  }
})

void t.test('dashboards: found by the usual label, unless that is set to nothing', async (t) => {
  const labels = (values: ValuesInput): unknown => one(objectsOf(values), 'ConfigMap').metadata['labels']
  t.match(labels({ grafanaDashboard: { enabled: true } }), { grafana_dashboard: '1' })
  t.match(labels(everything), { folder: 'plant' })
  t.notOk('grafana_dashboard' in (labels(everything) as object))
  t.match(one(objectsOf(everything), 'ConfigMap').metadata, { namespace: 'grafana', annotations: { a: 'b' } })
})

void t.test('a budget for disruptions is there when there is more than one replica, and can be left out', async (t) => {
  const budgets = (values: ValuesInput): Manifest[] => objectsOf(values).filter(({ kind }) => kind === 'PodDisruptionBudget')
  t.same(budgets({}), [])
  t.same(budgets({ replicaCount: 3, podDisruptionBudget: { enabled: false } }), [])
  t.match(budgets({ replicaCount: 3, podDisruptionBudget: { minAvailable: 2 } }), [
    { spec: { minAvailable: 2, selector: deploymentOf(objectsOf({})).spec.selector } },
  ])
})

void t.test('extra variables come after our own; constraints of topology and annotations of the account are as given', async (t) => {
  const objects = objectsOf(everything)
  const { containers, ...pod } = deploymentOf(objects).spec.template.spec
  t.same(
    containers[0].env.map(({ name }) => name),
    ['POD_NAME', 'POD_IP', 'NODE_OPTIONS', 'CLUSTER_SYNC_SETTINGS', 'HTTPS_PROXY'],
  )
  t.match(pod, { topologySpreadConstraints: everything.topologySpreadConstraints })
  t.match(one(objects, 'ServiceAccount').metadata, { annotations: { role: 'operator' } })
})

void t.test('when restricted, each port is open to those who need it and to nobody else', async (t) => {
  const tcp = (port: number): object => ({ port, protocol: 'TCP' })
  const labelled = (label: string): object => ({ namespaceSelector: {}, podSelector: { matchLabels: { [label]: 'true' } } })
  const ingress = (values: ValuesInput) => one(objectsOf(values), 'NetworkPolicy').spec.ingress
  const enabled = { networkPolicy: { enabled: true } }
  const delivery = { from: [labelled('clustersync.io/agent')], ports: [tcp(9445)] }
  const metrics = { from: [{ podSelector: {} }, labelled('clustersync.io/metrics-reader')], ports: [tcp(8443)] }
  const admission = { ports: [tcp(9443)] }
  const replicas = { from: [{ podSelector: { matchLabels: deploymentOf(objectsOf({})).spec.selector.matchLabels } }], ports: [tcp(9445)] }

  await t.test(
    'metrics to the namespace and labelled pods, delivery to agents and replicas, admission to API servers, which have no label',
    async (t) => t.same(ingress(enabled), [metrics, admission, delivery, replicas]),
  )
  await t.test('the receiver to anybody, for git hosts call it', async (t) =>
    t.same(ingress({ ...enabled, webhookReceiver: { enabled: true } }), [metrics, admission, { ports: [tcp(9444)] }, delivery, replicas]),
  )
  await t.test('probes to nobody, because the node of a pod always reaches it', async (t) =>
    t.notMatch(JSON.stringify(ingress(everything)), '8081'),
  )
  await t.test('what is off is not opened', async (t) =>
    t.same(ingress({ ...enabled, metrics: { enabled: false }, webhook: { enabled: false } }), [delivery, replicas]),
  )
  await t.test('values name others in place of the usual ones', async (t) => {
    const from = [{ ipBlock: { cidr: '198.18.0.0/15' } }]
    const named = { enabled: true, metrics: { from }, delivery: { from }, receiver: { from } }
    t.same(ingress({ networkPolicy: named, webhookReceiver: { enabled: true } }), [
      { from, ports: [tcp(8443)] },
      admission,
      { from, ports: [tcp(9444)] },
      { from, ports: [tcp(9445)] },
      replicas,
    ])
  })
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
  t.match(rules, [{ resourceNames: [`${fullname}-agent`], verbs: ['create', 'patch', 'delete'] }])
})

void t.test('what goes out is limited to names, the API server, git hosts and replicas, when that is asked for', async (t) => {
  const { policyTypes, egress } = one(objectsOf({ networkPolicy: { enabled: true, egress: { enabled: true } } }), 'NetworkPolicy').spec
  t.same(policyTypes, ['Ingress', 'Egress'])
  const tcp = (port: number): object => ({ port, protocol: 'TCP' })
  const { matchLabels } = deploymentOf(objectsOf({})).spec.selector
  t.same(egress, [
    { ports: [{ port: 53, protocol: 'UDP' }, tcp(53)] },
    { ports: [tcp(443), tcp(6443), tcp(22)] },
    { to: [{ podSelector: { matchLabels } }], ports: [tcp(9445)] },
  ])
  t.same(one(objectsOf(everything), 'NetworkPolicy').spec.egress?.[1], { ports: [tcp(443), tcp(7999)] })
  const openShift = one(objectsOf({ networkPolicy: { enabled: true, egress: { enabled: true, dnsPort: 5353 } } }), 'NetworkPolicy').spec
  t.same(openShift.egress?.[0], { ports: [{ port: 5353, protocol: 'UDP' }, tcp(5353)] })
  t.same(
    objectsOf({ networkPolicy: { egress: { enabled: true } } }).filter(({ kind }) => kind === 'NetworkPolicy'),
    [],
  )
})

void t.test('a Secret of the user takes the place of every certificate that we make', async (t) => {
  const values: ValuesInput = { webhook: { existingSecret: 'own-tls' }, serviceMonitor: { enabled: true } }
  for (const certManager of [{ enabled: true }, { enabled: false }]) {
    const objects = objectsOf({ ...values, certManager })
    t.same(
      objects.filter(({ kind }) => kind === 'Issuer' || kind === 'Certificate'),
      [],
    )
    const { certificates } = settingsOf(objects)
    t.match(certificates, { kind: 'mounted', tellsWebhook: true })
    const { volumes, containers } = deploymentOf(objects).spec.template.spec
    t.match(volumes[1], { name: 'certificate', secret: { secretName: 'own-tls' } })
    t.match(containers[0], {
      volumeMounts: [{}, { name: 'certificate', mountPath: certificates.kind === 'mounted' ? certificates.folder : '' }],
    })
    t.notOk('annotations' in one(objects, 'MutatingWebhookConfiguration').metadata, 'cert-manager is not asked to inject anything')
    t.match(one(objects, 'ServiceMonitor').spec.endpoints, [{ tlsConfig: { ca: { secret: { name: 'own-tls' } } } }])
    const rules = JSON.stringify([one(objects, 'ClusterRole', `${fullname}-controller`), one(objects, 'Role')].map(({ rules }) => rules))
    t.match(rules, 'mutatingwebhookconfigurations')
    t.notMatch(rules, 'own-tls')
  }
  t.notMatch(settingsOf(objectsOf({})).certificates, { tellsWebhook: true })
})
