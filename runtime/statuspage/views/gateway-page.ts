/**
 * Renders the page of one gateway: its commit, local changes, errors, and last syncs. Pure.
 */
import { html } from 'hono/html'
import type { LocalChanges } from '../../fleet/sync-detail.ts'
import { levelOfState } from '../../fleet/gateway-view.ts'
import type { GatewayView, SyncView } from '../../fleet/view.ts'
import type { GatewayState } from '../../reconcile/decide/gateways.ts'
import type { ReportDetails } from '../../reconcile/decide/report-details.ts'
import type { SyncReportStatus } from '../../api/schema/report.ts'
import { shortCommit, shortHashes } from '../../api/values.ts'
import { type DetailTexts, detailTextsIn } from '../locales/detail-texts.ts'
import { findingsList } from './findings-part.ts'
import { frame, type Html, linkOf, type PageContext, part, translated, stepsPart, symbols } from './page.ts'
import { meaningIn } from '../locales/reason-texts.ts'
import { asOf, joined, timed } from './times.ts'

/** `report`: the complete report; undefined if it cannot be read, then `kept` is used. `hidesLines`: show only file names. */
export type GatewayPage = {
  sync: SyncView
  gateway: GatewayView
  report: SyncReportStatus | undefined
  kept: ReportDetails | undefined
  local: LocalChanges | undefined
  hidesLines: boolean
}

const stateOfPhase: Readonly<Record<SyncReportStatus['phase'], GatewayState>> = {
  Pending: 'pending',
  Syncing: 'pending',
  Synced: 'synced',
  Paused: 'paused',
  DryRun: 'dryRun',
  Blocked: 'blocked',
  Drifted: 'drifted',
  Failed: 'failed',
}

/** The complete document, in the language of `context`. */
export function gatewayPage({ sync, gateway, report, kept, local, hidesLines }: GatewayPage, context: PageContext): Html {
  const { texts } = context
  const own = detailTextsIn(texts.language)
  const { findings = [], scan, designers = kept?.designers ?? [], dryRun } = report ?? {}
  const history = report?.history ?? kept?.history ?? []
  const list = (title: string, items: readonly (string | Html)[]): Html =>
    items.length === 0
      ? html``
      : part(
          title,
          html`<ul class="entries">
            ${items.map((item) => html`<li>${item}</li>`)}
          </ul>`,
        )
  const drift = report?.drift ?? kept?.drift
  const body = html`<main>
    <div class="place">
      <nav><a href="/">${texts.allGatewaySyncs}</a> / <a href="${linkOf(sync)}">${sync.namespace}/${sync.name}</a></nav>
      ${asOf(context.now, texts.stateOf)}
    </div>
    ${report === undefined ? html`<p class="quiet">${own.inPart}</p>` : ''}
    <div class="parts">
      ${part(own.state, stateOf(gateway, context))} ${part(own.gateway, factsOf(gateway, report, context))}
      ${list(
        own.complaints,
        (scan?.problems ?? []).map((problem) => translated(problem, texts)),
      )}
      ${
        report === undefined
          ? list(
              texts.findings,
              gateway.remarks.map((remark) => translated(shortHashes(remark), texts)),
            )
          : findings.length === 0
            ? ''
            : part(texts.findings, findingsList(findings, texts))
      }
      ${drift === undefined || drift.count === 0 ? '' : part(own.localChanges, driftOf(drift, local, own))}
      ${list(own.designers, designers)} ${history.length === 0 ? '' : part(own.lastSyncs, historyOf(sync, history, context))}
      ${dryRun === undefined ? '' : part(own.dryRun, dryRunOf(dryRun, hidesLines, own))}
    </div>
  </main>`
  return frame(gateway.gateway ?? gateway.pod, body, context)
}

function stateOf({ level, state, reason, message, steps }: GatewayView, context: PageContext): Html {
  const { texts } = context
  const meaning = meaningIn(texts.language, reason)
  // Steps for changed files are shown below.
  const others = steps.filter(({ kind }) => kind !== 'lookAtChanges')
  return html`<p><span class="light ${level}">${symbols[level]} ${texts.states[state]}</span> <span class="quiet">${reason ?? ''}</span></p>
    ${message === undefined ? '' : html`<p>${translated(shortHashes(message), texts)}</p>`}
    ${meaning === undefined || meaning === message ? '' : html`<p class="quiet">${meaning}</p>`} ${stepsPart(others, undefined, context)}`
}

function factsOf(gateway: GatewayView, report: SyncReportStatus | undefined, { texts, now }: PageContext): Html {
  const own = detailTextsIn(texts.language)
  const { pod, commit, mode, profile, since, finishedAt, agentVersion } = gateway
  const when = (at: string | undefined): Html | undefined => timed(at, now, texts.publishedAgo)
  const { files, scan, projects = [] } = report ?? {}
  const rows: [string, string | Html | undefined][] = [
    [
      texts.commit,
      commit === undefined
        ? undefined
        : html`<code title="${commit}">${shortCommit(commit)}</code> ${joined([report?.ref, timed(since, now, texts.runningFor)], ', ')}`,
    ],
    [texts.mode, mode === undefined || mode === '' ? texts.noMode : mode],
    [texts.profile, profile],
    [texts.pod, pod],
    [own.lastSync, when(finishedAt)],
    [own.files, files === undefined ? undefined : own.fileCounts(files.added, files.changed, files.removed, files.unchanged)],
    [own.scanned, when(scan?.finishedAt)],
    [own.agent, agentVersion],
    [own.projects, projects.length === 0 ? undefined : projects.join(', ')],
  ]
  return html`<dl>
    ${rows.map(([name, value]) =>
      value === undefined
        ? ''
        : html`<dt>${name}</dt>
            <dd>${value}</dd>`,
    )}
  </dl>`
}

function driftOf({ count, paths }: NonNullable<SyncReportStatus['drift']>, local: LocalChanges | undefined, own: DetailTexts): Html {
  return html`<p>${own.localFiles(count)}. <span class="quiet">${own.becomes[local?.policy ?? 'unknown']}</span></p>
    <ul class="entries">
      ${paths.map((path) => html`<li><code>${path}</code></li>`)} ${count > paths.length ? html`<li>…</li>` : ''}
    </ul>`
}

function historyOf(sync: SyncView, history: NonNullable<SyncReportStatus['history']>, { texts, now }: PageContext): Html {
  return html`<ol class="entries">
    ${history.map(({ commit, phase, reason, finishedAt }) => {
      const state = stateOfPhase[phase]
      const level = levelOfState[state]
      return html`<li>
        <span class="light ${level}">${symbols[level]} ${texts.states[state]}</span>
        <a href="${linkOf(sync)}/commits/${commit}"><code>${shortCommit(commit)}</code></a>
        <span class="quiet">${joined([timed(finishedAt, now, texts.publishedAgo), reason], ' · ')}</span>
      </li>`
    })}
  </ol>`
}

function dryRunOf(
  { added, changed, removed, paths, diff }: NonNullable<SyncReportStatus['dryRun']>,
  hidesLines: boolean,
  own: DetailTexts,
): Html {
  return html`<p>
      ${[
        [added, own.ops.add],
        [changed, own.ops.change],
        [removed, own.ops.remove],
      ]
        .map(([count, op]) => `${count} ${op}`)
        .join(', ')}
    </p>
    ${diff !== undefined && hidesLines ? html`<p class="quiet">${own.linesHidden}</p>` : ''}
    ${
      diff === undefined || hidesLines
        ? html`<ul class="entries">
            ${paths.map((path) => html`<li><code>${path}</code></li>`)}
          </ul>`
        : html`<pre tabindex="0" aria-label="${own.dryRun}">${diff}</pre>`
    }`
}
