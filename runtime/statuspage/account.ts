/**
 * Whom the page takes somebody for: what a role binding has to name.
 */
import type { Context, Hono } from 'hono'
import { html } from 'hono/html'
import { type ActionWords, actionWordsIn } from './actions/action-words.ts'
import type { Env } from './actions/routes.ts'
import { frame, type Html, type PageContext } from './page.ts'
import type { Person } from './people.ts'
import type { Words } from './words.ts'

/** Adds `/account`. */
export function addAccount(
  app: Hono<Env>,
  { contextOf, wordsOf }: { contextOf(words: Words): PageContext; wordsOf(context: Context): Words },
): void {
  app.get('/account', async (context) => {
    const person = context.get('person')
    if (person === undefined) return await context.notFound()
    const own = contextOf(wordsOf(context))
    const words = actionWordsIn(own.words.language)
    return context.html(await frame(words.account, accountBody(person, words), own))
  })
}

function accountBody({ name, groups }: Person, words: ActionWords): Html {
  return html`<main>
    <section class="card">
      <dl>
        <dt>${words.youAre}</dt>
        <dd><code>${name}</code></dd>
        <dt>${words.groups}</dt>
        <dd>${groups.length === 0 ? words.noGroups : groups.map((group) => html`<code>${group}</code> `)}</dd>
      </dl>
    </section>
  </main>`
}
