/**
 * Reads commits for the page, with deadlines. The results are not kept with the fleet.
 */
import { html } from 'hono/html'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import { shortCommit } from '../../api/values.ts'
import { deadline } from '../../platform/clock.ts'
import type { CommitSummary } from '../../git/content/commit-summary.ts'
import type { FileDiff } from '../../sync/plan/preview.ts'
import type { Html, PageContext } from './page.ts'
import type { SyncName } from './page-auth.ts'
import { joined, timed } from './times.ts'

/** `total`: the number of changed files; `files`: the first of them, with their lines if they may be shown. */
export type CommitChanges = { total: number; files: FileDiff[] }

export type Commits = {
  /** Undefined if it cannot be read, or the GatewaySync does not exist. Rejects only with the signal's reason. */
  summary(sync: SyncName, commit: string, signal: AbortSignal): Promise<CommitSummary | undefined>
  /** `pair`: commits of the GatewaySync's history. Throws Faults. */
  changes(sync: SyncName, pair: { from: string; commit: string }, signal: AbortSignal): Promise<CommitChanges>
}

/** Deadline after which a page omits commit descriptions. */
const summaryTimeoutMs = 1_500

/** The descriptions of those commits that can be read in time, by hash. Never rejects. */
export async function readSummaries(
  commits: Commits | undefined,
  sync: SyncName,
  hashes: readonly (string | undefined)[],
): Promise<ReadonlyMap<string, CommitSummary>> {
  const found = new Map<string, CommitSummary>()
  if (commits === undefined) return found
  const limit = deadline(summaryTimeoutMs)
  await Promise.allSettled(
    [...new Set(hashes.flatMap((hash) => hash ?? []))].map(async (hash) => {
      const summary = await commits.summary(sync, hash, limit)
      if (summary !== undefined) found.set(hash, summary)
    }),
  )
  return found
}

/** Commit descriptions from the git host, and the history of the GatewaySync. */
type DescribedCommits = {
  summaries: ReadonlyMap<string, CommitSummary>
  history: readonly { commit?: string | undefined; at: string; outcome: string }[]
}

/** Empty if nothing is known of the commit. */
export function aboutCommit(commit: string, { summaries: known, history }: DescribedCommits, { texts, now }: PageContext): Html {
  const { subject, author } = known.get(commit) ?? {}
  const published = history.find((entry) => entry.commit === commit && entry.outcome === 'Published')
  const facts = joined([author, timed(published?.at, now, texts.publishedAgo)], ' · ')
  return html`${subject ?? ''} <span class="quiet">${facts}</span>`
}

/** The commits to show before a rollback: the target, and the published one. */
export function rollbackPair(of: string, status: GatewaySyncStatus, known: DescribedCommits, context: PageContext): Html {
  const { texts } = context
  const row = (name: string, commit: string): Html =>
    html`<dt>${name}</dt>
      <dd><code title="${commit}">${shortCommit(commit)}</code> ${aboutCommit(commit, known, context)}</dd>`
  return html`<dl>${row(texts.commit, of)} ${status.published === undefined ? '' : row(texts.published, status.published.commit)}</dl>`
}
