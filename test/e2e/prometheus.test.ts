/**
 * The whole path of a metric: controller and agent at work on a real API server, scraped by a real Prometheus as the monitors define it,
 * over TLS and with a token; the rules that it evaluates and the queries of the dashboards.
 */
import { createPrivateKey, sign } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { dashboards } from '../../infra/constructs/dashboards.ts'
import { pathOf, podType, type ResourceType, secretType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { type Line, pictureOf } from '../support/dashboard-picture.ts'
import { gatewayPod } from '../support/installed-objects.ts'
import { type Gateway, install, type Installation, readyAt, simulatedGateway } from '../support/installation.ts'
import { endpointTargets, podTargets } from '../support/kubernetes-discovery.ts'
import type { Manifest } from '../support/manifest.ts'
import { podScrapeConfig, serviceScrapeConfig } from '../support/monitoring-operator.ts'
import { type Prometheus, startPrometheus, type Target } from '../support/prometheus.ts'
import { pushTo } from '../support/push.ts'
import { presentRelease } from '../support/releases.ts'
import { requires } from '../support/requires.ts'
import { serviceAccountType, until, type World } from '../support/world.ts'

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' }
const bindingType: ResourceType = { ...rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding', namespaced: false }
const serviceType: ResourceType = { group: '', version: 'v1', plural: 'services', kind: 'Service', namespaced: true }
const longMs = 120_000
/** `CLUSTER_SYNC_WRITE_PICTURES=1 npm test -- test/e2e/prometheus.test.ts` draws the dashboards into build/dashboards. */
const writesPictures = process.env['CLUSTER_SYNC_WRITE_PICTURES'] === '1'

/** Panels that show zero in a healthy, idle installation; the test causes a value in every other one. */
const zeroWhenWell: ReadonlySet<string> = new Set([
  'Not ready',
  'Failed watches',
  'Findings',
  'Consecutive failures',
  'Files changed locally',
  'Open Designers',
])

type Dashboard = ReturnType<typeof dashboards>[string]

void t.test('metrics, alerts and dashboards work with a real Prometheus', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'prometheus')) return
  const cluster = await install(t, ['plant'], { controller: { logLevel: 'debug' }, agent: { logLevel: 'debug' } })
  const { world, folder, host, receiver } = cluster
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const namespace = cluster.namespace('plant')
  const installed = monitorsOf(cluster, namespace)
  const repository = host.repository('plant.git')
  const first = repository.commit({ 'projects/line/a.txt': 'one' })
  const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gw-0')
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { defaults: { syncPeriod: '5s' }, profiles: { default: { mappings: [{ source: 'projects/', destination: 'projects' }] } } },
  })
  const gateway = await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  await readyAt(cluster, namespace, first, longMs)

  const tokens = await makeTokens(world, installed, namespace)
  const files = writeFiles(folder, tokens, await authorityOf(world, installed))
  const prometheus = await startPrometheus(t, {
    folder,
    scrapeConfigs: scrapeConfigs(cluster, installed, gateway, files, await objectsOf(world, installed, gateway)),
    groups: (installed.rule['spec'] as { groups: unknown[] }).groups,
  })
  const target = (job: string, health: string): Promise<Target> =>
    until(async () => (await prometheus.targets(job)).find((one) => one.health === health), `the target ${job} is ${health}`, longMs)

  await t.test('the monitors find controller and agents, with the labels of their objects', async (t) => {
    const { labels } = await target('controller', 'up')
    matchObject(t, labels, { job: installed.metricsService, namespace: installed.namespace, endpoint: 'https', pod: 'controller-0' })
    matchObject(t, (await target('agents', 'up')).labels, { namespace, pod: 'gw-0', container: 'cluster-sync-agent' })
    const [ready, ...others] = await waitFor(prometheus, `clustersync_ready{job="${installed.metricsService}"} == 1`)
    matchObject(t, ready?.metric, { namespace, name: 'plant' }, 'the namespace is that of the GatewaySync')
    t.strictSame(others, [])
    const [phase] = await waitFor(prometheus, 'clustersync_agent_phase == 1')
    matchObject(t, phase?.metric, { phase: 'Synced', namespace, pod: 'gw-0' })
  })

  await t.test('a token without permission and an untrusted authority fail with a reason', async (t) => {
    t.match((await target('stranger', 'down')).lastError, /403/)
    t.match((await target('untrusted', 'down')).lastError, /x509|certificate/)
    t.strictSame(await prometheus.query('clustersync_ready{as="stranger"} or clustersync_ready{as="untrusted"}'), [])
  })

  await t.test('an expired token is refused, and a new one in its file is used without a restart', async (t) => {
    t.match((await target('exchanged', 'down')).lastError, /401/)
    writeFileSync(files.exchanged, tokens.next)
    await target('exchanged', 'up')
  })

  const second = repository.commit({ 'projects/line/a.txt': 'two', 'projects/line/b.txt': 'new' })
  await pushTo(receiver, namespace, 'plant')
  // Goes through admission and creates nothing.
  const pod = gatewayPod(namespace, 'gw-1', { account: 'gateway', simulator, dataDir })
  await world.kube.post(`${pathOf(podType, { namespace })}?dryRun=All`, pod, world.signal)
  const { source } = await readyAt(cluster, namespace, second, longMs)
  await waitFor(prometheus, `sum(increase(clustersync_push_to_applied_seconds_count{job="${installed.metricsService}"}[5m])) > 0`)
  await waitFor(prometheus, 'sum(increase(clustersync_agent_files_total[5m])) > 0')

  await t.test('an exemplar of the time from push to gateway has the request ID of the push', async (t) => {
    const ids = await until(
      async () => {
        const found = await prometheus.exemplars('clustersync_push_to_applied_seconds_bucket')
        const labels = found.flatMap(({ exemplars }) => exemplars.map((exemplar) => exemplar.labels['request_id']))
        return labels.length > 0 ? labels : undefined
      },
      'there is an exemplar',
      longMs,
    )
    t.strictSame([...new Set(ids)], [source?.requested?.id])
  })

  await t.test('the logs of controller and agent have the request ID of the push', async (t) => {
    const desired = ['push accepted', 'git host queried', 'commit checked', 'commit published', 'cycle step ended', 'sync ended', 'ready']
    const told = await until(
      () => {
        const lines = linesOf(cluster.logs).filter(({ requestId }) => requestId !== undefined && requestId === source?.requested?.id)
        return desired.every((msg) => lines.some((line) => line.msg === msg)) ? lines : undefined
      },
      `lines of ${desired.join(', ')}`,
      longMs,
    )
    for (const { msg, commit } of told.filter((line) => line.msg === 'commit published' || line.msg === 'sync ended'))
      t.equal(commit, second, msg)
    const others = linesOf(cluster.logs).filter(({ commit, requestId }) => commit === second && requestId === undefined)
    t.strictSame(others, [], 'no line about the commit is without it')
    const steps = told.filter(({ msg }) => msg === 'cycle step ended').map(({ step }) => step)
    for (const step of ['plan', 'stage', 'publish', 'scan']) t.ok(steps.includes(step), `the step ${step} has a line`)
  })

  await t.test('every rule is evaluated, and none fires for a healthy installation', async (t) => {
    type Rule = { name: string; health: string; lastError?: string; state: string }
    const rules = await until(
      async () => {
        const { groups } = (await prometheus.api('rules')) as { groups: { rules: Rule[] }[] }
        const found = groups.flatMap((group) => group.rules)
        return found.length > 0 && found.every(({ health }) => health !== 'unknown') ? found : undefined
      },
      'every rule was evaluated',
      longMs,
    )
    for (const { name, health, lastError = '', state } of rules)
      t.strictSame([health, lastError, state === 'firing'], ['ok', '', false], name)
    t.ok(rules.length > 10)
  })

  const chosen = (expr: string): string => expr.replaceAll('$namespace', namespace).replaceAll('$name', 'plant').replaceAll('$pod', 'gw-0')
  for (const [file, dashboard] of Object.entries(dashboards())) {
    await t.test(`${file}: every panel shows something, and there is something to choose`, async (t) => {
      for (const { name, query } of choicesOf(dashboard)) {
        const [, selector = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query) ?? []
        const found = await prometheus.api(`label/${label}/values?match[]=${encodeURIComponent(chosen(selector))}`)
        t.strictSame(found, [chosen(`$${name}`)], `${name}: ${query}`)
      }
      for (const { title, targets } of dashboard.panels) {
        for (const { expr } of targets) {
          const query = chosen(expr)
          const found = await until(
            async () => {
              const series = (await prometheus.query(query)).filter(({ value }) => Number.isFinite(value))
              const isShown = zeroWhenWell.has(title) ? series.length > 0 : series.some(({ value }) => value !== 0)
              return isShown ? series : undefined
            },
            `${title}: ${query}`,
            longMs,
          )
          t.ok(found.length > 0, title)
        }
      }
    })
    if (writesPictures) await writePicture(prometheus, file, dashboard, chosen)
  }
})

/** The variables of a dashboard, except the data source. */
function choicesOf({ templating }: Dashboard): { name: string; query: string }[] {
  const variables = templating.list as { name: string; type: string; query: { query: string } }[]
  return variables.filter(({ type }) => type === 'query').map(({ name, query }) => ({ name, query: query.query }))
}

/** Draws the panels into build/dashboards, over the time of this test. */
async function writePicture(prometheus: Prometheus, file: string, dashboard: Dashboard, chosen: (expr: string) => string): Promise<void> {
  const lines = new Map<string, Line[]>()
  for (const { title, targets } of dashboard.panels) {
    for (const { expr, legendFormat } of targets) {
      const series = await prometheus.range(chosen(expr), 60)
      const drawn = series.map(({ metric, points }) => ({
        legend: legendFormat.replaceAll(/\{\{(\w+)\}\}/g, (_whole, label: string) => metric[label] ?? ''),
        points,
      }))
      lines.set(title, drawn)
    }
  }
  mkdirSync(path.join(import.meta.dirname, '../../build/dashboards'), { recursive: true })
  writeFileSync(
    path.join(import.meta.dirname, '../../build/dashboards', file.replace('.json', '.svg')),
    pictureOf(dashboard, (title) => lines.get(title) ?? []),
  )
}

type LogLine = { msg: string; requestId?: string; commit?: string; step?: string }

/** Complete lines; the last one may still be incomplete. */
function linesOf(chunks: readonly string[]): LogLine[] {
  return chunks
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine)
}

async function waitFor(prometheus: Prometheus, expr: string) {
  return await until(
    async () => {
      const found = await prometheus.query(expr)
      return found.length > 0 ? found : undefined
    },
    expr,
    longMs,
  )
}

type Installed = {
  namespace: string
  metricsService: string
  readerRole: string
  serviceMonitor: Manifest
  podMonitor: Manifest
  rule: Manifest
}

/** The monitoring objects that the same values install; the API server need not serve the kinds of the monitoring operator. */
function monitorsOf({ manifests }: Installation, plant: string): Installed {
  const service = manifests.find(({ kind, metadata }) => kind === 'Service' && metadata.name.endsWith('-metrics'))
  const namespace = String(service?.metadata['namespace'])
  const switches = { serviceMonitor: { enabled: true }, podMonitor: { enabled: true }, prometheusRule: { enabled: true } }
  const all = presentRelease.manifests(
    { name: namespace, namespace },
    { ...switches, watchNamespaces: [plant], certManager: { enabled: false } },
  )
  const one = (kind: string): Manifest => {
    const found = all.find((manifest) => manifest.kind === kind)
    if (found === undefined) throw new Error(`there is no ${kind}`)
    return found
  }
  const readerRole = all.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.endsWith('-metrics-reader'))
  return {
    namespace,
    metricsService: service?.metadata.name ?? '',
    readerRole: readerRole?.metadata.name ?? '',
    serviceMonitor: one('ServiceMonitor'),
    podMonitor: one('PodMonitor'),
    rule: one('PrometheusRule'),
  }
}

/** The metrics Service and the gateway pod, as the API server has them. */
async function objectsOf({ kube, signal }: World, { namespace, metricsService }: Installed, { pod }: Gateway) {
  const [service, present] = [
    await kube.get(serviceType, { namespace, name: metricsService }, signal),
    await kube.get(podType, { namespace: pod.metadata.namespace, name: pod.metadata.name }, signal),
  ]
  if (service === undefined || present === undefined) throw new Error('the metrics Service or the gateway pod is not there')
  return { service: service as unknown as Manifest, pod: present as unknown as Manifest }
}

type Tokens = { good: string; next: string; stranger: string; expired: string }

/** Resolves when the API server authorizes the reader. */
async function makeTokens(world: World, { readerRole }: Installed, namespace: string): Promise<Tokens> {
  const { kube, signal } = world
  for (const name of ['prometheus', 'stranger'])
    await kube.create(serviceAccountType, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } }, signal)
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${namespace}-prometheus` },
    roleRef: { apiGroup: rbac.group, kind: 'ClusterRole', name: readerRole },
    subjects: [{ kind: 'ServiceAccount', namespace, name: 'prometheus' }],
  }
  await kube.create(bindingType, binding, signal)
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: `system:serviceaccount:${namespace}:prometheus`, nonResourceAttributes: { path: '/metrics', verb: 'get' } },
  }
  await until(async () => {
    const answer = (await kube.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', review, signal)) as {
      status: { allowed: boolean }
    }
    return answer.status.allowed ? true : undefined
  }, 'the account may read the metrics')
  const good = await world.token(namespace, 'prometheus')
  return {
    good,
    next: await world.token(namespace, 'prometheus'),
    stranger: await world.token(namespace, 'stranger'),
    expired: expiredAs(good, world.plane.tokenKeyFile),
  }
}

/** The same token, signed by the API server's own key, but expired since yesterday. */
function expiredAs(token: string, keyFile: string): string {
  const [head = '', payload = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as { iat: number }
  const day = 86_400
  const then = claims.iat - day
  const old = Buffer.from(JSON.stringify({ ...claims, iat: then, nbf: then, exp: then + 3600 })).toString('base64url')
  const signature = sign('sha256', Buffer.from(`${head}.${old}`), createPrivateKey(readFileSync(keyFile)))
  return `${head}.${old}.${signature.toString('base64url')}`
}

/** The authority that the monitoring operator reads for the ServiceMonitor, from the Secret of the certificate. */
async function authorityOf({ kube, signal }: World, { namespace, serviceMonitor }: Installed): Promise<string> {
  const { endpoints } = serviceMonitor['spec'] as { endpoints: { tlsConfig: { ca: { secret: { name: string; key: string } } } }[] }
  const { name = '', key = '' } = endpoints[0]?.tlsConfig.ca.secret ?? {}
  const secret = (await kube.get(secretType, { namespace, name }, signal)) as { data?: Record<string, string> } | undefined
  return Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8')
}

type Files = { good: string; stranger: string; exchanged: string; authority: string }

function writeFiles(folder: string, { good, stranger, expired }: Tokens, authority: string): Files {
  const write = (name: string, text: string): string => {
    const file = path.join(folder, name)
    writeFileSync(file, text)
    return file
  }
  return {
    good: write('good-token', good),
    stranger: write('stranger-token', stranger),
    exchanged: write('exchanged-token', expired),
    authority: write('authority.crt', authority),
  }
}

/** The controller as each reader, distinguished by a label, and the agents. */
function scrapeConfigs(
  { world, ports }: Installation,
  { serviceMonitor, podMonitor }: Installed,
  { agentPort }: Gateway,
  files: Files,
  { service, pod }: { service: Manifest; pod: Manifest },
) {
  // A busy machine answers late.
  const interval = '2s'
  const discovered = endpointTargets(service, 'controller-0', () => `127.0.0.1:${ports.metrics}`)
  const reader = (jobName: string, credentialsFile: string, caFile: string) => {
    const config = serviceScrapeConfig(serviceMonitor, { interval, discovered, jobName, credentialsFile, caFile })
    if (jobName === 'controller') return config
    // Keeps these series apart from those of the rules and dashboards.
    const apart = ['job', 'as'].map((label) => ({ target_label: label, replacement: jobName }))
    return { ...config, relabel_configs: [...(config['relabel_configs'] as object[]), ...apart] }
  }
  return [
    reader('controller', files.good, files.authority),
    reader('stranger', files.stranger, files.authority),
    reader('exchanged', files.exchanged, files.authority),
    reader('untrusted', files.good, world.plane.caFile),
    podScrapeConfig(podMonitor, { interval, discovered: podTargets(pod, () => `127.0.0.1:${agentPort}`), jobName: 'agents' }),
  ]
}
