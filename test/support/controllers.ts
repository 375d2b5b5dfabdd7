/**
 * Simulates the controllers of a cluster where kubectl commands wait for them: marks deployments as available and finalizes deleted
 * namespaces.
 */
import type { Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import type { KubeObject, ResourceType } from '../../runtime/kube/types.ts'
import type { ControlPlane } from '../cluster/control-plane.ts'
import { namespaceType, type World } from './world.ts'

const deploymentType: ResourceType = { group: 'apps', version: 'v1', plural: 'deployments', kind: 'Deployment', namespaced: true }
const pollIntervalMs = 100

/** Works until the test ends. */
export function standInControllers(t: Pick<Test, 'teardown'>, world: World): void {
  const stop = new AbortController()
  const working = work(world, stop.signal)
  t.teardown(async () => {
    stop.abort()
    await working
  })
}

async function work({ kube, plane }: World, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { items } of kube.listPages(deploymentType, {}, signal)) {
        for (const deployment of items.filter((item) => !isObserved(item))) {
          const { namespace = '', name } = deployment.metadata
          await kube.mergePatch(deploymentType, { namespace, name }, { status: running(deployment) }, { subresource: 'status' }, signal)
        }
      }
      for await (const { items } of kube.listPages(namespaceType, {}, signal)) {
        for (const { metadata } of items.filter((item) => item.metadata.deletionTimestamp !== undefined))
          await finalise(plane, metadata.name)
      }
    } catch {
      // Deleted or changed meanwhile; the next iteration reads the current state.
    }
    await systemClock.wait(pollIntervalMs, signal).catch(() => undefined)
  }
}

/** Finalizes a deleted namespace. */
export async function finalise(plane: ControlPlane, name: string): Promise<void> {
  const finalised = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: { finalizers: [] } }
  await plane.kubectl(['replace', '--raw', `/api/v1/namespaces/${name}/finalize`, '-f', '-'], JSON.stringify(finalised))
}

function isObserved({ metadata, status }: KubeObject): boolean {
  return (status as { observedGeneration?: number } | undefined)?.observedGeneration === metadata.generation
}

function running({ metadata, spec }: KubeObject): object {
  const { replicas = 1 } = spec as { replicas?: number }
  return {
    observedGeneration: metadata.generation,
    replicas,
    updatedReplicas: replicas,
    readyReplicas: replicas,
    availableReplicas: replicas,
  }
}
