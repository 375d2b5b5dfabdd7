/**
 * Manifests on the real API server, which has the kinds of cert-manager and of the monitoring operator: each object is accepted, and a
 * second apply changes nothing. For the committed manifests, the profiles, and every pair of switches.
 */
import type { V1PodSpec } from '@kubernetes/client-node'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { App, type Chart } from 'cdk8s'
import t, { type Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { createCharts } from '../../infra/charts.ts'
import type { Manifest } from '../support/manifest.ts'
import type { ValuesInput } from '../../infra/values.ts'
import { type Json, type KubeObject, podType } from '../../runtime/kube/types.ts'
import { applyForeignKinds } from '../support/foreign-kinds.ts'
import { deploymentOf, profiles } from '../infra/installed.ts'
import { containsText } from '../support/assertions.ts'
import { requires } from '../support/requires.ts'
import { serverSideApply } from '../support/server-side-apply.ts'
import { rows, valuesOf } from '../support/switches.ts'
import { openWorld, until, type World } from '../support/world.ts'

const dist = path.resolve(import.meta.dirname, '../../dist')

/** A separate control plane, because the kinds and policies of an installation are cluster-wide. */
async function openCluster(t: Test): Promise<World> {
  const world = await openWorld(t, { shared: false })
  await applyForeignKinds(t, world)
  return world
}

function objectsOf(where: string, values: ValuesInput): Manifest[] {
  const charts = createCharts(new App(), { release: { name: where, namespace: where }, values, onWarning: () => {} })
  return charts.flatMap((chart: Chart) => chart.toJson() as Manifest[])
}

/** Identifies the state of an object. */
function versions(objects: readonly KubeObject[]): string[] {
  return objects.map(({ kind, metadata: { name, resourceVersion } }) => `${kind} ${name} ${resourceVersion}`)
}

void t.test('the API server accepts the manifests, and a second apply changes nothing', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openCluster(t)
  const { plane, namespace } = world
  const { apply, close } = serverSideApply(world)
  t.teardown(close)

  await t.test('dist/ with a plain apply, as documented', async (t) => {
    const definitions = await plane.kubectl(['apply', '-f', path.join(dist, 'crds.k8s.yaml')])
    t.equal(definitions.code, 0, definitions.stderr)
    await until(
      async () => ((await plane.kubectl(['get', 'gs,certificates.cert-manager.io', '-A'])).code === 0 ? true : undefined),
      'all kinds are served',
    )
    const file = path.join(dist, 'operator.k8s.yaml')
    const kinds = parseAllDocuments(readFileSync(file, 'utf8')).map((document) => (document.toJS() as Manifest).kind)
    t.equal(kinds.filter((kind) => kind === 'Namespace').length, 1)
    const first = await plane.kubectl(['apply', '-f', file])
    t.equal(first.code, 0, first.stderr)
    const again = await plane.kubectl(['apply', '-f', file])
    t.notMatch(again.stdout, /configured|created/, 'a second apply changes nothing')
  })

  for (const name of ['grafana', 'plant-a', 'plant-b']) await namespaceNamed(world, name)
  const row = (index: number) => `every two switches: row ${index + 1} of ${rows.length}`
  const lowPorts: ValuesInput = { metrics: { service: { port: 443 } }, webhookReceiver: { enabled: true, port: 80 } }
  const anyUser: ValuesInput = { podSecurityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } } }
  const restricted: Record<string, ValuesInput> = { ...profiles, 'ports below 1024': lowPorts, "a user of the cluster's choice": anyUser }
  const cases = [...Object.entries(restricted), ...rows.map((settings, index) => [row(index), valuesOf(settings)] as const)]
  for (const [name, values] of cases) {
    await t.test(name, async (t) => {
      const release = await namespace('release')
      const objects = objectsOf(release, values)
      const tried = await apply(objects, { dryRun: true })
      t.strictSame(
        tried.map(({ kind }) => kind),
        objects.map(({ kind }) => kind),
        'a dry run accepts each object',
      )
      const first = await apply(objects)
      t.strictSame(versions(await apply(objects)), versions(first), 'a second apply changes nothing')
      if (!(name in restricted)) return
      const refusal = await refusalOfPod(world, release, objects)
      if (values.hostNetwork === true) containsText(t, refusal, 'host namespaces', "a pod of the host's network is not, and for that alone")
      else t.equal(refusal, undefined, 'the pod is admitted where pods are restricted')
    })
  }
})

/** The reason why the API server refuses the controller's pod in a namespace with the restricted standard; undefined if it is admitted. */
async function refusalOfPod({ kube, plane, signal }: World, namespace: string, objects: readonly Manifest[]): Promise<string | undefined> {
  const enforced = await plane.kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted'])
  if (enforced.code !== 0) return enforced.stderr
  type Named = { priorityClassName?: string; serviceAccountName: string; volumes: object[] }
  const { template, volumeClaimTemplates = [] } = deploymentOf(objects).spec
  // Priority class and account in the values may be those of another cluster; the StatefulSet adds the volumes of its claims.
  const { priorityClassName: _class, serviceAccountName: _account, volumes, ...others }: Named = template.spec
  const claims = volumeClaimTemplates.map(({ metadata: { name } }) => ({ name, persistentVolumeClaim: { claimName: name } }))
  const spec = { ...others, volumes: [...volumes, ...claims] } as unknown as Json<V1PodSpec>
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name: 'controller' }, spec }
  return kube.create(podType, pod, signal).then(
    () => undefined,
    (error: unknown) => String(error),
  )
}

async function namespaceNamed({ kube, signal }: World, name: string): Promise<void> {
  const type = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false }
  await kube.create(type, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, signal)
}
