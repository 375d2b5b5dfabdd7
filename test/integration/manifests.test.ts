/**
 * The committed manifests on the real API server: each object is accepted, alone and together, and a second apply changes nothing.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import type { ValuesInput } from '../../infra/values.ts'
import { synthesise } from '../support/installation.ts'
import { requires, sharedData } from '../support/requires.ts'
import { openWorld, until } from '../support/world.ts'

const dist = path.resolve(import.meta.dirname, '../../dist')

function documents(file: string): { kind: string; metadata: { name: string; namespace?: string } }[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map((document) => document.toJS() as { kind: string; metadata: { name: string } })
}

const everything: ValuesInput = {
  replicaCount: 2,
  serviceMonitor: { enabled: true, interval: '30s', labels: { release: 'prometheus' } },
  podMonitor: { enabled: true },
  grafanaDashboard: { enabled: true },
  networkPolicy: { enabled: true },
  webhook: { namespaceSelector: { requireLabel: true } },
  webhookReceiver: {
    enabled: true,
    hmac: { secret: 'inline' },
    token: { secretRef: { name: 'push' } },
    ingress: {
      enabled: true,
      hosts: [{ host: 'push.example.com', paths: [{ path: '/webhook', pathType: 'Prefix' }] }],
      tls: [{ secretName: 'tls', hosts: ['push.example.com'] }],
    },
  },
}

const everythingOff: ValuesInput = {
  certManager: { enabled: false },
  metrics: { enabled: false },
  webhook: { enabled: false },
  rbac: { autoBindAgent: { enabled: false } },
  leaderElection: { enabled: false },
}

void t.test('dist/ and the extremes of the values are accepted by the API server, and settle', { timeout: 180_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const folder = sharedData(t, 'crds')
  if (folder === undefined) return
  const { plane, namespace } = await openWorld(t, { shared: false })
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
    t.equal((await plane.kubectl(['apply', '--server-side', '-f', path.join(folder, file)])).code, 0, file)
  }
  const apply = async (args: string[], objects: readonly object[]) =>
    plane.kubectl(['apply', ...args, '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }))

  await t.test('dist/, by plain apply as the documentation says', async (t) => {
    const crds = await plane.kubectl(['apply', '-f', path.join(dist, 'crds.k8s.yaml')])
    t.equal(crds.code, 0, crds.stderr)
    await until(
      async () => ((await plane.kubectl(['get', 'gs,certificates.cert-manager.io', '-A'])).code === 0 ? true : undefined),
      'all kinds are served',
    )
    const namespaceOf = documents(path.join(dist, 'operator.k8s.yaml')).filter(({ kind }) => kind === 'Namespace')
    t.equal(namespaceOf.length, 1)
    const first = await plane.kubectl(['apply', '-f', path.join(dist, 'operator.k8s.yaml')])
    t.equal(first.code, 0, first.stderr)
    const again = await plane.kubectl(['apply', '-f', path.join(dist, 'operator.k8s.yaml')])
    t.notMatch(again.stdout, /configured|created/, 'a second apply changes nothing')
  })
  for (const [name, values] of Object.entries({ defaults: {}, everything, everythingOff })) {
    await t.test(`${name}: server-side dry run and apply`, async (t) => {
      const where = await namespace('release')
      const objects = synthesise({ name: where, namespace: where }, values)
      const dry = await apply(['--server-side', '--dry-run=server'], objects)
      t.equal(dry.code, 0, dry.stderr)
      const wet = await apply(['--server-side'], objects)
      t.equal(wet.code, 0, wet.stderr)
      t.equal(wet.stdout.trim().split('\n').length, objects.length, 'each object was applied')
    })
  }
})
