/**
 * Verifies signatures before a commit is published, and caches good results.
 */
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import { type CommitHash, printable } from '../api/values.ts'
import { FairCache } from '../platform/async/fair-cache.ts'
import { FairLimiter } from '../platform/async/fair-limiter.ts'
import type { ReadSecret, Secret } from '../git/remote/secrets.ts'
import { readKeyring } from '../git/verify/keyring.ts'
import { verify, type Verified } from '../git/verify/verify.ts'
import type { ReconcileDeps } from './reconcile.ts'
import { syncKey, type SyncKey } from './store/records.ts'

export type SignatureDeps = {
  readSecret: ReadSecret
  /** Returns the raw bytes of a commit or tag in the GatewaySync's mirror. */
  rawObject(key: SyncKey, type: 'commit' | 'tag', id: CommitHash, name: string, signal: AbortSignal): Promise<Buffer>
  /** Folder for temporary files of the verifying programs. */
  folder: string
  clock: Clock
  /** Called after each verification. */
  checked?(result: Verified['kind']): void
}

/** How long a good result is cached: each verification starts one or two processes, which polling the same commit must not repeat. */
const keptMs = 600_000
const maxKept = 2_000
/** Of keyrings that are kept: reading one of a megabyte blocks the process for 50 ms, at each poll of a commit that is not signed. */
const maxKeyringBytes = 2 * 1024 * 1024
/** Verification takes far less, even on a loaded machine. */
const timeoutMs = 20_000
/** Concurrent verifications; each is one or two processes. */
const limits = { total: 4, reserve: 1, perTenant: 2, maxWaiting: 1_000 } as const

/**
 * Caches good results for ten minutes. Rejects with faults of git and of reading the Secret; a bad signature is `refused` with the reason.
 */
export function createSignatureCheck({ readSecret, rawObject, folder, clock, checked = () => {} }: SignatureDeps): {
  verify: ReconcileDeps['verify']
  /** The verifications that each namespace uses; a key is the name of a GatewaySync. */
  limiter: Pick<FairLimiter, 'uses' | 'waits'>
} {
  const limiter = new FairLimiter({ ...limits, clock })
  // Only good results are cached, and only for a while: a key may expire.
  const kept = new FairCache<Verified>({ max: maxKept, ttlMs: keptMs, clock })
  const keyrings = new FairCache<ReturnType<typeof readKeyring>>({ max: maxKeyringBytes })
  const keyringOf = (namespace: string, name: string, { version, data }: Secret): ReturnType<typeof readKeyring> => {
    const key = JSON.stringify([namespace, name, version])
    const read = keyrings.get(key) ?? readKeyring(data)
    keyrings.set(namespace, key, read, { size: bytesOf(read) })
    return read
  }
  const verifyOnce: ReconcileDeps['verify'] = async ({ namespace, name }, { git }, { commit, name: ref, tag, signer }, signal) => {
    // An artifact is verified before it is fetched (fetch-artifact.ts).
    if (git.oci?.verify !== undefined && signer !== undefined) return { kind: 'verified', commit: signer }
    if (git.oci?.verify !== undefined) return { kind: 'refused', why: 'the signature of the artifact was not checked' }
    if (git.verify === undefined) return { kind: 'notRequired' }
    const { mode, secretRef } = git.verify
    const refuse = (why: string): Verified => {
      checked('refused')
      return { kind: 'refused', why }
    }
    const secret = await readSecret(namespace, secretRef.name, signal)
    const secretName = `spec.git.verify: Secret "${printable(secretRef.name)}"`
    if (secret === undefined) return refuse(`${secretName} does not exist`)
    const question = JSON.stringify([namespace, secretRef.name, secret.version, mode, commit, ref, tag])
    const known = kept.get(question)
    if (known !== undefined) return known
    const read = keyringOf(namespace, secretRef.name, secret)
    if (read.kind === 'unusable') return refuse(`${secretName}: ${read.why}`)
    const key = syncKey(namespace, name)
    const contents = {
      mode,
      commit,
      ref,
      commitBytes: await rawObject(key, 'commit', commit, ref, signal),
      tag: tag === undefined ? undefined : { id: tag, bytes: await rawObject(key, 'tag', tag, ref, signal) },
    }
    const done = await limiter.run({ tenant: namespace, key: name, owner: name }, signal, (own) =>
      verify(contents, read.keyring, { folder, timeoutMs, signal: own }),
    )
    if (done === undefined) throw new Fault('TooManyRequests', `too many signatures of namespace "${namespace}" wait to be verified`)
    const verified = done.result
    if (verified.kind === 'refused') return refuse(verified.why)
    checked('verified')
    kept.set(namespace, question, verified)
    return verified
  }
  return { verify: verifyOnce, limiter }
}

function bytesOf(read: ReturnType<typeof readKeyring>): number {
  if (read.kind === 'unusable') return 1024
  const { pgp, pgpKeys, sshKeys } = read.keyring
  return 1024 + pgp.length + 512 * (pgpKeys.size + sshKeys.size)
}
