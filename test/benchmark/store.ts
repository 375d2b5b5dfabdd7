/**
 * Memory that the controller uses for gateway pods and SyncReports: the heap of its store with `size` of each (default 5,000), whatever the
 * size of the objects in the API server.
 */
import type { V1Pod } from '@kubernetes/client-node'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { podAnnotations } from '../../runtime/api/names.ts'
import type { KubeObject, Stored } from '../../runtime/kube/types.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import { projectPod, projectReport } from '../../runtime/reconcile/store/records.ts'
import { chartPod } from '../support/pods.ts'
import { type Figure, median } from './figures.ts'
import { reportStatus } from './scale/plants.ts'

/** Labels of a plant, in addition to those of the vendor's chart. */
const plantLabels = (index: number): Record<string, string> => ({
  'plant.example/site': `site-${index % 20}`,
  'plant.example/line': `line-${index % 200}`,
  'plant.example/ring': index % 10 === 0 ? 'canary' : 'rest',
  'plant.example/serial': `SN-${index}`,
})

const syncHash = `v2-${'0'.repeat(64)}`
const projectsOfGateway = 200

export async function run({ size = 5_000 }: { size?: number }): Promise<Figure[]> {
  const pods = (labels: (index: number) => Record<string, string>) => (store: Store, index: number) => {
    const pod = projectPod(podObject(index, labels(index)))
    if (pod !== undefined) store.upsertPod(pod)
  }
  const reports = (projects: number) => (store: Store, index: number) => store.upsertReport(projectReport(reportObject(index, projects)))
  return [
    {
      name: `${size} pods, labels of the chart alone`,
      value: heapOf(
        size,
        pods(() => ({})),
      ),
      unit: 'MiB',
    },
    { name: `${size} pods, four labels more, of which one is unique`, value: heapOf(size, pods(plantLabels)), unit: 'MiB' },
    { name: `a pod at the API server, as JSON`, value: JSON.stringify(podObject(0, plantLabels(0))).length, unit: 'bytes' },
    { name: `${size} reports of gateways with 4 projects`, value: heapOf(size, reports(4)), unit: 'MiB' },
    {
      name: `${size} reports of gateways with ${projectsOfGateway} projects`,
      value: heapOf(size, reports(projectsOfGateway)),
      unit: 'MiB',
    },
    { name: `the latter at the API server, as JSON`, value: JSON.stringify(reportObject(0, projectsOfGateway)).length, unit: 'bytes' },
  ]
}

/** Heap size of a store with that many objects after a garbage collection, in MiB; the first of four rounds is a warm-up. */
function heapOf(size: number, fill: (store: Store, index: number) => void): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  return median(Array.from({ length: 4 }, () => heapOnce(size, fill, collect)).slice(1))
}

function heapOnce(size: number, fill: (store: Store, index: number) => void, collect: () => void): number {
  collect()
  const before = process.memoryUsage().heapUsed
  const store = new Store(() => undefined)
  for (let index = 0; index < size; index += 1) fill(store, index)
  collect()
  const bytes = process.memoryUsage().heapUsed - before
  // Keeps the store reachable up to here.
  if (store.syncs().length > 0) throw new Error('there is no GatewaySync')
  return bytes / 1024 / 1024
}

/** As received from the API server: each text is a separate copy. */
function podObject(index: number, labels: Record<string, string>): Stored<V1Pod> {
  const { metadata, spec } = chartPod({ [podAnnotations.gatewaySync]: plantOf(index) })
  const own = {
    ...metadata,
    namespace: namespaceOf(index),
    name: nameOf(index),
    uid: uidOf(index),
    labels: { ...metadata.labels, ...labels },
  }
  return JSON.parse(JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: own, spec })) as Stored<V1Pod>
}

function reportObject(index: number, projects: number): KubeObject {
  const status = {
    ...reportStatus(nameOf(index), { commit: 'c'.repeat(40), syncHash }),
    projects: Array.from({ length: projects }, (_, project) => `project-${project}`),
  }
  const metadata = { namespace: namespaceOf(index), name: nameOf(index) }
  return JSON.parse(JSON.stringify({ metadata, spec: { gatewaySync: plantOf(index), podUid: uidOf(index) }, status })) as KubeObject
}

/** Five gateways per plant, twenty plants per namespace. */
function plantOf(index: number): string {
  return `plant-${Math.floor(index / 5)}`
}

function namespaceOf(index: number): string {
  return `plants-${Math.floor(index / 100)}`
}

function nameOf(index: number): string {
  return `${plantOf(index)}-gw-${index % 5}`
}

function uidOf(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}
