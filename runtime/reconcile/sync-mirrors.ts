/**
 * Which mirror serves which GatewaySync, and which commits it must keep for it.
 */
import type { Origin } from '../delivery/protocol.ts'
import { Fault } from '../fault.ts'
import { resolveProfile, sourceRoots } from '../gatewaysync/profile.ts'
import type { GatewaySyncSpec } from '../gatewaysync/spec.ts'
import type { GatewaySyncStatus } from '../gatewaysync/status.ts'
import { type CommitHash, isCommitHash } from '../gatewaysync/values.ts'
import type { Mirror, Mirrors } from '../source/mirrors.ts'

export type SyncMirrors = {
  /** Throws RepositoryNotAllowed. */
  of(spec: GatewaySyncSpec): Mirror
  /** Keeps these commits for a GatewaySync and gives up what another repository kept for it. */
  keep(key: string, spec: GatewaySyncSpec, commits: readonly CommitHash[]): void
  forget(key: string): void
  /** Removes the mirrors of all repositories but these. */
  prune(repos: readonly string[]): Promise<void>
  /** Content of the GatewaySync's repository; a commit that this replica does not have yet is fetched when it is asked for. */
  source(spec: GatewaySyncSpec): Origin
}

export function createSyncMirrors(mirrors: Mirrors, allowedHosts: readonly string[]): SyncMirrors {
  const keepers = new Map<string, { repo: string; mirror: Mirror }>()

  const of = (spec: GatewaySyncSpec): Mirror => {
    requireAllowedHost(spec.git.repo, allowedHosts)
    return mirrors.of({ repo: spec.git.repo })
  }
  const forget = (key: string): void => {
    keepers.get(key)?.mirror.keep(key, [])
    keepers.delete(key)
  }

  return {
    of,
    forget,
    keep(key, spec, commits) {
      if (keepers.get(key)?.repo !== spec.git.repo) forget(key)
      const mirror = of(spec)
      keepers.set(key, { repo: spec.git.repo, mirror })
      mirror.keep(key, commits)
    },
    prune: (repos) => mirrors.prune(repos.map((repo) => ({ repo }))),
    source: (spec) => of(spec).source((profile) => sourceRoots(resolveProfile(spec.sync, profile))),
  }
}

/** The commits that are or were published, and the one that is wanted. */
export function keptCommits(status: GatewaySyncStatus): CommitHash[] {
  return distinctHashes([status.source?.commit, ...publishedCommits(status)])
}

/** The commits that delivery may serve: what is published, and what was. */
export function publishedCommits(status: GatewaySyncStatus): CommitHash[] {
  const earlier = (status.history ?? []).filter(({ outcome }) => outcome === 'Published').map(({ commit }) => commit)
  return distinctHashes([status.published?.commit, ...earlier])
}

function distinctHashes(commits: readonly (string | undefined)[]): CommitHash[] {
  return [...new Set(commits)].filter((commit) => commit !== undefined).filter(isCommitHash)
}

function requireAllowedHost(repo: string, allowedHosts: readonly string[]): void {
  if (allowedHosts.length === 0) return
  const host = hostOf(repo)
  if (host !== undefined && allowedHosts.includes(host)) return
  throw new Fault(
    'RepositoryNotAllowed',
    `the installation permits repositories of ${allowedHosts.join(', ')}, not of ${host ?? 'this machine'}`,
  )
}

/** Undefined for a repository on this machine. */
export function hostOf(repo: string): string | undefined {
  const scp = /^[^@/]+@([^:/]+):/.exec(repo)?.[1]
  return (scp ?? URL.parse(repo)?.hostname)?.toLowerCase()
}
