/**
 * Renders the page of one GatewaySync. Pure.
 */
import { html } from 'hono/html'
import type { ChangeEntry, LocalChanges, Notice, SyncDetail } from '../../fleet/sync-detail.ts'
import type { RolloutView, SyncView } from '../../fleet/view.ts'
import { durationMs } from '../../api/schema/fields.ts'
import { shortCommit, shortHashes } from '../../api/values.ts'
import type { CommitSummary } from '../../git/content/commit-summary.ts'
import type { Action } from '../actions/action.ts'
import { actionLinks } from './action-pages.ts'
import { actionTextsIn } from '../locales/action-texts.ts'
import { type DetailTexts, detailTextsIn } from '../locales/detail-texts.ts'
import { findingsList } from './findings-part.ts'
import {
  frame,
  gatewayLink,
  type Html,
  light,
  linkOf,
  type PageContext,
  pagesOf,
  part,
  published,
  translated,
  stepsPart,
  symbols,
  tiles,
} from './page.ts'
import { meaningIn } from '../locales/reason-texts.ts'
import { select } from './selection.ts'
import { asOf, joined, left, timed } from './times.ts'
import type { Texts } from '../locales/texts.ts'
import { aboutCommit } from './commits.ts'

const maxFindings = 50
/** The status keeps ten commits and twenty requests. */
const maxChanges = 10

/** `commits`: descriptions of the commits on the page. */
export type SyncPage = {
  sync: SyncView
  detail: SyncDetail
  commits: ReadonlyMap<string, CommitSummary>
  /** The page of its gateways, from 1. */
  page: number
  /** The actions that the reader may perform. */
  offered: readonly Action[]
}

/** Renders desired and published commit, findings, requests, history, and the gateways, which may take several pages. */
export function syncPage({ sync, detail, commits, page, offered }: SyncPage, context: PageContext): Html {
  const { texts, now } = context
  const own = detailTextsIn(texts.language)
  const { findings, rollout } = sync
  const selected = select({ syncs: [sync] }, { query: '', trouble: false, page })
  const gateways = selected.shown.flatMap((shown) => shown.gateways)
  const isNew = shownOnce(sync.message)
  const about = (commit: string): Html => aboutCommit(commit, { summaries: commits, history: detail.history }, context)
  const body = html`<main>
    <div class="place">
      <nav><a href="/">${texts.allGatewaySyncs}</a></nav>
      ${asOf(now, texts.stateOf)}
    </div>
    ${context.isDone === true ? html`<p class="banner ok" role="status">${own.taken}</p>` : ''}
    ${detail.notices.map((notice) => noticeOf(notice, own))}
    <div class="parts">
      ${part(own.state, stateOf(sync, offered, about, context))} ${part(own.versions, versionsOf({ sync, detail, commits }, context))}
      ${rollout === undefined ? '' : part(own.rollout, rolloutOf(rollout, texts))}
      ${detail.history.length === 0 ? '' : part(own.changes, historyOf(sync, detail.history.slice(0, maxChanges), { commits, isNew }, context))}
      ${findings === undefined || findings.errors + findings.warnings === 0 ? '' : findingsPart(findings, texts)}
      ${sync.requests.length === 0 ? '' : part(texts.requests, requestsOf(sync, isNew, context))}
      ${detail.localChanges.length === 0 ? '' : part(own.localChanges, localChangesOf(sync, detail.localChanges, own))}
      ${detail.designers.length === 0 ? '' : part(own.designers, designersOf(sync, detail.designers))}
    </div>
    ${part(
      texts.title,
      html`${gateways.length === 0 ? html`<p>${texts.noGateway}</p>` : tiles(sync, gateways, texts, now)}
      ${pagesOf(selected, (number) => `${linkOf(sync)}${number > 1 ? `?page=${number}` : ''}`, texts)}`,
    )}
  </main>`
  return frame(`${sync.namespace}/${sync.name}`, body, context)
}

function noticeOf({ kind, count }: Notice, own: DetailTexts): Html {
  return html`<p class="banner warning">${own.notices[kind](count)}</p>`
}

function stateOf(sync: SyncView, offered: readonly Action[], about: (commit: string) => Html, context: PageContext): Html {
  const { texts } = context
  const { level, reason, message, ready, steps } = sync
  const meaning = meaningIn(texts.language, reason)
  return html`<p>${light(level, texts)} <span class="quiet">${reason}</span></p>
    <p>${translated(shortHashes(message), texts)}</p>
    ${ready === 'True' || meaning === undefined || meaning === message ? '' : html`<p class="quiet">${meaning}</p>`}
    ${offered.length === 0 ? '' : actionLinks(sync, offered, actionTextsIn(texts.language), about)} ${stepsPart(steps, offered, context)}`
}

function versionsOf({ sync, detail, commits }: Pick<SyncPage, 'sync' | 'detail' | 'commits'>, context: PageContext): Html {
  const { texts } = context
  const shown = (hash: string | undefined): Html => {
    const known = hash === undefined ? undefined : commits.get(hash)
    return known === undefined ? html`` : html`<br />${known.subject} <span class="quiet">${known.author}</span>`
  }
  return html`<dl>
    <dt>${texts.repository}</dt>
    <dd>${sync.repo ?? texts.unknown}<br /><span class="quiet">${pollingText(detail, context)}</span></dd>
    <dt>${texts.desired}</dt>
    <dd>${desired(sync, context)}${shown(sync.desired.commit)}</dd>
    <dt>${texts.published}</dt>
    <dd>${published(sync, context)}${sync.published?.commit === sync.desired.commit ? '' : shown(sync.published?.commit)}</dd>
  </dl>`
}

function desired({ desired: { ref, requestedBy, insteadOf, commit, committedAt, held } }: SyncView, { texts, now }: PageContext): Html {
  const name = commit === undefined ? texts.unknown : shortCommit(commit)
  const facts = [
    shortHashes(ref ?? texts.unknown),
    requestedBy === undefined ? undefined : texts.requestedBy(requestedBy),
    insteadOf === undefined ? undefined : texts.insteadOf(shortHashes(insteadOf)),
    timed(committedAt, now, texts.committedAgo),
    held === undefined ? undefined : texts.heldBack(held),
  ]
  return html`<code title="${commit ?? ''}">${name}</code> ${joined(facts, ', ')}`
}

/** When the git host was polled, and when it is polled next. */
function pollingText({ polling, onPush, lastPoll, nextPoll }: SyncDetail, { texts, now }: PageContext): Html {
  const own = detailTextsIn(texts.language)
  const again = polling === undefined ? undefined : own.polled(polling === 'never' ? undefined : polling, onPush)
  const next = left(nextPoll, now, (time) => `, ${own.nextPoll(time)}`)
  return html`${joined([timed(lastPoll?.toString(), now, texts.checkedAgo), again], ', ')}${next ?? ''}`
}

function rolloutOf({ level, summary, message, stages }: RolloutView, texts: Texts): Html {
  const own = detailTextsIn(texts.language)
  return html`<p><span class="light ${level}">${symbols[level]}</span> ${translated(summary, texts)}</p>
    ${message === undefined ? '' : html`<p>${translated(shortHashes(message), texts)}</p>`}
    <ol class="entries">
      ${stages.map(
        (stage) =>
          html`<li>
            <span class="light ${stage.level}">${symbols[stage.level]} ${stage.name}</span> ${own.rolledOut(stage.updated, stage.gateways)}
            <span class="quiet">
              ${joined(
                [
                  stage.failed === 0 ? undefined : own.failed(stage.failed),
                  stage.silent === undefined ? undefined : own.silent(stage.silent),
                  stage.held === undefined ? undefined : own.held(stage.held),
                  stage.approvedBy === undefined ? undefined : own.approvedBy(stage.approvedBy),
                ],
                ' · ',
              )}
            </span>
          </li>`,
      )}
    </ol>`
}

function historyOf(
  sync: SyncView,
  history: readonly ChangeEntry[],
  { commits, isNew }: { commits: ReadonlyMap<string, CommitSummary>; isNew: (message: string) => boolean },
  { texts, now }: PageContext,
): Html {
  const own = detailTextsIn(texts.language)
  return html`<ol class="entries">
    ${history.map((entry) => {
      const { commit, at, by, ref, outcome, level, duration, message, reason } = entry
      const known = commit === undefined ? undefined : commits.get(commit)
      const tookMs = duration === undefined ? undefined : durationMs(duration)
      const facts = [
        timed(at, now, texts.publishedAgo),
        known?.author,
        shortHashes(ref),
        by === undefined || by === 'spec' ? undefined : own.by(by),
        tookMs === undefined ? undefined : own.took((tookMs / 1000).toFixed(1)),
        entry.signedBy === undefined ? undefined : own.signedBy(entry.signedBy),
        entry.isPublished ? own.isPublished : undefined,
        entry.gateways > 0 ? own.runIt(entry.gateways) : undefined,
      ]
      const why = whyOf({ message, reason }, isNew, texts)
      return html`<li>
        <span class="light ${level}">${symbols[level]} ${own.outcomes[outcome]}</span>
        ${commit === undefined ? '' : html`<a href="${linkOf(sync)}/commits/${commit}"><code>${shortCommit(commit)}</code></a>`}
        ${known?.subject ?? ''}
        <div class="quiet">${joined(facts, ' · ')}</div>
        ${outcome === 'Published' || why === undefined ? '' : html`<div>${why} <span class="quiet">${reason ?? ''}</span></div>`}
      </li>`
    })}
  </ol>`
}

function findingsPart({ errors, warnings, items }: NonNullable<SyncView['findings']>, texts: Texts): Html {
  const shown = items.slice(0, maxFindings)
  const more = errors + warnings - shown.length
  const title = `${texts.findings}: ${texts.countOf(errors, warnings)}`
  return part(title, findingsList(shown, texts, more))
}

/** A refused push has its message in the condition, the history and the requests: only the first occurrence shows it, the others show the reason. */
function shownOnce(first: string): (message: string) => boolean {
  // Each place cuts it at another length.
  const startOf = (message: string): string => shortHashes(message).slice(0, 100)
  const shown = [startOf(first)]
  return (message) => {
    const start = startOf(message)
    if (shown.some((one) => one !== '' && (one.startsWith(start) || start.startsWith(one)))) return false
    shown.push(start)
    return true
  }
}

function whyOf(
  { message, reason }: { message: string | undefined; reason: string | undefined },
  isNew: (message: string) => boolean,
  texts: Texts,
): Html | string | undefined {
  if (message === undefined) return meaningIn(texts.language, reason)
  return isNew(message) ? translated(shortHashes(message), texts) : ''
}

function requestsOf({ requests }: SyncView, isNew: (message: string) => boolean, { texts, now }: PageContext): Html {
  const { outcomes } = detailTextsIn(texts.language)
  return html`<ul class="entries">
    ${requests.map(({ level, outcome, ref, at, reason, message }) => {
      const details = joined([shortHashes(ref), timed(at, now, texts.publishedAgo)], ', ')
      return html`<li>
        <span class="light ${level}">${symbols[level]} ${outcomes[outcome]}</span> <span class="quiet">${details}</span>
        ${whyOf({ message, reason }, isNew, texts) ?? ''}
        <span class="quiet">${reason ?? ''}</span>
      </li>`
    })}
  </ul>`
}

function localChangesOf(sync: SyncView, changes: readonly LocalChanges[], own: DetailTexts): Html {
  return html`<ul class="entries">
    ${changes.map(
      ({ pod, gateway, count, paths, policy }) =>
        html`<li>
          <a href="${gatewayLink(sync, pod)}">${gateway ?? pod}</a>: ${own.localFiles(count)}
          <ul class="plain">
            ${paths.map((path) => html`<li><code>${path}</code></li>`)} ${count > paths.length ? html`<li>…</li>` : ''}
          </ul>
          <div class="quiet">${own.becomes[policy ?? 'unknown']}</div>
        </li>`,
    )}
    <li class="quiet">${own.newFiles}</li>
  </ul>`
}

function designersOf(sync: SyncView, designers: SyncDetail['designers']): Html {
  return html`<ul class="entries">
    ${designers.map(
      ({ pod, gateway, names }) => html`<li><a href="${gatewayLink(sync, pod)}">${gateway ?? pod}</a>: ${names.join(', ')}</li>`,
    )}
  </ul>`
}
