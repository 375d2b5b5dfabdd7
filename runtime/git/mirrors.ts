/**
 * Manages all mirrors of one process: one for each pair of repository and credentials, in one folder, with common limits for disk and memory.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { Digest } from '../api/artifact-revision.ts'
import type { CommitHash } from '../api/values.ts'
import type { Log } from '../platform/log/log.ts'
import type { GitLimits } from './command/git.ts'
import { createGitMemory, type GitMemory } from './command/memory.ts'
import { ReadingMemory } from './command/reading-memory.ts'
import { type Network, openNetwork } from './remote/network.ts'
import { rememberVerdicts } from './mirror/fetch-artifact.ts'
import { type Mirror, openMirror } from './mirror/mirror.ts'
import { requireOwnFolder, sizeOfFolder } from './disk/mirror-folder.ts'
import { onVolume } from './command/volume-fault.ts'
import { rememberListedBlobs, rememberBlobs } from './content/remembered-blobs.ts'
import { mirrorKey, type Remote } from './remote/remote.ts'
import { Volume, type VolumeFigures } from './mirror/volume.ts'

export type { Mirror } from './mirror/mirror.ts'
export type { Remote } from './remote/remote.ts'

/** Built once by each entry that reads repositories. */
export type Mirrors = {
  /** The mirror of a repository, used by `namespace`. Throws InvalidConfiguration when other users may write to the folder, and SourceVolumeFull. */
  of(remote: Remote, namespace?: string): Mirror
  /**
   * Removes all mirrors except these, also those of an earlier process. `kept`: keys of mirrors; the key of a repository keeps all of its
   * mirrors.
   */
  prune(kept: ReadonlySet<string>): Promise<void>
  /** The namespaces' use of the memory for git. */
  memory: GitMemory['limiter']
  /** Aborts every running git, and settles when all have ended. */
  close(): Promise<void>
}

type Options = {
  /** On a disk, not a tmpfs; losing it costs one fetch for each repository. */
  folder: string
  clock: Clock
  log: Log
  /** All commits that are still needed, in any mirror; a clean-up drops the others. Undefined while unknown: all are kept. */
  needed?: () => ReadonlySet<string> | undefined
  /** The digest of the artifact that a commit was made from, if a status names it: a mirror that lost the commit fetches it again. */
  digestOf?: (commit: CommitHash) => Digest | undefined
  /** Limits of one pack (1 GiB by default) and of all mirrors together (none by default). */
  maxPackBytes?: number
  maxBytes?: number
  network?: Network
  /** Receives the size of the mirrors. */
  figures?: VolumeFigures
}

/** RLIMIT_DATA of git. Two similar texts of 20 MB need 46 MiB; nothing else bounds the memory of a delta. */
const maxMemoryBytes = 56 * 1024 * 1024
const defaultMaxPackBytes = 1024 * 1024 * 1024

/**
 * Mirrors that one namespace may open between two calls of `prune`. Each takes 16 KiB of memory, and a tenant may change the URL of its
 * repository as often as the API server permits.
 */
const maxOpened = 1_000
/** Maximum characters of the texts of Secrets that the mirrors of a namespace keep: 18 bundles of all public authorities, for example. */
const maxSecretCharacters = 4 * 1024 * 1024

const mirrorNames = /^[0-9a-f]{32}(?:-[0-9a-f]{32})?(?:\.new)?$/

/** Opens each mirror on its first use. Never throws; `of` checks the folder. */
export function createMirrors({
  folder,
  clock,
  log,
  needed = () => undefined,
  digestOf = () => undefined,
  maxPackBytes = defaultMaxPackBytes,
  maxBytes = Number.MAX_SAFE_INTEGER,
  network = openNetwork,
  figures,
}: Options): Mirrors {
  const mirrors = new Map<string, (namespace: string) => Mirror>()
  const opened = new OpenedMirrors()
  const stopping = new AbortController()
  let hasCountedLeftovers = false
  const limits: GitLimits = { maxMemoryBytes, maxPackBytes }
  const memory = createGitMemory()
  const readingMemory = new ReadingMemory({ held: () => memory.limiter.held })
  const remembered = { listedBlobs: rememberListedBlobs(), recentBlobs: rememberBlobs(), verdicts: rememberVerdicts(clock) }
  const volume = new Volume({ maxBytes, maxPackBytes, nowMs: () => clock.monotonicMs(), ...(figures === undefined ? {} : { figures }) })
  const open = (key: string, remote: Remote, namespace: string): ((namespace: string) => Mirror) => {
    requireOwnFolder(folder)
    opened.add(key, namespace, remote.access.texts)
    if (!hasCountedLeftovers) countLeftovers(folder, volume, (name) => mirrors.has(name))
    hasCountedLeftovers = true
    const mirror = openMirror({
      folder: path.join(folder, key),
      remote,
      network,
      limits,
      reserve: (namespace, size) => volume.reserve(key, namespace, size),
      ...remembered,
      memory,
      readingMemory,
      needed,
      digestOf,
      clock,
      log,
      signal: stopping.signal,
    })
    mirrors.set(key, mirror)
    return mirror
  }
  return {
    memory: memory.limiter,
    of(remote, namespace = '') {
      const key = mirrorKey(remote)
      const mirror = (mirrors.get(key) ?? open(key, remote, namespace))(namespace)
      volume.use(key, mirror.tenant, namespace)
      return mirror
    },
    prune: (kept) => pruneMirrors({ folder, mirrors, opened, volume }, kept),
    async close() {
      stopping.abort(new Error('closing'))
      await Promise.all([...mirrors.values()].map((of) => of('').settled()))
    },
  }
}

/** What the open mirrors of each namespace take. */
class OpenedMirrors {
  /** How many each namespace has opened since the last prune. */
  readonly #counts = new Map<string, number>()
  /** What mirrors keep of Secrets, by the key of the mirror. */
  readonly #kept = new Map<string, { namespace: string; texts: readonly string[] }>()

  /** Throws SourceVolumeFull, and CredentialsInvalid for too large Secrets. */
  add(key: string, namespace: string, texts: readonly string[]): void {
    const count = (this.#counts.get(namespace) ?? 0) + 1
    if (count > maxOpened)
      throw new Fault(
        'SourceVolumeFull',
        `namespace "${namespace}" has used ${maxOpened} repositories; unused ones are removed every ten minutes`,
      )
    if (texts.length > 0 && this.#charactersWith(namespace, texts) > maxSecretCharacters)
      throw new Fault(
        'CredentialsInvalid',
        `the Secrets for the repositories of namespace "${namespace}" have more than 4 MiB in total; use a smaller CA bundle, or one Secret for all`,
      )
    this.#counts.set(namespace, count)
    this.#kept.set(key, { namespace, texts })
  }

  drop(key: string): void {
    this.#kept.delete(key)
  }

  pruned(): void {
    this.#counts.clear()
  }

  /** Mirrors with one Secret share its text, so equal texts count once. */
  #charactersWith(namespace: string, texts: readonly string[]): number {
    const own = [...this.#kept.values()].filter((one) => one.namespace === namespace)
    const distinct = new Set([...own.flatMap((one) => one.texts), ...texts])
    return [...distinct].reduce((sum, { length }) => sum + length, 0)
  }
}

/** Mirrors of an earlier process count as well, until they are used again or removed. */
function countLeftovers(folder: string, volume: Volume, isOpen: (name: string) => boolean): void {
  for (const name of readdirSync(folder)) {
    const left = path.join(folder, name)
    const drop = async (): Promise<boolean> => {
      if (isOpen(name)) return false
      rmSync(left, { recursive: true, force: true })
      return true
    }
    if (mirrorNames.test(name))
      volume.use(name, { measure: () => sizeOfFolder(left), packs: () => 0, tidyIfIdle: async () => false, dropIfIdle: drop }, '')
  }
}

type Opened = {
  folder: string
  mirrors: Map<string, (namespace: string) => Mirror>
  opened: OpenedMirrors
  volume: Volume
}

async function pruneMirrors({ folder, mirrors, opened, volume }: Opened, kept: ReadonlySet<string>): Promise<void> {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, key, repository = ''] = /^(([0-9a-f]{32})(?:-[0-9a-f]{32})?)(?:\.new)?$/.exec(name) ?? []
    if (key === undefined || kept.has(key) || kept.has(repository)) continue
    await mirrors.get(key)?.('').drop()
    await onVolume(() => rmSync(path.join(folder, name), { recursive: true, force: true }))
    volume.forget(key)
  }
  // With its credentials. One in use is kept, so that a call in progress and a new one share one writer.
  for (const [key, of] of mirrors) {
    if (kept.has(key) || kept.has(key.replace(/-.*/, '')) || !of('').close()) continue
    mirrors.delete(key)
    opened.drop(key)
  }
  opened.pruned()
}
