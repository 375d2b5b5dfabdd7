/**
 * What people see of actions: links on the page of a GatewaySync, and the question before one is done. Pure.
 */
import { html } from 'hono/html'
import type { SyncKey } from '../people.ts'
import type { Html } from '../page.ts'
import type { Action } from './action.ts'
import { type ActionWords, labelOf } from './action-words.ts'

/** Where the question before an action is asked, and where its form goes. */
export function actionPath(sync: SyncKey, { name: action, of }: Action): string {
  const query = of === '' ? '' : `?of=${encodeURIComponent(of)}`
  return `${placeOf(sync)}/actions/${action}${query}`
}

/** Links, because nothing is done before it is confirmed; the commits to go back to in a list of their own. */
export function actionLinks(sync: SyncKey, actions: readonly Action[], words: ActionWords): Html {
  const link = (action: Action): Html => html`<a class="button" href="${actionPath(sync, action)}">${labelOf(action, words)}</a>`
  const usual = actions.filter(({ name }) => name !== 'rollback')
  const back = actions.filter(({ name }) => name === 'rollback')
  return html`<nav class="actions" aria-label="${words.actions}">
    ${usual.map(link)}
    ${
      back.length === 0
        ? ''
        : html`<details>
            <summary>${words.goBack}</summary>
            <p>${back.map(link)}</p>
          </details>`
    }
  </nav>`
}

/** The question, and the form that answers it. `all`: the words on the way to all GatewaySyncs. */
export function confirmBody(
  sync: SyncKey,
  action: Action,
  { token, person, words, all }: { token: string; person: string; words: ActionWords; all: string },
): Html {
  return html`<main>
    ${crumbs(sync, all)}
    <section class="card narrow">
      <h2>${sync.namespace}/${sync.name}</h2>
      <p>${words.told[action.name].means(action.of)}</p>
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
