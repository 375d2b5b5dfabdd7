/**
 * Renders actions: the links on the page of a GatewaySync, and the confirmation page. Pure.
 */
import { html } from 'hono/html'
import { isCommitHash } from '../../api/values.ts'
import type { SyncName } from './page-auth.ts'
import type { Html } from './page.ts'
import type { Action } from '../actions/action.ts'
import { type ActionTexts, labelOf } from '../locales/action-texts.ts'

/** The path of the confirmation page and of its form. */
export function actionPath(sync: SyncName, { name: action, of }: Action): string {
  const query = of === '' ? '' : `?of=${encodeURIComponent(of)}`
  return `${placeOf(sync)}/actions/${action}${query}`
}

/** Links to the confirmation page; the action is not performed without confirmation. */
export function actionLink(sync: SyncName, action: Action, texts: ActionTexts): Html {
  return html`<a class="button" href="${actionPath(sync, action)}">${labelOf(action, texts)}</a>`
}

/** `about`: descriptions of the commits to go back to, because users do not recognize hashes. These actions form a separate list. */
export function actionLinks(sync: SyncName, actions: readonly Action[], texts: ActionTexts, about: (commit: string) => Html): Html {
  const link = (action: Action): Html => actionLink(sync, action, texts)
  const usual = actions.filter(({ name }) => name !== 'rollback')
  const back = actions.filter(({ name }) => name === 'rollback')
  return html`<nav class="actions" aria-label="${texts.actions}">
    ${usual.map(link)}
    ${
      back.length === 0
        ? ''
        : html`<details>
            <summary>${texts.goBack}</summary>
            <ul>
              ${back.map((action) => html`<li>${link(action)} ${isCommitHash(action.of) ? about(action.of) : ''}</li>`)}
            </ul>
          </details>`
    }
  </nav>`
}

/** The confirmation with its form. `all`: the text of the link to all GatewaySyncs; `about`: details of the action. */
export function confirmBody(
  sync: SyncName,
  action: Action,
  { token, person, texts, all, about }: { token: string; person: string; texts: ActionTexts; all: string; about: Html | undefined },
): Html {
  return html`<main>
    ${crumbs(sync, all)}
    <section class="card narrow">
      <h2>${sync.namespace}/${sync.name}</h2>
      <p>${texts.byAction[action.name].means(action.of)}</p>
      ${about ?? ''}
      <p class="quiet">${texts.asWhom(person)}</p>
      <form method="post" action="${actionPath(sync, action)}">
        <input type="hidden" name="token" value="${token}" />
        <button class="primary">${labelOf(action, texts)}</button>
        <a class="button" href="${placeOf(sync)}">${texts.cancel}</a>
      </form>
    </section>
  </main>`
}

/** Why the action was not performed, with a link back. */
export function refusalBody(sync: SyncName, sentence: string, detail: string | undefined, texts: ActionTexts): Html {
  return html`<main>
    <section class="card narrow">
      <p>${sentence}</p>
      ${detail === undefined ? '' : html`<p class="quiet">${detail}</p>`}
      <p><a class="button" href="${placeOf(sync)}">${texts.again}</a></p>
    </section>
  </main>`
}

function placeOf({ namespace, name }: SyncName): string {
  return `/gatewaysyncs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
}

function crumbs(sync: SyncName, all: string): Html {
  return html`<nav><a href="/">${all}</a> / <a href="${placeOf(sync)}">${sync.namespace}/${sync.name}</a></nav>`
}
