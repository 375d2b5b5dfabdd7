/**
 * Whom the page takes somebody for, and what becomes of those whom it does not know.
 */
import type { Hono } from 'hono'
import { html } from 'hono/html'
import { type ActionWords, actionWordsIn } from './actions/action-words.ts'
import { headersOf } from '../http/peer.ts'
import { problem } from '../http/problem.ts'
import { loginPath } from './login/routes.ts'
import { frame, type Html } from './page.ts'
import type { Env, PagesOf, People, Person } from './people.ts'
import { isNavigation, refuse } from './refusal.ts'

/**
 * From here on whoever asks is known: others are led to the login where it is ours, and else refused. Adds the login's own pages and `/account`.
 */
export function addPeople(app: Hono<Env>, { identify, login }: Pick<People, 'identify' | 'login'>, pages: PagesOf): void {
  login?.addTo(app, pages)
  app.use(async (context, next) => {
    const person = await identify((name) => headersOf(context, name))
    if (person === undefined) {
      if (login === undefined) return await refuse(context, 'nobody', pages)
      if (!isNavigation(context)) return problem(context, 401, 'log in to see this')
      const { pathname, search } = new URL(context.req.url)
      return context.redirect(`${loginPath}?to=${encodeURIComponent(`${pathname}${search}`)}`, 303)
    }
    context.set('person', person)
    await next()
    return undefined
  })
  app.get('/account', async (context) => {
    const person = context.get('person')
    if (person === undefined) return await context.notFound()
    const own = pages.contextOf(pages.wordsOf(context))
    const words = actionWordsIn(own.words.language)
    return context.html(
      await frame(words.account, accountBody(person, { words, all: own.words.allGatewaySyncs, logsOut: login !== undefined }), {
        ...own,
        account: undefined,
        isStill: true,
      }),
    )
  })
}

type Choices = { words: ActionWords; all: string; logsOut: boolean }

function accountBody({ name, groups }: Person, { words, all, logsOut }: Choices): Html {
  return html`<main>
    <nav><a href="/">${all}</a></nav>
    <section class="card narrow">
      <dl>
        <dt>${words.youAre}</dt>
        <dd><code>${name}</code></dd>
        <dt>${words.groups}</dt>
        <dd>
          ${
            groups.length === 0
              ? words.noGroups
              : html`<ul class="plain">
                  ${groups.map((group) => html`<li><code>${group}</code></li>`)}
                </ul>`
          }
        </dd>
      </dl>
      ${logsOut ? html`<form method="post" action="/logout"><button>${words.logOut}</button></form>` : ''}
    </section>
  </main>`
}
