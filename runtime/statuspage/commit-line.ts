/**
 * A commit as people know it: its first line, who made it, and when it was published. Pure.
 */
import { html } from 'hono/html'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { shortCommit } from '../gatewaysync/values.ts'
import type { CommitWords } from '../source/content/commit-words.ts'
import type { Html, PageContext } from './page.ts'
import { joined, timed } from './times.ts'

/** What a page knows of commits: what the git host says of them, and the history of the GatewaySync. */
export type KnownCommits = {
  words: ReadonlyMap<string, CommitWords>
  history: readonly { commit?: string | undefined; at: string; outcome: string }[]
}

/** Empty where nothing is known of it. */
export function aboutCommit(commit: string, { words: known, history }: KnownCommits, { words, now }: PageContext): Html {
  const { subject, author } = known.get(commit) ?? {}
  const published = history.find((entry) => entry.commit === commit && entry.outcome === 'Published')
  const facts = joined([author, timed(published?.at, now, words.publishedAgo)], ' · ')
  return html`${subject ?? ''} <span class="quiet">${facts}</span>`
}

/** What somebody should see who goes back: the commit that comes, and the one that is published now. */
export function commitsOfWayBack(of: string, status: GatewaySyncStatus, known: KnownCommits, context: PageContext): Html {
  const { words } = context
  const row = (name: string, commit: string): Html =>
    html`<dt>${name}</dt>
      <dd><code title="${commit}">${shortCommit(commit)}</code> ${aboutCommit(commit, known, context)}</dd>`
  return html`<dl>${row(words.commit, of)} ${status.published === undefined ? '' : row(words.published, status.published.commit)}</dl>`
}
