/**
 * Reads Secrets from the cluster by name on demand: never listed, never watched.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Kube } from '../../kube/client.ts'
import { type KubeObject, secretType } from '../../kube/types.ts'
import type { ReadSecret, Secret } from '../../git/remote/secrets.ts'

/** How long a Secret is cached: several GatewaySyncs may name one, and a push must not wait for a repeated read. */
const keptMs = 2_000
const maxKept = 200
const timeoutMs = 5_000

/** Reads Secrets by name from the API server. Throws Forbidden, ApiUnavailable. */
export function readClusterSecret({ kube, clock }: { kube: Kube; clock: Clock }): ReadSecret {
  const kept = new Map<string, { secret: Promise<Secret | undefined>; untilMs: number }>()
  const read = async (namespace: string, name: string): Promise<Secret | undefined> => {
    const object = await kube.get(secretType, { namespace, name }, AbortSignal.timeout(timeoutMs))
    return object === undefined ? undefined : secretOf(object)
  }
  return async (namespace, name, signal) => {
    const key = `${namespace}/${name}`
    const known = kept.get(key)
    const reading = known !== undefined && clock.monotonicMs() < known.untilMs ? known.secret : read(namespace, name)
    if (reading !== known?.secret) {
      kept.delete(key)
      kept.set(key, { secret: reading, untilMs: clock.monotonicMs() + keptMs })
      reading.catch(() => kept.delete(key))
      const [oldest] = kept.keys()
      if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
    }
    const secret = await reading
    signal.throwIfAborted()
    return secret
  }
}

function secretOf(object: KubeObject): Secret {
  const { uid, resourceVersion } = object.metadata
  const { data = {} } = object as { data?: Record<string, string> }
  return {
    version: `${uid}/${resourceVersion}`,
    data: new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')])),
  }
}
