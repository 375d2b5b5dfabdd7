/**
 * Renders the overview of all gateways, and the parts that every page shares. Pure.
 */
import { html } from 'hono/html'
import { fleetCounts } from '../../fleet/fleet-view.ts'
import type { ClusterSync, ClusterView, FleetView, GatewayView, Level, SyncView } from '../../fleet/view.ts'
import { digestIn, shortRevision } from '../../api/artifact-revision.ts'
import { shortCommit, shortHashes } from '../../api/values.ts'
import type { Step } from '../../fleet/steps.ts'
import type { Temporal } from '../../platform/temporal.ts'
import type { Action } from '../actions/action.ts'
import { icon, script, style } from '../client/assets.ts'
import { actionWordsIn, labelOf } from '../locales/action-texts.ts'
import { detailWordsIn } from '../locales/detail-texts.ts'
import { meaningIn } from '../locales/reason-texts.ts'
import { queryOf, select, selectClusters, type Selected, type Selection } from './selection.ts'
import { actionOfStep, stepWordsIn } from '../locales/step-texts.ts'
import { asOf, joined, timed } from './times.ts'
import type { Language, Texts } from '../locales/texts.ts'

/** HTML with escaped values. */
export type Html = ReturnType<typeof html>

/**
 * `isOpen`: the page has no login and shows a note. `account`: the text of the account link, if there is a login. `isDone`: the user has
 * just acted on the GatewaySync of the page. `isStill`: the page is not live-updated, because it shows no state: a confirmation, a refusal,
 * an account.
 */
export type PageContext = {
  words: Texts
  now: Temporal.Instant
  isOpen: boolean
  account?: string | undefined
  isDone?: boolean
  isStill?: boolean
}

/** Color alone is not accessible. */
export const symbols: Readonly<Record<Level, string>> = { ok: '✓', working: '…', warning: '!', error: '✗' }

/** Marks messages and findings as English on a page of another language. */
export function translated(text: string, { language }: Texts): Html {
  return language === 'en' ? html`${text}` : html`<span lang="en">${text}</span>`
}

/** Maximum length of a tile's text. Two hundred tiles of incompressible text are some 30 KB. */
const maxTileCharacters = 200

/** Renders the tiles of all selected gateways, by GatewaySync. */
export function overviewPage(view: FleetView, selection: Selection, context: PageContext): Html {
  const { words, now } = context
  const selected = select(view, selection)
  const clusters = selection.page > 1 ? [] : selectClusters(view.clusters ?? [], selection)
  const body = html`${searchForm(selection, words)}
    <main>
      <p>
        ${light(view.level, words)} ${view.seesNothing === true ? words.seesNothing : words.summary(fleetCounts(view.syncs))}
        ${asOf(now, words.stateOf)}
      </p>
      ${warningsOf(view, words)} ${view.notes.map((note) => html`<p class="quiet">${translated(note, words)}</p>`)}
      ${selected.shown.map(
        ({ sync, gateways }) =>
          html`<section class="card">
            ${headOf(sync, words)}
            <p>
              ${published(sync, context)}
              ${sync.counts === undefined ? '' : html`<span class="quiet">${words.upToDate(sync.upToDate, sync.counts.total)}</span>`}
            </p>
            ${sync.level === 'ok' ? '' : html`<p>${translated(shortHashes(sync.message), words)}</p>`} ${tiles(sync, gateways, words, now)}
          </section>`,
      )}
      ${selected.shown.length + clusters.length === 0 && view.syncs.length > 0 ? html`<p>${words.nothingFound}</p>` : ''}
      ${[...clusters.map((cluster) => clusterPart(cluster, context)), pagesOf(selected, (page) => `/${queryOf(selection, page)}`, words)]}
    </main>`
  return frame(words.title, body, context)
}

/** Maximum number of GatewaySyncs of one other cluster, those with problems first; its own page and the data have all. */
const maxClusterSyncs = 50

/** The fleet of another cluster, without links and buttons: only its own page has them. */
function clusterPart({ name, url, level, syncs, truncated, seenAt, failure }: ClusterView, context: PageContext): Html {
  const { words, now } = context
  const shown = syncs.slice(0, maxClusterSyncs)
  const seen = timed(seenAt, now, words.lastSeen)
  return html`<section class="card">
    <header>
      <h2>${words.cluster(name)}</h2>
      ${light(level, words)}
      <span class="quiet">${seenAt === undefined ? words.notReadYet : words.summary(fleetCounts(syncs))}</span>
      ${url === undefined ? '' : html`<a href="${url}" rel="noreferrer">${words.ownPage}</a>`}
    </header>
    ${
      failure === undefined
        ? ''
        : html`<p class="banner error">
            ${joined([html`${words.unreadable} ${translated(`${failure.message} (${failure.reason})`, words)}`, seen], ' · ')}
          </p>`
    }
    ${truncated ? html`<p class="quiet">${words.clusterCut}</p>` : ''}
    <ul class="entries">
      ${shown.map((sync) => clusterRow(sync, context))}
    </ul>
    ${syncs.length > shown.length ? html`<p class="quiet">${words.more(syncs.length - shown.length)}</p>` : ''}
  </section>`
}

function clusterRow(sync: ClusterSync, context: PageContext): Html {
  const { words } = context
  return html`<li>
    <b>${sync.namespace}/${sync.name}</b> ${light(sync.level, words)} <span class="quiet">${sync.reason}</span>
    ${published(sync, context)}
    ${sync.counts === undefined ? '' : html`<span class="quiet">${words.upToDate(sync.upToDate, sync.counts.total)}</span>`}
    ${sync.level === 'ok' ? '' : html`<br />${translated(sync.message, words)}`}
  </li>`
}

function warningsOf({ warnings = [] }: FleetView, { language }: Texts): Html[] {
  const { warnings: sentences } = detailWordsIn(language)
  return warnings.map((warning) => {
    const until = warning.kind === 'certificate' ? warning.until : ''
    return html`<p class="banner warning">${sentences[warning.kind](until)}</p>`
  })
}

/** A section with a title. */
export function part(title: string, content: Html): Html {
  return html`<section class="card">
    <h2>${title}</h2>
    ${content}
  </section>`
}

/** A page with one message: not found, refused, unavailable. */
export function messagePage(message: string, context: PageContext): Html {
  const body = html`<main>
    <p><a href="/">${context.words.allGatewaySyncs}</a></p>
  </main>`
  return frame(message, body, context)
}

/** The document around the content of any page. */
export function frame(title: string, body: Html, { words, isOpen, account, isStill = false }: PageContext): Html {
  return html`<!doctype html>
    <html lang="${words.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="${style.path}" />
        <link rel="icon" href="${icon.path}" />
        ${isStill ? '' : html`<script src="${script.path}" defer></script>`}
      </head>
      <body>
        <header>
          <h1>${title}</h1>
          ${account === undefined ? '' : html`<a href="/account">${account}</a>`}
          ${isOpen ? html`<p class="banner open">${words.noLogin}</p>` : ''}
        </header>
        ${isStill ? '' : liveness(words)} ${body}
      </body>
    </html>`
}

/** What the script shows while the page is not live. The empty link reloads the page, and so leads through the login. */
function liveness(words: Texts): Html {
  return html`<div role="status">
    <p id="stale" class="banner error" hidden>${words.stale}</p>
    <p id="out" class="banner error" hidden>${words.signedOut} <a href="">${words.logInAgain}</a></p>
  </div>`
}

function searchForm({ query, trouble }: Selection, words: Texts): Html {
  return html`<div class="bar">
    <form method="get" action="/" role="search">
      <span class="field">
        <label for="q">${words.search}</label>
        <input id="q" name="q" type="search" value="${query}" placeholder="${words.searchHint}" maxlength="200" />
      </span>
      <span class="field">
        <label for="show">${words.show}</label>
        <select id="show" name="show">
          <option value="">${words.everything}</option>
          <option value="trouble" ${trouble ? 'selected' : ''}>${words.onlyTrouble}</option>
        </select>
      </span>
      <button>${words.apply}</button>
    </form>
  </div>`
}

/** The path of the page of one GatewaySync. */
export function linkOf({ namespace, name }: SyncView): string {
  return `/gatewaysyncs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
}

/** The path of the page of one gateway. */
export function gatewayLink(sync: SyncView, pod: string): string {
  return `${linkOf(sync)}/gateways/${encodeURIComponent(pod)}`
}

function headOf(sync: SyncView, words: Texts): Html {
  return html`<header>
    <h2><a href="${linkOf(sync)}">${sync.namespace}/${sync.name}</a></h2>
    ${light(sync.level, words)} <span class="quiet">${sync.reason}</span>
  </header>`
}

/** A level as symbol and text, because color alone is not accessible. */
export function light(level: Level, words: Texts): Html {
  return html`<span class="light ${level}">${symbols[level]} ${words.levels[level]}</span>`
}

/** One tile for each gateway, in the given order. */
export function tiles(sync: SyncView, gateways: readonly GatewayView[], words: Texts, now: Temporal.Instant): Html {
  return html`<ul class="tiles">
    ${gateways.map((gateway) => tile(sync, gateway, words, now))}
  </ul>`
}

function tile(sync: SyncView, gateway: GatewayView, words: Texts, now: Temporal.Instant): Html {
  const { pod, level, state, mode, commit, since, message, reason, remarks } = gateway
  const meaning = message === undefined ? meaningIn(words.language, reason) : undefined
  const [step] = gateway.steps
  return html`<li class="tile ${level}">
    <header>
      <b><a href="${gatewayLink(sync, pod)}">${gateway.gateway ?? pod}</a></b>
      <span class="light">${symbols[level]} ${words.states[state]}</span>
    </header>
    <p class="quiet">
      ${joined(
        [
          gateway.gateway === undefined || gateway.gateway === pod ? undefined : pod,
          mode === undefined || mode === '' ? words.noMode : mode,
          commit === undefined ? undefined : shortCommit(commit),
          timed(since, now, words.runningFor),
        ],
        ' · ',
      )}
    </p>
    ${tileText(meaning, reason === undefined || message === undefined ? remarks : [message, ...remarks], words)}
    ${step === undefined || step.kind === 'runbook' ? '' : html`<p>${stepWordsIn(words.language).sentence(step)}</p>`}
  </li>`
}

/** The text of a tile: the meaning of its reason or the first message, cut to keep the page small; the gateway's own page shows all. */
function tileText(meaning: string | undefined, messages: readonly string[], words: Texts): Html {
  const [first, ...others] = messages
  if (meaning === undefined && first === undefined) return html``
  const text = shortHashes(first ?? '')
  const shown = meaning ?? translated(text.length > maxTileCharacters ? `${text.slice(0, maxTileCharacters).trimEnd()}…` : text, words)
  const more = meaning === undefined ? others.length : messages.length
  return html`<p>${shown} ${more === 0 ? '' : html`<span class="quiet">${words.more(more)}</span>`}</p>`
}

/** The published commit, its ref and age in one line. */
export function published({ published }: Pick<SyncView, 'published'>, { words, now }: PageContext): Html {
  if (published === undefined) return html`${words.nothingYet}`
  const ref = shortHashes(published.ref)
  return html`<code title="${digestIn(published.ref) ?? published.commit}">${shortRevision(published.commit, published.ref)}</code>
    ${joined([ref, timed(published.at, now, words.publishedAgo)], ', ')}`
}

/** Links to the previous and next page; empty if there is only one page. */
export function pagesOf({ page, pages }: Selected, linkTo: (page: number) => string, words: Texts): Html {
  if (pages === 1) return html``
  return html`<nav class="pages" aria-label="${words.pages}">
    ${page > 1 ? html`<a rel="prev" href="${linkTo(page - 1)}">${words.previous}</a>` : ''}
    <span class="quiet">${words.page(page, pages)}</span>
    ${page < pages ? html`<a rel="next" href="${linkTo(page + 1)}">${words.next}</a>` : ''}
  </nav>`
}

/** Maximum number of steps; a fleet of a thousand gateways may have one for each. */
const maxSteps = 8

/** `offered`: the actions that the reader may perform on this page; undefined if it has no buttons. */
export function stepsPart(steps: readonly Step[], offered: readonly Action[] | undefined, { words }: PageContext): Html {
  if (steps.length === 0) return html``
  const { sentence } = stepWordsIn(words.language)
  const shown = steps.slice(0, maxSteps)
  return html`<h3>${words.whatToDo}</h3>
    <ul class="plain">
      ${shown.map((step) => html`<li>${sentence(step)} ${offered === undefined ? '' : doerOf(step.kind, offered, words.language)}</li>`)}
      ${steps.length > shown.length ? html`<li class="quiet">${words.more(steps.length - shown.length)}</li>` : ''}
    </ul>`
}

/** Who performs a step: the reader with a button, or another role; empty if the text of the step already names the role. */
function doerOf(kind: Step['kind'], offered: readonly Action[], language: Language): string {
  const name = actionOfStep[kind]
  if (name === undefined) return ''
  const { byButton, byOthers } = stepWordsIn(language)
  const action = offered.find((one) => one.name === name)
  return action === undefined ? byOthers : byButton(labelOf(action, actionWordsIn(language)))
}
