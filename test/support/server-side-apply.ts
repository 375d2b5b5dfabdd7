/**
 * `kubectl apply --server-side` for any object without a process for each; the API server answers with the resulting object.
 */
import type { Manifest } from './manifest.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { loadKube } from '../../runtime/kube/client.ts'
import { createTransport } from '../../runtime/kube/transport.ts'
import { type KubeObject, pathOf } from '../../runtime/kube/types.ts'
import type { World } from './world.ts'

export type ServerSideApply = {
  /** Throws an Error with the API server's message if an object is refused. */
  apply(objects: readonly Manifest[], options?: { dryRun?: boolean }): Promise<KubeObject[]>
  close(): void
}

export function serverSideApply({ plane, signal }: World): ServerSideApply {
  const transport = createTransport(loadKube({ kubeconfig: plane.adminKubeconfig }), { clock: systemClock, userAgent: 'test' })
  const applyOne = async (object: Manifest, dryRun: boolean): Promise<KubeObject> => {
    const query = `fieldManager=test&force=true&fieldValidation=Strict${dryRun ? '&dryRun=All' : ''}`
    const body = JSON.stringify(object)
    const request = { method: 'PATCH', path: `${urlOf(object)}?${query}`, body, contentType: 'application/apply-patch+yaml' }
    const { status, text } = await transport.send(request, signal)
    const answer = JSON.parse(text) as KubeObject & { message?: string }
    if (status >= 300) throw new Error(`${object.kind} ${object.metadata.name}: ${answer.message ?? status}`)
    return answer
  }
  return {
    apply: async (objects, { dryRun = false } = {}) => Promise.all(objects.map((object) => applyOne(object, dryRun))),
    close: () => transport.close(),
  }
}

function urlOf({ apiVersion, kind, metadata: { name, namespace } }: Manifest): string {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  const key = typeof namespace === 'string' ? { namespace, name } : { name }
  return pathOf({ group, version, plural: pluralOf(kind), kind, namespaced: typeof namespace === 'string' }, key)
}

function pluralOf(kind: string): string {
  const word = kind.toLowerCase()
  if (word.endsWith('s')) return `${word}es`
  return word.endsWith('y') ? `${word.slice(0, -1)}ies` : `${word}s`
}
