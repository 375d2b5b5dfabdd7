/**
 * Renders the page of one commit of a GatewaySync's history: its changes, file by file. Pure.
 */
import { html } from 'hono/html'
import type { ChangeEntry } from '../../fleet/sync-detail.ts'
import type { SyncView } from '../../fleet/view.ts'
import { shortCommit, shortHashes } from '../../api/values.ts'
import type { CommitSummary } from '../../git/content/commit-summary.ts'
import type { FileDiff } from '../../sync/plan/preview.ts'
import type { Action } from '../actions/action.ts'
import { actionLink } from './action-pages.ts'
import { actionTextsIn } from '../locales/action-texts.ts'
import type { CommitChanges } from './commits.ts'
import { type DetailTexts, detailTextsIn } from '../locales/detail-texts.ts'
import { frame, type Html, linkOf, type PageContext, part, translated, symbols } from './page.ts'
import { asOf, joined, timed } from './times.ts'

/** Number of files whose lines are expanded initially. */
const openFiles = 8

/** `changes`: undefined without a commit to compare with; `failed`: why they could not be read. `hidesLines`: show only file names. */
export type CommitPage = {
  sync: SyncView
  entry: ChangeEntry & { commit: string }
  summary: CommitSummary | undefined
  changes: CommitChanges | { failed: string } | undefined
  hidesLines: boolean
  /** The action to go back to this commit, if it applies and the user may perform it. */
  back: Action | undefined
}

/** The complete document, in the language of `context`. */
export function commitPage({ sync, entry, summary: known, changes, hidesLines, back }: CommitPage, context: PageContext): Html {
  const { texts, now } = context
  const own = detailTextsIn(texts.language)
  const { commit, before, outcome, level, at, ref, message } = entry
  const body = html`<main>
    <div class="place">
      <nav><a href="/">${texts.allGatewaySyncs}</a> / <a href="${linkOf(sync)}">${sync.namespace}/${sync.name}</a></nav>
      ${asOf(now, texts.stateOf)}
    </div>
    <section class="card">
      <p><strong>${known?.subject ?? ''}</strong> <span class="quiet">${known?.author ?? ''}</span></p>
      <p>
        <span class="light ${level}">${symbols[level]} ${own.outcomes[outcome]}</span>
        <span class="quiet">${joined([shortHashes(ref), timed(at, now, texts.publishedAgo)], ', ')}</span>
      </p>
      ${message === undefined ? '' : html`<p>${translated(shortHashes(message), texts)}</p>`}
      <p><code>${commit}</code></p>
      ${back === undefined ? '' : html`<p>${actionLink(sync, back, actionTextsIn(texts.language))}</p>`}
    </section>
    ${part(own.commitChanged, changesOf(changes, { before, hidesLines, link: linkOf(sync) }, own))}
  </main>`
  return frame(`${texts.commit} ${shortCommit(commit)}`, body, context)
}

type Choices = { before: string | undefined; hidesLines: boolean; link: string }

function changesOf(changes: CommitPage['changes'], { before, hidesLines, link }: Choices, own: DetailTexts): Html {
  if (changes === undefined || before === undefined) return html`<p>${own.nothingBefore}</p>`
  if ('failed' in changes) return html`<p>${own.cannotRead(changes.failed)}</p>`
  const { total, files } = changes
  const compared = html`<span class="quiet"
    >${own.comparedWith} <a href="${link}/commits/${before}"><code>${shortCommit(before)}</code></a></span
  >`
  if (total === 0) return html`<p>${own.noFiles} ${compared}</p>`
  return html`<p>${own.filesChanged(total)} ${compared}</p>
    ${hidesLines ? html`<p class="quiet">${own.linesHidden}</p>` : ''}
    <ul class="files">
      ${files.map((file, index) => html`<li>${fileOf(file, { isOpen: index < openFiles, hidesLines }, own)}</li>`)}
      ${total > files.length ? html`<li class="quiet">… ${own.filesChanged(total)}</li>` : ''}
    </ul>`
}

const marks = { add: '+', change: '~', remove: '−' } as const

function fileOf({ op, path, diff }: FileDiff, { isOpen, hidesLines }: { isOpen: boolean; hidesLines: boolean }, own: DetailTexts): Html {
  const name = html`<span class="op ${op}">${marks[op]} ${own.ops[op]}</span> <code>${path}</code>`
  if (hidesLines) return name
  if (diff === undefined) return html`${name} <span class="quiet">${own.notShown}</span>`
  return html`<details ${isOpen ? 'open' : ''}>
    <summary>${name}</summary>
    <pre tabindex="0" aria-label="${path}">${diff.split('\n').flatMap(lineOf)}</pre>
  </details>`
}

/** A line with its marker, because color alone is not accessible. */
function lineOf(line: string): (Html | string)[] {
  const kind = line.startsWith('+') ? 'add' : line.startsWith('-') ? 'remove' : 'quiet'
  return [html`<span class="${kind}">${line}</span>`, '\n']
}
