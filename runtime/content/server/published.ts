/**
 * Determines which commits may be delivered: those that are or were published for the GatewaySync, according to this replica.
 */
import type { Clock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'

type Published = { commits: ReadonlySet<string>; hasProfile(name: string): boolean }

/** How far this replica may lag behind other watchers of the API server. */
const defaultLateMs = 1_000
const pollIntervalMs = 20

type Deps<Known> = { lookup(namespace: string, name: string): Known | undefined; clock: Clock; lateMs?: number }

/**
 * Returns the information of this replica about a GatewaySync. Agent and replica both watch the API server, so an agent may detect a commit
 * first: an unknown commit is waited for, one second by default.
 */
export async function lookupPublished<Known extends Published>(
  { lookup, clock, lateMs = defaultLateMs }: Deps<Known>,
  { namespace, name, commit }: { namespace: string; name: string; commit: unknown },
  signal: AbortSignal,
): Promise<Known | undefined> {
  const untilMs = clock.monotonicMs() + lateMs
  for (;;) {
    const known = lookup(namespace, name)
    const isThere = typeof commit !== 'string' || known?.commits.has(commit) === true
    if (isThere || clock.monotonicMs() >= untilMs) return known
    await clock.wait(pollIntervalMs, signal)
  }
}

/** Throws CommitNotPublished, UnknownProfile; returns when this commit may be delivered to this profile. */
export function requirePublished({ commits, hasProfile }: Published, commit: string, profile: string): void {
  if (!commits.has(commit)) throw new Fault('CommitNotPublished', `commit ${commit} was never published for this GatewaySync`)
  if (!hasProfile(profile)) throw new Fault('UnknownProfile', `the GatewaySync has no profile "${profile}"`)
}
