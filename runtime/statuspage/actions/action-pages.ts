/**
 * What people see of actions: links on the page of a GatewaySync, and the question before one is done. Pure.
 */
import { html } from 'hono/html'
import { isCommitHash } from '../../gatewaysync/values.ts'
import type { SyncKey } from '../people.ts'
import type { Html } from '../page.ts'
import type { Action } from './action.ts'
import { type ActionWords, labelOf } from './action-words.ts'

/** Where the question before an action is asked, and where its form goes. */
export function actionPath(sync: SyncKey, { name: action, of }: Action): string {
  const query = of === '' ? '' : `?of=${encodeURIComponent(of)}`
  return `${placeOf(sync)}/actions/${action}${query}`
}

/** Nothing is done before it is confirmed. */
export function actionLink(sync: SyncKey, action: Action, words: ActionWords): Html {
  return html`<a class="button" href="${actionPath(sync, action)}">${labelOf(action, words)}</a>`
}

/** `about`: what is known of a commit to go back to; nobody knows commits by their hashes. They stand in a list of their own. */
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

/** The question, and the form that answers it. `all`: the words on the way to all GatewaySyncs; `about`: what else belongs to the question. */
export function confirmBody(
  sync: SyncKey,
  action: Action,
  { token, person, words, all, about }: { token: string; person: string; words: ActionWords; all: string; about: Html | undefined },
): Html {
  return html`<main>
    ${crumbs(sync, all)}
    <section class="card narrow">
      <h2>${sync.namespace}/${sync.name}</h2>
      <p>${words.told[action.name].means(action.of)}</p>
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

/** Why nothing was done, and the way back. */
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
