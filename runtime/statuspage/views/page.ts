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
import { actionTextsIn, labelOf } from '../locales/action-texts.ts'
import { detailTextsIn } from '../locales/detail-texts.ts'
import { meaningIn } from '../locales/reason-texts.ts'
import { queryOf, select, selectClusters, type Selected, type Selection } from './selection.ts'
import { actionOfStep, stepTextsIn } from '../locales/step-texts.ts'
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
  texts: Texts
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
  const { texts, now } = context
  const selected = select(view, selection)
  const clusters = selection.page > 1 ? [] : selectClusters(view.clusters ?? [], selection)
  const body = html`${searchForm(selection, texts)}
    <main>
      <p>
        ${light(view.level, texts)} ${view.seesNothing === true ? texts.seesNothing : texts.summary(fleetCounts(view.syncs))}
        ${asOf(now, texts.stateOf)}
      </p>
      ${warningsOf(view, texts)} ${view.notes.map((note) => html`<p class="quiet">${translated(note, texts)}</p>`)}
      ${selected.shown.map(
        ({ sync, gateways }) =>
          html`<section class="card">
            ${headOf(sync, texts)}
            <p>
              ${published(sync, context)}
              ${sync.counts === undefined ? '' : html`<span class="quiet">${texts.upToDate(sync.upToDate, sync.counts.total)}</span>`}
            </p>
            ${sync.level === 'ok' ? '' : html`<p>${translated(shortHashes(sync.message), texts)}</p>`} ${tiles(sync, gateways, texts, now)}
          </section>`,
      )}
      ${selected.shown.length + clusters.length === 0 && view.syncs.length > 0 ? html`<p>${texts.nothingFound}</p>` : ''}
      ${[...clusters.map((cluster) => clusterPart(cluster, context)), pagesOf(selected, (page) => `/${queryOf(selection, page)}`, texts)]}
    </main>`
  return frame(texts.title, body, context)
}

/** Maximum number of GatewaySyncs of one other cluster, those with problems first; its own page and the data have all. */
const maxClusterSyncs = 50

/** The fleet of another cluster, without links and buttons: only its own page has them. */
function clusterPart({ name, url, level, syncs, truncated, seenAt, failure }: ClusterView, context: PageContext): Html {
  const { texts, now } = context
  const shown = syncs.slice(0, maxClusterSyncs)
  const seen = timed(seenAt, now, texts.lastSeen)
  return html`<section class="card">
    <header>
      <h2>${texts.cluster(name)}</h2>
      ${light(level, texts)}
      <span class="quiet">${seenAt === undefined ? texts.notReadYet : texts.summary(fleetCounts(syncs))}</span>
      ${url === undefined ? '' : html`<a href="${url}" rel="noreferrer">${texts.ownPage}</a>`}
    </header>
    ${
      failure === undefined
        ? ''
        : html`<p class="banner error">
            ${joined([html`${texts.unreadable} ${translated(`${failure.message} (${failure.reason})`, texts)}`, seen], ' · ')}
          </p>`
    }
    ${truncated ? html`<p class="quiet">${texts.clusterCut}</p>` : ''}
    <ul class="entries">
      ${shown.map((sync) => clusterRow(sync, context))}
    </ul>
    ${syncs.length > shown.length ? html`<p class="quiet">${texts.more(syncs.length - shown.length)}</p>` : ''}
  </section>`
}

function clusterRow(sync: ClusterSync, context: PageContext): Html {
  const { texts } = context
  return html`<li>
    <b>${sync.namespace}/${sync.name}</b> ${light(sync.level, texts)} <span class="quiet">${sync.reason}</span>
    ${published(sync, context)}
    ${sync.counts === undefined ? '' : html`<span class="quiet">${texts.upToDate(sync.upToDate, sync.counts.total)}</span>`}
    ${sync.level === 'ok' ? '' : html`<br />${translated(sync.message, texts)}`}
  </li>`
}

function warningsOf({ warnings = [] }: FleetView, { language }: Texts): Html[] {
  const { warnings: sentences } = detailTextsIn(language)
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
    <p><a href="/">${context.texts.allGatewaySyncs}</a></p>
  </main>`
  return frame(message, body, context)
}

/** The document around the content of any page. */
export function frame(title: string, body: Html, { texts, isOpen, account, isStill = false }: PageContext): Html {
  return html`<!doctype html>
    <html lang="${texts.language}">
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
          ${isOpen ? html`<p class="banner open">${texts.noLogin}</p>` : ''}
        </header>
        ${isStill ? '' : liveness(texts)} ${body}
      </body>
    </html>`
}

/** What the script shows while the page is not live. The empty link reloads the page, and so leads through the login. */
function liveness(texts: Texts): Html {
  return html`<div role="status">
    <p id="stale" class="banner error" hidden>${texts.stale}</p>
    <p id="out" class="banner error" hidden>${texts.signedOut} <a href="">${texts.logInAgain}</a></p>
  </div>`
}

function searchForm({ query, trouble }: Selection, texts: Texts): Html {
  return html`<div class="bar">
    <form method="get" action="/" role="search">
      <span class="field">
        <label for="q">${texts.search}</label>
        <input id="q" name="q" type="search" value="${query}" placeholder="${texts.searchHint}" maxlength="200" />
      </span>
      <span class="field">
        <label for="show">${texts.show}</label>
        <select id="show" name="show">
          <option value="">${texts.everything}</option>
          <option value="trouble" ${trouble ? 'selected' : ''}>${texts.onlyTrouble}</option>
        </select>
      </span>
      <button>${texts.apply}</button>
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

function headOf(sync: SyncView, texts: Texts): Html {
  return html`<header>
    <h2><a href="${linkOf(sync)}">${sync.namespace}/${sync.name}</a></h2>
    ${light(sync.level, texts)} <span class="quiet">${sync.reason}</span>
  </header>`
}

/** A level as symbol and text, because color alone is not accessible. */
export function light(level: Level, texts: Texts): Html {
  return html`<span class="light ${level}">${symbols[level]} ${texts.levels[level]}</span>`
}

/** One tile for each gateway, in the given order. */
export function tiles(sync: SyncView, gateways: readonly GatewayView[], texts: Texts, now: Temporal.Instant): Html {
  return html`<ul class="tiles">
    ${gateways.map((gateway) => tile(sync, gateway, texts, now))}
  </ul>`
}

function tile(sync: SyncView, gateway: GatewayView, texts: Texts, now: Temporal.Instant): Html {
  const { pod, level, state, mode, commit, since, message, reason, remarks } = gateway
  const meaning = message === undefined ? meaningIn(texts.language, reason) : undefined
  const [step] = gateway.steps
  return html`<li class="tile ${level}">
    <header>
      <b><a href="${gatewayLink(sync, pod)}">${gateway.gateway ?? pod}</a></b>
      <span class="light">${symbols[level]} ${texts.states[state]}</span>
    </header>
    <p class="quiet">
      ${joined(
        [
          gateway.gateway === undefined || gateway.gateway === pod ? undefined : pod,
          mode === undefined || mode === '' ? texts.noMode : mode,
          commit === undefined ? undefined : shortCommit(commit),
          timed(since, now, texts.runningFor),
        ],
        ' · ',
      )}
    </p>
    ${tileText(meaning, reason === undefined || message === undefined ? remarks : [message, ...remarks], texts)}
    ${step === undefined || step.kind === 'runbook' ? '' : html`<p>${stepTextsIn(texts.language).sentence(step)}</p>`}
  </li>`
}

/** The text of a tile: the meaning of its reason or the first message, cut to keep the page small; the gateway's own page shows all. */
function tileText(meaning: string | undefined, messages: readonly string[], texts: Texts): Html {
  const [first, ...others] = messages
  if (meaning === undefined && first === undefined) return html``
  const text = shortHashes(first ?? '')
  const shown = meaning ?? translated(text.length > maxTileCharacters ? `${text.slice(0, maxTileCharacters).trimEnd()}…` : text, texts)
  const more = meaning === undefined ? others.length : messages.length
  return html`<p>${shown} ${more === 0 ? '' : html`<span class="quiet">${texts.more(more)}</span>`}</p>`
}

/** The published commit, its ref and age in one line. */
export function published({ published }: Pick<SyncView, 'published'>, { texts, now }: PageContext): Html {
  if (published === undefined) return html`${texts.nothingYet}`
  const ref = shortHashes(published.ref)
  return html`<code title="${digestIn(published.ref) ?? published.commit}">${shortRevision(published.commit, published.ref)}</code>
    ${joined([ref, timed(published.at, now, texts.publishedAgo)], ', ')}`
}

/** Links to the previous and next page; empty if there is only one page. */
export function pagesOf({ page, pages }: Selected, linkTo: (page: number) => string, texts: Texts): Html {
  if (pages === 1) return html``
  return html`<nav class="pages" aria-label="${texts.pages}">
    ${page > 1 ? html`<a rel="prev" href="${linkTo(page - 1)}">${texts.previous}</a>` : ''}
    <span class="quiet">${texts.page(page, pages)}</span>
    ${page < pages ? html`<a rel="next" href="${linkTo(page + 1)}">${texts.next}</a>` : ''}
  </nav>`
}

/** Maximum number of steps; a fleet of a thousand gateways may have one for each. */
const maxSteps = 8

/** `offered`: the actions that the reader may perform on this page; undefined if it has no buttons. */
export function stepsPart(steps: readonly Step[], offered: readonly Action[] | undefined, { texts }: PageContext): Html {
  if (steps.length === 0) return html``
  const { sentence } = stepTextsIn(texts.language)
  const shown = steps.slice(0, maxSteps)
  return html`<h3>${texts.whatToDo}</h3>
    <ul class="plain">
      ${shown.map((step) => html`<li>${sentence(step)} ${offered === undefined ? '' : doerOf(step.kind, offered, texts.language)}</li>`)}
      ${steps.length > shown.length ? html`<li class="quiet">${texts.more(steps.length - shown.length)}</li>` : ''}
    </ul>`
}

/** Who performs a step: the reader with a button, or another role; empty if the text of the step already names the role. */
function doerOf(kind: Step['kind'], offered: readonly Action[], language: Language): string {
  const name = actionOfStep[kind]
  if (name === undefined) return ''
  const { byButton, byOthers } = stepTextsIn(language)
  const action = offered.find((one) => one.name === name)
  return action === undefined ? byOthers : byButton(labelOf(action, actionTextsIn(language)))
}
