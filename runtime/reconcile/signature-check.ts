/**
 * Verifies signatures before a commit is published: of which objects, with which Secret, and for how long a result is cached.
 */
import type { Clock } from '../clock.ts'
import { type CommitHash, printable } from '../gatewaysync/values.ts'
import type { ReadSecret } from '../source/remote/secrets.ts'
import { readKeyring } from '../source/signatures/keyring.ts'
import { verify, type Verified } from '../source/signatures/verify.ts'
import type { ReconcileDeps } from './reconcile.ts'
import { syncKey, type SyncKey } from './records.ts'

export type SignatureDeps = {
  readSecret: ReadSecret
  /** A commit or tag of the GatewaySync's mirror, byte by byte. */
  rawObject(key: SyncKey, type: 'commit' | 'tag', id: CommitHash, name: string, signal: AbortSignal): Promise<Buffer>
  /** Where files for the verifying programs have a name for a moment. */
  folder: string
  clock: Clock
  /** Called after each verification that was made. */
  checked?(result: Verified['kind']): void
}

/** How long a good result is cached: each verification starts a process or two, which polling the same commit need not. */
const keptMs = 600_000
const maxKept = 2_000
/** Even a loaded machine verifies a signature in far less time. */
const timeoutMs = 20_000

/**
 * Caches good results for ten minutes. Rejects with faults of git and of reading the Secret; a bad signature is `refused`, with the reason.
 */
export function createSignatureCheck({ readSecret, rawObject, folder, clock, checked = () => {} }: SignatureDeps): ReconcileDeps['verify'] {
  // Only good results are cached, and not for ever: a key may expire.
  const kept = new Map<string, { verified: Verified; untilMs: number }>()
  return async ({ namespace, name }, { git }, { commit, name: ref, tag }, signal) => {
    if (git.verify === undefined) return { kind: 'notAsked' }
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
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.verified
    const read = readKeyring(secret.data)
    if (read.kind === 'unusable') return refuse(`${secretName}: ${read.why}`)
    const key = syncKey(namespace, name)
    const contents = {
      mode,
      commit,
      ref,
      commitBytes: await rawObject(key, 'commit', commit, ref, signal),
      tag: tag === undefined ? undefined : { id: tag, bytes: await rawObject(key, 'tag', tag, ref, signal) },
    }
    const verified = await verify(contents, read.keyring, { folder, timeoutMs, signal })
    if (verified.kind === 'refused') return refuse(verified.why)
    checked('verified')
    kept.delete(question)
    kept.set(question, { verified, untilMs: clock.monotonicMs() + keptMs })
    const [oldest] = kept.keys()
    if (kept.size > maxKept && oldest !== undefined) kept.delete(oldest)
    return verified
  }
}
