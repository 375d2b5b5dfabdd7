/**
 * Renders actions: the links on the page of a GatewaySync, and the confirmation page. Pure.
 */
import { html } from 'hono/html'
import { isCommitHash } from '../../api/values.ts'
import type { SyncKey } from './people.ts'
import type { Html } from './page.ts'
import type { Action } from '../actions/action.ts'
import { type ActionWords, labelOf } from '../locales/action-texts.ts'

/** The path of the confirmation page and of its form. */
export function actionPath(sync: SyncKey, { name: action, of }: Action): string {
  const query = of === '' ? '' : `?of=${encodeURIComponent(of)}`
  return `${placeOf(sync)}/actions/${action}${query}`
}

/** Links to the confirmation page; the action is not performed without confirmation. */
export function actionLink(sync: SyncKey, action: Action, words: ActionWords): Html {
  return html`<a class="button" href="${actionPath(sync, action)}">${labelOf(action, words)}</a>`
}

/** `about`: descriptions of the commits to go back to, because users do not recognize hashes. These actions form a separate list. */
export function actionLinks(sync: SyncKey, actions: readonly Action[], words: ActionWords, about: (commit: string) => Html): Html {
  const link = (action: Action): Html => actionLink(sync, action, words)
  const usual = actions.filter(({ name }) => name !== 'rollback')
  const back = actions.filter(({ name }) => name === 'rollback')
  return html`<nav class="actions" aria-label="${words.actions}">
    ${usual.map(link)}
    ${
      back.length === 0
        ? ''
        : html`<details>
            <summary>${words.goBack}</summary>
            <ul>
              ${back.map((action) => html`<li>${link(action)} ${isCommitHash(action.of) ? about(action.of) : ''}</li>`)}
            </ul>
          </details>`
    }
  </nav>`
}

/** The confirmation with its form. `all`: the text of the link to all GatewaySyncs; `about`: details of the action. */
export function confirmBody(
  sync: SyncKey,
  action: Action,
  { token, person, words, all, about }: { token: string; person: string; words: ActionWords; all: string; about: Html | undefined },
): Html {
  return html`<main>
    ${crumbs(sync, all)}
    <section class="card narrow">
      <h2>${sync.namespace}/${sync.name}</h2>
      <p>${words.texts[action.name].means(action.of)}</p>
      ${about ?? ''}
      <p class="quiet">${words.asWhom(person)}</p>
      <form method="post" action="${actionPath(sync, action)}">
        <input type="hidden" name="token" value="${token}" />
        <button class="primary">${labelOf(action, words)}</button>
        <a class="button" href="${placeOf(sync)}">${words.cancel}</a>
      </form>
    </section>
  </main>`
}

/** Why the action was not performed, with a link back. */
export function refusalBody(sync: SyncKey, sentence: string, detail: string | undefined, words: ActionWords): Html {
  return html`<main>
    <section class="card narrow">
      <p>${sentence}</p>
      ${detail === undefined ? '' : html`<p class="quiet">${detail}</p>`}
      <p><a class="button" href="${placeOf(sync)}">${words.again}</a></p>
    </section>
  </main>`
}

function placeOf({ namespace, name }: SyncKey): string {
  return `/gatewaysyncs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
}

function crumbs(sync: SyncKey, all: string): Html {
  return html`<nav><a href="/">${all}</a> / <a href="${placeOf(sync)}">${sync.namespace}/${sync.name}</a></nav>`
}
