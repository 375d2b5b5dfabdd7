/**
 * Maps GatewaySyncs to the mirrors that serve them.
 */
import type { FramedSource } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import { resolveProfile } from '../../api/schema/profile.ts'
import { sourceRoots } from '../../api/schema/source-roots.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { CommitHash } from '../../api/values.ts'
import type { Mirror, Mirrors } from '../../git/mirrors.ts'
import { mirrorKey, readRepository, repositoryKey } from '../../git/remote/remote.ts'
import type { RemoteOf } from '../../git/remotes.ts'
import { syncKey } from '../store/records.ts'

/** The GatewaySync that a mirror is for. */
export type SyncOfMirror = { namespace: string; name: string; spec: GatewaySyncSpec }

/** A GatewaySync that names a repository; `git` is undefined while its spec is invalid and its published commit stays in force. */
export type NamedSync = { namespace: string; repo: string; git: GatewaySyncSpec['git'] | undefined }

/** One per replica. */
export type SyncMirrors = {
  /** Returns the mirror for the present credentials. Throws RepositoryNotAllowed, SecretNotFound. */
  of(sync: SyncOfMirror, signal: AbortSignal): Promise<Mirror>
  /**
   * Returns the mirror that last answered for a GatewaySync if it still names its repository, else the one for the present credentials.
   * Throws as `of`.
   */
  serving(sync: SyncOfMirror, signal: AbortSignal): Promise<Mirror>
  /** Returns the mirror that last answered for a GatewaySync. Throws Unexpected when none has. */
  mirrorOf(key: string): Mirror
  /** Records that a mirror has answered for a GatewaySync; from now on it serves. */
  answered(key: string, mirror: Mirror): void
  /** Ensures that the mirror holds a commit that was resolved for another GatewaySync. Throws what `of` and fetching throw. */
  adopt(sync: SyncOfMirror, commit: CommitHash, signal: AbortSignal): Promise<void>
  forget(key: string): void
  /**
   * Removes all mirrors except those of these GatewaySyncs and those that have answered for one. If the credentials of a GatewaySync cannot
   * be read now, no mirror of its repository is removed.
   */
  prune(syncs: readonly NamedSync[], signal: AbortSignal): Promise<void>
  /**
   * Content of the GatewaySync's repository; a commit that this replica lacks is fetched on request. Until the present credentials have
   * fetched something, content fetched with earlier ones of the same GatewaySync is served.
   */
  source(sync: SyncOfMirror): FramedSource
}

/** Maps GatewaySyncs to the mirrors that have answered for them; the mirrors themselves are shared. */
export function createSyncMirrors(mirrors: Mirrors, remoteOf: RemoteOf): SyncMirrors {
  const keepers = new Map<string, Mirror>()

  const of = async ({ namespace, spec }: SyncOfMirror, signal: AbortSignal): Promise<Mirror> =>
    mirrors.of(await remoteOf(namespace, spec.git, signal), namespace)
  const forget = (key: string): void => {
    keepers.delete(key)
  }
  /** The mirror that last answered, if the GatewaySync still names its repository. */
  const served = ({ namespace, name, spec }: SyncOfMirror): Mirror | undefined => {
    const mirror = keepers.get(syncKey(namespace, name))
    return mirror?.remote.url.text === readRepository(spec.git.repo, { allowLocal: true })?.text ? mirror : undefined
  }
  const serving = async (sync: SyncOfMirror, signal: AbortSignal): Promise<Mirror> => served(sync) ?? (await of(sync, signal))
  /** Returns the key of the mirror, or of its repository while its credentials are unknown, for example because a Secret cannot be read. */
  const keyOf = async ({ namespace, repo, git }: NamedSync, signal: AbortSignal): Promise<string | undefined> => {
    const url = readRepository(repo, { allowLocal: true })
    if (url === undefined || git === undefined) return url === undefined ? undefined : repositoryKey(url)
    return await remoteOf(namespace, git, signal).then(mirrorKey, () => repositoryKey(url))
  }

  return {
    of,
    serving,
    forget,
    mirrorOf(key) {
      const mirror = keepers.get(key)
      if (mirror === undefined) throw new Fault('Unexpected', `no mirror has answered for ${key} yet`)
      return mirror
    },
    answered(key, mirror) {
      keepers.set(key, mirror)
    },
    async adopt(sync, commit, signal) {
      const mirror = await of(sync, signal)
      const key = syncKey(sync.namespace, sync.name)
      if (keepers.get(key) === mirror) return
      await mirror.ensure(commit, signal)
      keepers.set(key, mirror)
    },
    async prune(syncs, signal) {
      const kept = new Set([...keepers.values()].map(({ remote }) => mirrorKey(remote)))
      for (const sync of syncs) {
        const key = await keyOf(sync, signal)
        if (key !== undefined) kept.add(key)
      }
      signal.throwIfAborted()
      await mirrors.prune(kept)
    },
    source(sync) {
      const roots = (profile: string) => sourceRoots(resolveProfile(sync.spec.sync, profile))
      return openedOnUse(async (signal) => (await serving(sync, signal)).source(roots))
    },
  }
}

/** Returns a source that is opened again at each call, as another mirror may serve by then. Throws what opening throws. */
function openedOnUse(open: (signal: AbortSignal) => Promise<FramedSource>): FramedSource {
  return {
    async *changes(request, signal) {
      yield* (await open(signal)).changes(request, signal)
    },
    async blobs(request, sink, signal) {
      await (await open(signal)).blobs(request, sink, signal)
    },
    async files(request, sink, signal) {
      await (await open(signal)).files(request, sink, signal)
    },
    near: async (request, signal) => await (await open(signal)).near?.(request, signal),
    holds: async (commits, signal) => await (await open(signal)).holds(commits, signal),
    async *frames(request, signal) {
      yield* (await open(signal)).frames(request, signal)
    },
    async *fileFrames(request, signal) {
      yield* (await open(signal)).fileFrames(request, signal)
    },
  }
}
