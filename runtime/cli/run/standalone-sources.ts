/**
 * Provides content and validation results for a standalone run: the mirrors of its one repository, the Secrets in a folder, validation, and the
 * collaborators of a reconcile.
 */
import path from 'node:path'
import type { Clock } from '../../platform/clock.ts'
import { artifactDigestOf } from '../../reconcile/decide/artifact-digest.ts'
import { keptCommits } from '../../reconcile/source/needed-commits.ts'
import { createSyncMirrors, type SyncMirrors } from '../../reconcile/source/mirrors-of-syncs.ts'
import { readProxies } from '../../settings/environment.ts'
import { asFault } from '../../platform/fault.ts'
import type { Log } from '../../platform/log/log.ts'
import { type IsolatedValidator, openIsolatedValidator } from '../../validation/worker/isolated-validation.ts'
import { openAttemptLog } from '../../validation/worker/attempt-log.ts'
import { createCommitValidation } from '../../reconcile/commit-validation.ts'
import { createSecretChanges, type SecretChanges } from '../../reconcile/source/secret-changes.ts'
import { createSignatureCheck, type SignatureDeps } from '../../reconcile/signature-check.ts'
import type { ReconcileDeps } from '../../reconcile/reconcile.ts'
import { syncKey } from '../../reconcile/store/records.ts'
import type { Network } from '../../git/remote/network.ts'
import { createHostApis, type OpenHostApi } from '../../git/api/host-api.ts'
import { createMirrors } from '../../git/mirrors.ts'
import { createRemotes } from '../../git/remotes.ts'
import { readSecretFolder } from '../../standalone/secrets.ts'
import type { StandaloneSync } from '../../standalone/settings.ts'
import type { ObjectStore } from '../../standalone/object-store.ts'
import { shortRef } from '../../api/values.ts'
import { type CommitSummary, parseCommitSummary } from '../../git/content/commit-summary.ts'
import type { CommitFacts } from '../output/narrate.ts'
import { sourceSecretNames } from '../../api/schema/spec.ts'

/** The source of content and validation results. */
type Sources = {
  mirrors: SyncMirrors
  secrets: SecretChanges
  hostApi: OpenHostApi
  network: Network
  validator: IsolatedValidator
  /** The folder of the mirrors. */
  folder: string
  close(): Promise<void>
}

/** The settings of a run that determine where content comes from. */
type SourceSettings = { sync: StandaloneSync; stateDir: string; secretsDir: string | undefined }

/** `changed`: called when a Secret of the repository has changed. */
export function openSources(
  { clock, log, objects, changed }: { clock: Clock; log: Log; objects: ObjectStore; changed(): void },
  { sync, stateDir, secretsDir }: SourceSettings,
  signal: AbortSignal,
): Sources {
  const folder = path.join(stateDir, 'mirrors')
  const network: Network = { resolve: undefined, proxy: readProxies() }
  const gitMirrors = createMirrors({
    folder,
    clock,
    log,
    network,
    needed: () => new Set(keptCommits(objects.record().status)),
    digestOf: (commit) => artifactDigestOf(objects.record().status, commit),
  })
  const user = { key: syncKey(sync.namespace, sync.name), namespace: sync.namespace, secrets: sourceSecretNames(sync.spec.git) }
  const secrets = createSecretChanges({ readSecret: readSecretFolder(secretsDir), users: () => [user], changed, clock })
  const remotes = createRemotes({ allowLocal: true, allowedHosts: [], readSecret: secrets.readSecret, network, clock, signal })
  const validator = openIsolatedValidator({ clock, log, attemptLog: openAttemptLog(path.join(stateDir, 'checking.json')) })
  return {
    mirrors: createSyncMirrors(gitMirrors, remotes),
    secrets,
    hostApi: createHostApis({ remoteOf: remotes, readSecret: secrets.readSecret, network, allowedHosts: [] }),
    network,
    validator,
    folder,
    async close() {
      await validator.close()
      await gitMirrors.close()
    },
  }
}

type DecisionDeps = Pick<ReconcileDeps, 'clock' | 'log' | 'store' | 'resolutions'> & {
  sources: Sources
  commits: CommitCache
  named(ref: string, commit: string): void
}

/** The collaborators of a reconcile with one GatewaySync and no cluster. */
export function decisionsOf(
  { clock, log, store, resolutions, sources, commits, named }: DecisionDeps,
  { sync }: Pick<SourceSettings, 'sync'>,
): Omit<ReconcileDeps, 'writeStatus' | 'observed'> {
  const { mirrors, secrets, validator, folder } = sources
  const { readSecret } = secrets
  const rawObject: SignatureDeps['rawObject'] = (key, ...what) => mirrors.mirrorOf(key).rawObject(...what)
  const { verify } = createSignatureCheck({ readSecret, rawObject, folder, clock })
  return {
    store,
    resolutions,
    clock,
    log,
    allowLocal: true,
    async resolve({ namespace, name }, _spec, desired, fresh, signal) {
      const queriedMs = clock.monotonicMs()
      const mirror = await mirrors.of(sync, signal)
      const resolved = await mirror.resolve(desired.ref, { fresh }, signal)
      mirrors.answered(syncKey(namespace, name), mirror)
      commits.named(resolved.commit, queriedMs)
      named(shortRef(desired.ref), resolved.commit)
      return resolved
    },
    // There is only one GatewaySync, which is notified directly.
    async adopt() {},
    async verify(record, spec, resolved, signal) {
      const { commit, name: ref } = resolved
      const key = syncKey(record.namespace, record.name)
      const learnt = commits.learn(commit, () => rawObject(key, 'commit', commit, ref, signal))
      const [verdict] = await Promise.all([verify(record, spec, resolved, signal), learnt])
      return verdict
    },
    secretChanges: secrets.count,
    ...createCommitValidation({ store, validator, inMirror: (key, ...how) => mirrors.mirrorOf(key).readBy(...how) }),
    delivery: () => ({ url: 'in-process', caBundle: '' }),
    recordEvents(_record, events) {
      for (const { reason, note } of events) log.info({ reason, message: note }, 'event')
    },
    deleted() {},
  }
}

/** Removes the mirrors of repositories that the GatewaySync followed before. */
export async function removeFormerMirrors(mirrors: SyncMirrors, sync: StandaloneSync, log: Log, signal: AbortSignal): Promise<void> {
  try {
    await mirrors.prune([{ namespace: sync.namespace, repo: sync.spec.git.repo, git: sync.spec.git }], signal)
  } catch (error) {
    log.warn({ message: asFault(error).message }, 'the mirror of an earlier repository was not removed')
  }
}

/** Maximum number of cached commits: the published one and some refused ones. */
const maxKept = 20

type CommitCache = {
  /** Reads the subject and author of a commit in the mirror, unless cached. Never rejects: the output works without them. */
  learn(commit: string, read: () => Promise<Buffer>): Promise<void>
  /** The git host was queried at `queriedMs` of the monotonic clock and returned this commit. */
  named(commit: string, queriedMs: number): void
  /** `nowMs` is monotonic. */
  about(commit: string, nowMs: number): CommitFacts
}

/** Caches the subjects and authors of commits for the run output, and when the git host returned them. Creates the cache. */
export function createCommitCache(): CommitCache {
  const known = new Map<string, { summary?: CommitSummary | undefined; queriedMs?: number }>()
  return {
    async learn(commit, read) {
      if (known.get(commit)?.summary !== undefined) return
      const raw = await read().catch(() => undefined)
      known.set(commit, { ...known.get(commit), summary: raw === undefined ? undefined : parseCommitSummary(raw) })
      const [oldest] = known.keys()
      if (known.size > maxKept && oldest !== undefined) known.delete(oldest)
    },
    named(commit, queriedMs) {
      known.set(commit, { ...known.get(commit), queriedMs })
    },
    about(commit, nowMs) {
      const { summary, queriedMs } = known.get(commit) ?? {}
      return { summary, durationMs: queriedMs === undefined ? undefined : nowMs - queriedMs }
    },
  }
}
