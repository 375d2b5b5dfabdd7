/**
 * Reads Secrets from the cluster by name on demand: never listed, never watched.
 */
import type { V1Secret } from '@kubernetes/client-node'
import type { Clock } from '../../platform/clock.ts'
import { FairCache, keepPromise } from '../../platform/async/fair-cache.ts'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import { Fault } from '../../platform/fault.ts'
import type { Kube } from '../../kube/client.ts'
import { secretType, type Stored } from '../../kube/types.ts'
import type { ReadSecret, Secret } from '../../git/remote/secrets.ts'

/** How long a Secret is cached: several GatewaySyncs may name one, and a push must not wait for a repeated read. */
const keptMs = 2_000
/** A Secret has up to 1 MiB. */
const maxKeptBytes = 4 * 1024 * 1024
const timeoutMs = 5_000
/** Concurrent reads, in total and of one namespace: a Secret of 1 MiB takes 15 MiB of memory while it is read. */
const readsAtOnce = { total: 3, perKey: 1 } as const

/** Reads a Secret in its turn. Throws Forbidden, ApiUnavailable. */
export type GetSecret = (namespace: string, name: string) => Promise<Stored<V1Secret> | undefined>

/** One for each process. */
export function createGetSecret({ kube, clock }: { kube: Pick<Kube, 'get'>; clock: Clock }): GetSecret {
  const limiter = new FairLimiter({ ...readsAtOnce, clock })
  return async (namespace, name) => {
    const read = (signal: AbortSignal) => kube.get(secretType, { namespace, name }, signal)
    const done = await limiter.run({ tenant: namespace }, AbortSignal.timeout(timeoutMs), read)
    // Never reported as a missing Secret.
    if (done === undefined) throw new Fault('ApiUnavailable', `too many Secrets of namespace "${namespace}" are being read`)
    return done.result
  }
}

/** Reads Secrets by name from the API server. Throws Forbidden, ApiUnavailable. */
export function readClusterSecret({ getSecret, clock }: { getSecret: GetSecret; clock: Clock }): ReadSecret {
  const kept = new FairCache<Promise<Secret | undefined>>({ max: maxKeptBytes, ttlMs: keptMs, clock })
  const read = async (namespace: string, name: string): Promise<Secret | undefined> => {
    const object = await getSecret(namespace, name)
    return object === undefined ? undefined : secretOf(object)
  }
  return async (namespace, name, signal) => {
    const key = `${namespace}/${name}`
    const known = kept.get(key)
    const reading = known ?? read(namespace, name)
    if (known === undefined) {
      keepPromise(kept, { owner: namespace, key }, reading, bytesOf)
      reading.catch(() => kept.delete(key))
    }
    const secret = await reading
    signal.throwIfAborted()
    return secret
  }
}

function bytesOf(secret: Secret | undefined): number {
  return [...(secret?.data.values() ?? [])].reduce((sum, value) => sum + value.byteLength, 0)
}

function secretOf({ metadata: { uid, resourceVersion }, data = {} }: Stored<V1Secret>): Secret {
  return {
    version: `${uid}/${resourceVersion}`,
    data: new Map(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64')])),
  }
}
