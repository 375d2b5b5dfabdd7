/**
 * Many GatewaySyncs with gateway pods and SyncReports. The pods are only API objects: admission injects an agent into each, but no kubelet
 * runs them.
 */
import type { V1Pod } from '@kubernetes/client-node'
import * as v from 'valibot'
import { backoffMs, systemClock } from '../../../runtime/platform/clock.ts'
import { resolveProfile, syncHash } from '../../../runtime/api/schema/profile.ts'
import { apiVersion, podAnnotations, syncReportKind } from '../../../runtime/api/names.ts'
import { gatewaySyncSpec } from '../../../runtime/api/schema/spec.ts'
import type { SyncReportStatus } from '../../../runtime/api/schema/report.ts'
import { type New, podType, type Stored, syncReportType } from '../../../runtime/kube/types.ts'
import type { Installation } from '../../support/installation.ts'
import { chartPod } from '../../support/pods.ts'

export type Plant = { namespace: string; name: string; repo: string }
export type GatewayPod = { plant: Plant; name: string; uid: string }

/** The ServiceAccount of gateway pods, one in each namespace of the installation. */
const account = 'gateway'
/** Few enough that admission answers each within its five seconds even on a busy machine. */
const atOnce = 8
const maxTries = 8

/** Runs the work for each item, several at a time. */
export async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index]
      if (item !== undefined) await work(item)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

export function specOf(repo: string): object {
  return {
    git: { repo, ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }
}

/** The commit and sync hash that agents of the plants report as applied. */
export function hashOf(repo: string): string {
  const spec = v.parse(gatewaySyncSpec({ allowLocal: false }), specOf(repo))
  return syncHash(resolveProfile(spec.sync, 'default'), spec.gateway)
}

export async function createPlants(cluster: Installation, plants: readonly Plant[]): Promise<void> {
  await forEach(plants, async ({ namespace, name, repo }) => await cluster.gatewaySync(namespace, name, specOf(repo)))
}

/** Same shape as pods of the vendor's chart, so that list pages have a realistic size. */
export async function createPods({ world }: Installation, plants: readonly Plant[], ofEach: number): Promise<GatewayPod[]> {
  const made: GatewayPod[] = []
  const desired = plants.flatMap((plant) => Array.from({ length: ofEach }, (_, index) => ({ plant, name: `${plant.name}-gw-${index}` })))
  await forEach(desired, async ({ plant, name }) => {
    const { metadata, spec } = chartPod({ [podAnnotations.gatewaySync]: plant.name })
    const { generateName: _, ...rest } = metadata
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...rest, name, namespace: plant.namespace },
      spec: { ...spec, serviceAccountName: account },
    }
    const { uid } = (await untilTaken(() => world.kube.create(podType, pod as New<Stored<V1Pod>>, world.signal))).metadata
    made.push({ plant, name, uid })
  })
  return made
}

/** Retries requests refused because of a timeout, such as a pod by admission, with increasing delays. */
export async function untilTaken<Made>(make: () => Promise<Made>): Promise<Made> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await make()
    } catch (error) {
      if (failures === maxTries) throw error
      await systemClock.wait(backoffMs(failures, 1_000, 30_000, systemClock.random()))
    }
  }
}

export async function createReports({ world }: Installation, pods: readonly GatewayPod[]): Promise<void> {
  await forEach(pods, async ({ plant, name, uid }) => {
    const metadata = { namespace: plant.namespace, name, ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid }] }
    const spec = { gatewaySync: plant.name, podUid: uid }
    await world.kube.create(syncReportType, { apiVersion, kind: syncReportKind.kind, metadata, spec }, world.signal)
  })
}

export async function writeReport(
  { world }: Installation,
  { plant, name }: GatewayPod,
  applied: { commit: string; syncHash: string },
): Promise<void> {
  const status = reportStatus(name, applied)
  const key = { namespace: plant.namespace, name }
  await world.kube.mergePatch(syncReportType, key, { status }, { subresource: 'status' }, world.signal)
}

/** About as large as the report of a gateway with a few projects. */
export function reportStatus(gateway: string, { commit, syncHash }: { commit: string; syncHash: string }): SyncReportStatus {
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
  return {
    phase: 'Synced',
    commit,
    ref: 'main',
    syncHash,
    gateway,
    profile: 'default',
    mode: { name: 'prod', from: 'Gateway' },
    files: { added: 0, changed: 1, removed: 0, unchanged: 99, bytes: 400 },
    scan: { projects: { finishedAt: at }, finishedAt: at },
    projects: ['global', 'line-1', 'line-2', 'overview'],
    message: '1 file was changed',
    startedAt: at,
    finishedAt: at,
    agentVersion: '0.1.0',
    history: [{ commit, phase: 'Synced', finishedAt: at }],
  }
}
