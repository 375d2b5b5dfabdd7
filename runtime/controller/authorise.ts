/**
 * Whether a caller of delivery is a pod that follows the GatewaySync it asks for (design section 5).
 */
import { deliveryToken } from '../gatewaysync/names.ts'
import type { Kube } from '../kube/client.ts'
import { reviewToken } from '../kube/token-review.ts'
import { podType } from '../kube/types.ts'
import { projectPod, type Store } from '../reconcile/store.ts'

export type Authorisation = { kind: 'allowed' } | { kind: 'refused'; status: 401 | 403 | 404; message: string }

type Caller = { namespace: string; name: string; token: string }

/** `watched`: the namespaces that this installation works in; empty: all. The result throws ApiUnavailable. */
export function createAuthoriser({ kube, store, watched }: { kube: Kube; store: Store; watched: readonly string[] }) {
  return async ({ namespace, name, token }: Caller, signal: AbortSignal): Promise<Authorisation> => {
    const review = await reviewToken(kube, token, deliveryToken.audience, signal)
    if (review.kind === 'refused') return { kind: 'refused', status: 401, message: review.why }
    if (review.namespace !== namespace) return refused(`the token is of namespace "${review.namespace}"`)
    // Where we do not work we may not even look.
    if (watched.length > 0 && !watched.includes(namespace)) return refused(`this installation does not work in namespace "${namespace}"`)
    // A pod may ask before our watch has told us of it, or of the end of its predecessor.
    const known = store.pod(namespace, review.pod)
    const pod = known?.uid === review.uid ? known : await readPod(kube, namespace, review.pod, signal)
    if (pod === undefined || pod.uid !== review.uid) return refused(`pod "${review.pod}" does not exist any more, or asks for no agent`)
    if (store.syncOfPod(pod) !== name) return refused(`pod "${review.pod}" does not follow GatewaySync "${name}"`)
    return { kind: 'allowed' }
  }
}

async function readPod(kube: Kube, namespace: string, name: string, signal: AbortSignal) {
  const object = await kube.get(podType, { namespace, name }, signal)
  return object === undefined ? undefined : projectPod(object)
}

function refused(message: string): Authorisation {
  return { kind: 'refused', status: 403, message }
}
