/**
 * Why somebody gets no page: a sentence in a page for people who follow a link, a problem for programs and for the script of a page.
 */
import type { Context } from 'hono'
import type { Reason } from '../fault.ts'
import { problem } from '../http/problem.ts'
import { messagePage } from './page.ts'
import type { Env, PagesOf } from './people.ts'
import type { Words } from './words.ts'

/** Why nobody gets anything: who asks is not known, what they may see cannot be found out, answers of others fill the memory. */
export type RefusedFor = keyof Words['refused']

const told = {
  nobody: { status: 401, detail: 'the login in front of this page has to say who asks' },
  away: { status: 503, detail: 'nobody can say at present what you may see; try again later' },
  busy: { status: 503, detail: 'too much waits for slow readers; try again later' },
} as const satisfies Record<RefusedFor, { status: number; detail: string }>

/** Answers with a page in words where a person follows a link, else with problem+json. `reason`: of the table of faults. */
export async function refuse(context: Context<Env>, why: RefusedFor, { contextOf, wordsOf }: PagesOf, reason?: Reason): Promise<Response> {
  const { status, detail } = told[why]
  if (!isNavigation(context)) return problem(context, status, detail, reason)
  const words = wordsOf(context)
  const account = context.get('person') === undefined ? { account: undefined } : {}
  return context.html(await messagePage(words.refused[why], { ...contextOf(words), ...account, isStill: true }), status)
}

/** Whether somebody follows a link, and not a script of the page, which no login would help. */
export function isNavigation(context: Context): boolean {
  const kind = context.req.header('sec-fetch-dest')
  if (context.req.method !== 'GET') return false
  return kind === undefined ? (context.req.header('accept') ?? '').includes('text/html') : kind === 'document'
}
