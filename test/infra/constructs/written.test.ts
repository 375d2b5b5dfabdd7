/**
 * Manifests are checked when they are compiled: by the types of cdk8s-plus-28 and of imports/, in the API's own spelling. Where a line
 * below says that an error is expected, `npm run check` fails when there is none.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { k8s } from 'cdk8s-plus-28'
import t from 'tap'
import type { Certificate } from '../../../imports/cert-manager.io.js'
import type { ServiceMonitor } from '../../../imports/monitoring.coreos.com.js'
import type { ManifestOf } from '../../../infra/constructs/api-object.ts'
import { spellings, type Written } from '../../../infra/constructs/written.ts'
import { Expression, Structure, type Value } from '../../../infra/helm/expression.ts'
import { choose, each, given, unlessEmpty, when } from '../../../infra/helm/nodes.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const yes: Value<boolean> = new Expression<boolean>('$.Values.yes')
const labels: Value<Record<string, string>> = new Structure('$.Values.labels')

void t.test('a manifest may hold expressions wherever a value stands, and leave out what is optional', async (t) => {
  const pod: Written<k8s.PodSpec> = {
    hostIPC: given(yes, false),
    nodeSelector: unlessEmpty(labels),
    terminationGracePeriodSeconds: new Expression<number>('$.Values.grace'),
    securityContext: choose<Written<k8s.PodSecurityContext>>(yes, { runAsUser: 1 }, { runAsNonRoot: true }),
    containers: [
      { name: 'one', resources: { limits: { memory: '1Gi', cpu: 1 } }, livenessProbe: { httpGet: { port: 'probes' } } },
      ...when<Written<k8s.Container>>(yes, [{ name: 'two' }]),
    ],
  }
  t.same(Object.keys(pod), ['hostIPC', 'nodeSelector', 'terminationGracePeriodSeconds', 'securityContext', 'containers'])
})

void t.test('a field that is misspelled, misplaced, missing or of another type does not compile', async (t) => {
  const metadata = { name: 'a' }
  const pods: Written<k8s.PodSpec>[] = [
    // @ts-expect-error: misspelled
    { containers: [], hostNetwrk: true },
    // @ts-expect-error: spelled as the types of cdk8s-plus-28 spell it, which the API server does not know
    { containers: [], hostIpc: true },
    // @ts-expect-error: misplaced, because it is a field of the container
    { containers: [], readinessProbe: {} },
    // @ts-expect-error: missing
    { hostNetwork: true },
    // @ts-expect-error: a text in the place of a flag
    { containers: [], hostNetwork: 'true' },
    // @ts-expect-error: an expression of a text in the place of a flag
    { containers: [], hostNetwork: new Expression<string>('$.Values.host') },
    // @ts-expect-error: misspelled, on a condition
    { containers: [], securityContext: given(yes, { runAsUzer: 1 }) },
    // @ts-expect-error: misspelled, in one of two trees
    { containers: [], securityContext: choose<Written<k8s.PodSecurityContext>>(yes, { runAsUser: 1 }, { runAsUzer: 1 }) },
    // @ts-expect-error: misspelled, in an element on a condition
    { containers: when<Written<k8s.Container>>(yes, [{ name: 'a', imagee: 'b' }]) },
    // @ts-expect-error: of what type elements on a condition are has to be said
    { containers: [...when(yes, [{ name: 'a', imagee: 'b' }])] },
    // @ts-expect-error: misspelled, in each element of a list
    { containers: each('name', ['a'], (name): Written<k8s.Container> => ({ name, imagee: 'b' })) },
  ]
  const others: [ManifestOf<typeof k8s.KubeService>, ManifestOf<typeof ServiceMonitor>, ManifestOf<typeof Certificate>] = [
    // @ts-expect-error: misplaced, because it is a member of the spec
    { metadata, ports: [] },
    // @ts-expect-error: no value of the enumeration
    { metadata, spec: { selector: {}, endpoints: [{ scheme: 'gopher' }] } },
    // @ts-expect-error: spelled isCA by the API
    { metadata, spec: { secretName: 'a', issuerRef: { name: 'a' }, isCa: true } },
  ]
  // @ts-expect-error: an object needs a name
  const nameless: ManifestOf<typeof k8s.KubeService> = { metadata: { labels } }
  t.same([pods.length, others.length, Object.keys(nameless)], [11, 3, ['metadata']])
})

void t.test('every member that the types spell otherwise than the API is in the table', async (t) => {
  const folder = path.join(root, 'imports')
  const files = [
    path.join(root, 'node_modules/cdk8s-plus-28/lib/imports/k8s.js'),
    ...readdirSync(folder).flatMap((name) => (name.endsWith('.js') && !name.startsWith('clustersync') ? [path.join(folder, name)] : [])),
  ]
  const members = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^ *'([^']+)': .*?\bobj\.(\w+)/gm)])
  t.ok(members.length > 2000, `${members.length} members are read`)
  const found: Record<string, Set<string>> = {}
  for (const [, written = '', typed = ''] of members) (found[typed] ??= new Set()).add(written)
  const differing = Object.entries(found).filter(([typed, written]) => written.size > 1 || !written.has(typed))
  const table = differing.map(([typed, written]) => [typed, written.size > 1 ? undefined : [...written][0]])
  t.same(Object.fromEntries(table), spellings)
})
