/**
 * The chart in Helm: its metadata, its values with their schema, its CRDs; errors name the invalid key.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { checkValues } from '../../../infra/values/check.ts'
import { gatewaySyncCrd, syncReportCrd } from '../../../infra/crd.ts'
import { chartFiles } from '../../../infra/chart/files.ts'
import { canRunHelm, helm, rendered } from '../../support/helm.ts'
import { everything, release } from '../installed.ts'
import { containsText, matchObject } from '../../support/assertions.ts'

const files = new Map(chartFiles().map(({ path: name, content }) => [name, content]))
const textOf = (name: string): string => files.get(name) ?? ''
const manifest = JSON.parse(readFileSync(path.join(import.meta.dirname, '../../../package.json'), 'utf8')) as { version: string }

void t.test('name and version are those of the package', async (t) => {
  matchObject(t, parse(textOf('Chart.yaml')), {
    apiVersion: 'v2',
    name: 'cluster-sync-operator',
    version: manifest.version,
    appVersion: manifest.version,
  })
})

void t.test('values.yaml has every key with its default, and a comment above each', async (t) => {
  t.strictSame(parse(textOf('values.yaml')), checkValues({}).values)
  const lines = textOf('values.yaml').split('\n')
  for (const [index, line] of lines.entries()) {
    if (/^ *[a-zA-Z]+: \S/.test(line)) t.match(lines[index - 1], /^ *# \S.{5}/, line)
  }
})

void t.test('the README has every key of values.yaml with its default', async (t) => {
  const rows = textOf('README.md').matchAll(/^\| `([\w.]+)` \| .*? \| `([^`]*)` \| \S.* \|$/gm)
  const values: Record<string, unknown> = {}
  for (const [, key = '', text = ''] of rows) {
    const names = key.split('.')
    let parent = values
    for (const name of names.slice(0, -1)) parent = (parent[name] ??= {}) as Record<string, unknown>
    parent[names.at(-1) ?? ''] = JSON.parse(text)
  }
  t.strictSame(values, parse(textOf('values.yaml')))
})

void t.test('the CRDs are the same as in the other installation methods', async (t) => {
  const definitions = [...files.keys()].filter((name) => name.startsWith('crds/'))
  t.strictSame(
    definitions.map((name) => parse(textOf(name)) as unknown),
    [gatewaySyncCrd(), syncReportCrd()],
  )
})

void t.test('helm lint reports nothing', async (t) => {
  if (!canRunHelm(t)) return
  const { run, chart, valuesFile } = await helm(t)
  for (const values of [{}, everything]) {
    const { code, stdout } = await run('lint', '--strict', chart, '--values', valuesFile(values))
    t.equal(code, 0, stdout)
  }
})

void t.test('an invalid value is refused with its key', async (t) => {
  if (!canRunHelm(t)) return
  const real = await helm(t)
  const wrong: [values: object, message: RegExp][] = [
    [{ webhok: { enabled: true } }, /additional properties 'webhok' not allowed/],
    [{ webhook: { prot: 1 } }, /at '\/webhook': additional properties 'prot' not allowed/],
    [{ webhook: { port: 70_000 } }, /at '\/webhook\/port': maximum/],
    [{ replicaCount: -1 }, /at '\/replicaCount': minimum/],
    [{ replicaCount: null }, /missing property 'replicaCount'/],
    [{ controller: { logDevMode: true } }, /at '\/controller\/logDevMode'/],
    [{ resources: { limits: { memory: 'much' } } }, /at '\/resources\/limits\/memory'/],
    [{ podLabels: { 'my team': 'a' } }, /at '\/podLabels': additional properties 'my team' not allowed/],
    [{ podLabels: { team: 'a b' } }, /at '\/podLabels\/team'/],
    [{ agent: { resources: { limits: { cpus: 1 } } } }, /at '\/agent\/resources\/limits': additional properties 'cpus' not allowed/],
    [{ webhookReceiver: { trustedProxies: ['proxy'] } }, /at '\/webhookReceiver\/trustedProxies\/0'/],
    [
      { webhookReceiver: { ingress: { hosts: [{ host: 'a', paths: [{ path: '/a/..', pathType: 'Exact' }] }] } } },
      /webhookReceiver\.ingress\.hosts\.0\.paths\.0\.path: must not contain empty segments, "\.", "\.\." or %2F/,
    ],
    [{ podAnnotations: { 'clustersync.io/inject': 'true' } }, /podAnnotations: clustersync\.io\/inject is for gateway pods/],
    [{ imagePullSecrets: [{ name: 'a' }, { name: 'a' }] }, /imagePullSecrets\.1\.name: a is listed twice/],
    [
      { notifications: ['a', 'b'].map((name) => ({ name: 'chat', type: 'slack', secretRef: { name } })) },
      /notifications\.1\.name: chat is listed twice/,
    ],
    [{ prometheusRule: { pushToApplied: { percent: 93 } } }, /at '\/prometheusRule\/pushToApplied\/percent': minimum/],
    [{ serviceMonitor: { interval: '30 seconds' } }, /at '\/serviceMonitor\/interval'/],
    [
      { webhookReceiver: { ingress: { hosts: [{ host: 'a', paths: [{ path: '/', pathType: 'Regex' }] }] } } },
      /at '\/webhookReceiver\/ingress\/hosts\/0\/paths\/0\/pathType'/,
    ],
    [{ leaderElection: { enabled: false }, replicaCount: 2 }, /leaderElection\.enabled: must be true with 2 replicas/],
  ]
  for (const [values, message] of wrong) {
    const answer = await rendered(real, release, values)
    containsText(t, typeof answer === 'string' ? answer : 'installed', message, JSON.stringify(values))
  }
})

void t.test('--set accepts the same numbers and booleans as a file', async (t) => {
  if (!canRunHelm(t)) return
  const { run, chart, valuesFile } = await helm(t)
  const sets = ['--set', 'replicaCount=3,webhook.port=9555,source.storage.sizeLimit=128000000,networkPolicy.enabled=true']
  const values = { replicaCount: 3, webhook: { port: 9555 }, source: { storage: { sizeLimit: 128e6 } }, networkPolicy: { enabled: true } }
  const bySet = await run('template', 'plant', chart, '--kube-version', '1.30.0', ...sets)
  const byFile = await run('template', 'plant', chart, '--kube-version', '1.30.0', '--values', valuesFile(values))
  t.equal(bySet.code, 0, bySet.stderr)
  t.equal(bySet.stdout, byFile.stdout)
})

void t.test('another chart may depend on the chart', async (t) => {
  const own = chartFiles().map(({ path: name, content }) => ({ path: `charts/cluster-sync-operator/${name}`, content }))
  if (!canRunHelm(t)) return
  const real = await helm(t, [{ path: 'Chart.yaml', content: 'apiVersion: v2\nname: platform\nversion: 1.0.0\n' }, ...own])
  const answer = await rendered(real, release, { global: { region: 'a' }, 'cluster-sync-operator': { enabled: true, replicaCount: 2 } })
  if (typeof answer === 'string') t.fail(answer)
  else matchObject(t, answer.manifests.find(({ kind }) => kind === 'Deployment')?.['spec'], { replicas: 2 })
})
