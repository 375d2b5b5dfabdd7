/**
 * Responds to refused requests: with a page for browsers, with problem+json for programs and the script of the page.
 */
import type { Context } from 'hono'
import type { Reason } from '../../platform/fault.ts'
import { problem } from '../../http/problem.ts'
import { messagePage } from './page.ts'
import type { Env, PageRenderer } from './page-auth.ts'
import type { Texts } from '../locales/texts.ts'

/** Why a request is refused: not authenticated, permissions cannot be read, or too many pages are rendered or not read yet. */
export type RefusedFor = keyof Texts['refused']

const responses = {
  unidentified: { status: 401, detail: 'the login proxy in front of this page must identify the user' },
  unavailable: { status: 503, detail: 'your permissions cannot be checked at present; try again later' },
  busy: { status: 503, detail: 'too many pages are being rendered or wait for slow readers; try again later' },
} as const satisfies Record<RefusedFor, { status: number; detail: string }>

/** Responds with a page if a user follows a link, otherwise with problem+json. `reason`: from the table of faults. */
export async function refuse(
  context: Context<Env>,
  why: RefusedFor,
  { contextOf, textsFor }: PageRenderer,
  reason?: Reason,
): Promise<Response> {
  const { status, detail } = responses[why]
  if (!isNavigation(context)) return problem(context, status, detail, reason)
  const texts = textsFor(context)
  const account = context.get('person') === undefined ? { account: undefined } : {}
  return context.html(await messagePage(texts.refused[why], { ...contextOf(texts), ...account, isStill: true }), status)
}

/** Whether a user follows a link; a login page would not help the script. */
export function isNavigation(context: Context): boolean {
  const kind = context.req.header('sec-fetch-dest')
  if (context.req.method !== 'GET') return false
  return kind === undefined ? (context.req.header('accept') ?? '').includes('text/html') : kind === 'document'
}
