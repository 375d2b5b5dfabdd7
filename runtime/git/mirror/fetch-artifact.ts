/**
 * Fetches OCI artifacts into a mirror: each becomes one commit, so that the code that uses the mirror works as for a git repository. Before
 * a layer is read, its manifest is checked against its digest and, if keys are given, the digest against cosign's signatures.
 */
import { type Digest, artifactRevision, digestIn, isDigest } from '../../api/artifact-revision.ts'
import { isTagSelector, NewestTag, selectorText, type TagSelector } from '../../api/followed-ref.ts'
import { type CommitHash, isCommitHash, parseCommitHash, printable, shortRef } from '../../api/values.ts'
import { FairCache } from '../../platform/async/fair-cache.ts'
import type { Clock } from '../../platform/clock.ts'
import { counted } from '../../platform/text/counted.ts'
import { Fault } from '../../platform/fault.ts'
import type { GitLimits } from '../command/git.ts'
import type { GitMemory } from '../command/memory.ts'
import { incomingRef, keepCommit, sweep, writeConfig } from '../disk/mirror-folder.ts'
import { type Artifact, readArtifact, readSignatures } from '../oci/manifest.ts'
import { type DownloadedLayer, downloadLayer } from '../oci/download-layer.ts'
import { importArtifact } from '../oci/import-tree.ts'
import { isTag, Registry } from '../oci/registry.ts'
import type { Network } from '../remote/network.ts'
import { mirrorKey, type Remote } from '../remote/remote.ts'
import { signerOf } from '../verify/cosign.ts'
import { VerificationShare } from '../verify/verification-share.ts'
import { createRunLocal, type Fetches } from './fetch.ts'
import type { Fetched } from './listing.ts'
import type { Reservation } from './volume.ts'

type Deps = {
  remote: Remote
  network: Network
  limits: GitLimits
  memory: GitMemory
  reserve(namespace: string, size: 'usual' | 'most'): Promise<Reservation>
  digestOf(commit: CommitHash): Digest | undefined
  verdicts: Verdicts
}

type ToImport = { artifact: Artifact; digest: Digest; layer: DownloadedLayer; maxPackBytes: number }
type Signer = NonNullable<Fetched['signer']>

/** By mirror, whose key names the Secret with the keys, and artifact: who signed it, or the manifest of signatures by other keys. */
type KnownVerdicts = FairCache<{ signer: Signer } | { refused: Digest; signatures: number }>

/** `share`: of new verifications. */
export type Verdicts = { known: KnownVerdicts; share: VerificationShare }

const maxPayloadBytes = 64 * 1024
const maxVerdicts = 1_000
/** A verification may also fail because this machine lacks something. */
const refusedMs = 600_000
/** A tag may look like the hash of a commit. */
const tagPrefix = 'tag '

/** One for all mirrors: signatures are read and verified once, and bad ones again after ten minutes. */
export function rememberVerdicts(clock: Pick<Clock, 'monotonicMs' | 'wait'>): Verdicts {
  return { known: new FairCache({ max: maxVerdicts, clock }), share: new VerificationShare(clock) }
}

/** What `fetch` accepts for a followed tag, range or digest. */
export function followedArtifact(followed: string): string {
  return isDigest(followed) || isTagSelector(followed) ? followed : `${tagPrefix}${followed}`
}

/** The calls of git that only a git host answers are refused. */
export function createArtifactFetches(deps: Deps): Fetches {
  const fetches = new ArtifactFetches(deps)
  const refuse = async (): Promise<never> => {
    throw new Fault('Unexpected', 'an OCI artifact has no branches')
  }
  return {
    fetch: (into, what, signal) => fetches.fetch(into, what, signal),
    list: refuse,
    isThere: refuse,
    formatOfHost: async (_place, _what, fallback) => fallback,
    push: refuse,
  }
}

type Into = Parameters<Fetches['fetch']>[0]

class ArtifactFetches {
  readonly #deps: Deps

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async fetch(into: Into, what: string, signal: AbortSignal): Promise<Fetched> {
    const { remote, network } = this.#deps
    writeConfig(into.at, into.format)
    const registry = new Registry(remote, network)
    const name = isCommitHash(what) ? this.#digestOf(what) : await revisionOf(registry, what, signal)
    const digest = digestIn(name) as Digest
    const known = await this.#commitOf(into.at, digest, signal)
    const signer = await this.#signer(registry, into.namespace, digest, signal)
    const commit = known ?? (await this.#fetchNew(registry, into, digest, signal))
    keepCommit(into.at, commit)
    // Only a release that creates commits in another way could lead here.
    if (isCommitHash(what) && commit !== what) throw new Fault('RefNotFound', `artifact ${digest} is now commit ${commit}, not ${what}`)
    return { commit, tag: undefined, name, ...(signer === undefined ? {} : { signer }) }
  }

  /** The digest of a commit that this mirror has lost. */
  #digestOf(commit: CommitHash): Digest {
    const digest = this.#deps.digestOf(commit)
    if (digest === undefined) throw new Fault('RefNotFound', `no status names the artifact of commit ${commit}`)
    return digest
  }

  /** The commit of an artifact, if the mirror keeps it: the body of its message is the digest. */
  async #commitOf(at: string, digest: Digest, signal: AbortSignal): Promise<CommitHash | undefined> {
    const local = createRunLocal(this.#deps.limits)
    const kept = (await local(at, ['for-each-ref', '--format=%(objectname) %(contents:body)', 'refs/w/'], signal)).toString('utf8')
    return kept.split('\n').flatMap((line) => {
      const [commit = '', body] = line.split(' ')
      return body === digest && isCommitHash(commit) ? [commit] : []
    })[0]
  }

  async #signer(registry: Registry, namespace: string, digest: Digest, signal: AbortSignal): Promise<Signer | undefined> {
    const { remote, verdicts } = this.#deps
    const { trustedKeys } = remote.access
    if (trustedKeys === undefined) return undefined
    const question = `${mirrorKey(remote)} ${digest}`
    const known = verdicts.known.get(question)
    if (known !== undefined && 'signer' in known) return known.signer
    const signaturesDigest = await registry.digestOf(digest.replace(':', '-').concat('.sig'), signal)
    if (signaturesDigest === undefined) throw notVerified(digest, 0)
    if (known?.refused === signaturesDigest) throw notVerified(digest, known.signatures)
    const manifest = await registry.manifest(signaturesDigest, signal)
    const signatures = manifest === undefined ? [] : readSignatures(manifest)
    for (const { payload, base64 } of signatures) {
      const signed = { payload: await registry.smallBlob(payload, maxPayloadBytes, signal), signature: Buffer.from(base64, 'base64') }
      const signer = await verdicts.share.run(namespace, async () => await signerOf(signed, digest, trustedKeys), signal)
      if (signer === undefined) continue
      const found = { key: signer.fingerprint, by: signer.name }
      verdicts.known.set(namespace, question, { signer: found })
      return found
    }
    if (manifest !== undefined)
      verdicts.known.set(namespace, question, { refused: signaturesDigest, signatures: signatures.length }, { ttlMs: refusedMs })
    throw notVerified(digest, signatures.length)
  }

  async #fetchNew(registry: Registry, into: Into, digest: Digest, signal: AbortSignal): Promise<CommitHash> {
    const manifest = await registry.manifest(digest, signal)
    if (manifest === undefined) throw new Fault('RefNotFound', `the registry has no artifact ${digest}`)
    const artifact = readArtifact(manifest)
    const maxLayerBytes = this.#deps.limits.maxPackBytes / 2
    if (artifact.layer.size > maxLayerBytes) throw tooLarge(maxLayerBytes)
    await this.#importReserved(registry, into, { artifact, digest }, signal)
    const local = createRunLocal(this.#deps.limits)
    return parseCommitHash((await local(into.at, ['rev-parse', '--verify', incomingRef], signal)).toString('latin1').trim())
  }

  /** With space for a layer and its pack; as for a git host, the largest that is allowed if the usual one does not suffice. */
  async #importReserved(
    registry: Registry,
    into: Into,
    what: Omit<ToImport, 'layer' | 'maxPackBytes'>,
    signal: AbortSignal,
  ): Promise<void> {
    const { remote, limits, reserve } = this.#deps
    const { layer: blob } = what.artifact
    for (const size of ['usual', 'most'] as const) {
      const { maxPackBytes, release } = await reserve(into.namespace, size)
      try {
        if (size === 'usual' && maxPackBytes < reservedTimes * blob.size) continue
        const layer = await downloadLayer({ registry, host: remote.url.host, layer: blob }, into.at, signal)
        try {
          await this.#import(into, { ...what, layer, maxPackBytes: maxPackBytes - blob.size }, signal)
        } finally {
          await layer.close()
        }
        return
      } catch (error) {
        const mayFit = size === 'usual' && maxPackBytes < limits.maxPackBytes
        if (!mayFit || !(error instanceof Fault) || error.reason !== 'RepositoryTooLarge') throw error
      } finally {
        release()
      }
    }
  }

  /** Within the small share of memory, or the large one if that does not suffice. */
  async #import(into: Into, what: ToImport, signal: AbortSignal): Promise<void> {
    try {
      await this.#importWithin('small', into, what, signal)
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'GitOutOfMemory') throw error
      await this.#importWithin('large', into, what, signal)
    }
  }

  async #importWithin(size: 'small' | 'large', { at, namespace }: Into, { layer, maxPackBytes, ...wanted }: ToImport, signal: AbortSignal) {
    const { remote, limits, memory } = this.#deps
    const { host, text: repository } = remote.url
    await memory.run(size, { namespace, host, repository }, signal, async ({ maxMemoryBytes }, own) => {
      try {
        const within = { limits: { maxMemoryBytes, maxPackBytes }, maxBytes: limits.maxPackBytes }
        await importArtifact({ ...wanted, ...within, folder: at, content: layer.content() }, own)
      } catch (error) {
        // The limiter may run this again.
        sweep(at)
        throw error
      }
    })
  }
}

/** A reservation of so many times the layer suffices for most layers and their packs; git compresses each file alone. */
const reservedTimes = 5

/** The revision, as Flux writes it. Throws RefNotFound and the faults of a registry. */
async function revisionOf(registry: Registry, what: string, signal: AbortSignal): Promise<string> {
  if (isDigest(what)) return what
  // A request may name a tag as git hosts do.
  const tag = isTagSelector(what) ? await newestOf(registry, what, signal) : shortRef(what.slice(tagPrefix.length))
  const digest = isTag(tag) ? await registry.digestOf(tag, signal) : undefined
  if (digest === undefined) throw new Fault('RefNotFound', `the registry has no tag "${printable(tag)}" of this repository`)
  return artifactRevision(tag, digest)
}

async function newestOf(registry: Registry, selector: TagSelector, signal: AbortSignal): Promise<string> {
  const newest = new NewestTag(selector)
  let found: string | undefined
  let count = 0
  for await (const tags of registry.tags(signal)) {
    found = tags.filter((tag) => newest.offer(tag)).at(-1) ?? found
    count += tags.length
  }
  if (found !== undefined) return found
  throw new Fault(
    'RefNotFound',
    `the registry has no tag that matches ${selectorText(selector)}; it has ${counted(count, 'tag')} of this repository`,
  )
}

function tooLarge(maxBytes: number): Fault {
  const limit = Math.round(maxBytes / 2 ** 20)
  return new Fault('RepositoryTooLarge', `the layer of the artifact is larger than ${limit} MiB, the maximum for one fetch`)
}

function notVerified(digest: Digest, signatures: number): Fault {
  const why = signatures === 0 ? 'has no signature of cosign' : `has ${counted(signatures, 'signature')}, none by a key of spec.oci.verify`
  return new Fault('NotVerified', `artifact ${digest} ${why}`)
}
