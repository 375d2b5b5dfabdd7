/**
 * What to do, as a list of sentences: who does it where the reader cannot. Pure.
 */
import { html } from 'hono/html'
import type { Step } from '../fleet/steps.ts'
import type { Action } from './actions/action.ts'
import { actionWordsIn, labelOf } from './actions/action-words.ts'
import type { Html, PageContext } from './page.ts'
import { actionOfStep, stepWordsIn } from './step-words.ts'
import type { Language } from './words.ts'

/** A fleet of a thousand gateways may have a step for each. */
const maxSteps = 8

/** `offered`: what the reader may do on this page; undefined where it has no buttons. */
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

/** Who does what a step asks for: the reader by a button of the page, or somebody else; empty where the step says it itself. */
function doerOf(kind: Step['kind'], offered: readonly Action[], language: Language): string {
  const name = actionOfStep[kind]
  if (name === undefined) return ''
  const { byButton, bySomebodyElse } = stepWordsIn(language)
  const action = offered.find((one) => one.name === name)
  return action === undefined ? bySomebodyElse : byButton(labelOf(action, actionWordsIn(language)))
}
