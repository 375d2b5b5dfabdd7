/**
 * Issues and checks CSRF tokens: a token is valid for one user in one browser, one GatewaySync and one action, for a short time. The browser is
 * identified by a cookie that other sites can neither read nor have sent. Pure.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Temporal } from '../../platform/temporal.ts'
import type { Person } from '../views/page-auth.ts'

/** Maximum time between showing a confirmation and submitting it. */
export const formMinutes = 10
/** Browsers accept a cookie with this prefix only over HTTPS and for this host (RFC 6265bis, 4.1.3.2). */
export const formCookie = '__Host-cluster-sync-form'
/** 16 random bytes. */
export const formCookiePattern = /^[A-Za-z0-9_-]{22}$/

/** What one token permits. */
export type Form = {
  /** The value of the cookie. */
  browser: string
  person: Pick<Person, 'name'>
  /** The action and its target. */
  act: readonly string[]
}

/** Signs with the first key. Throws without one. */
export function formToken(keys: readonly Uint8Array[], form: Form, now: Temporal.Instant): string {
  const [key] = keys
  if (key === undefined) throw new Error('a form needs a key')
  const until = Math.floor(now.epochMilliseconds / 1000) + formMinutes * 60
  return `${until}.${signed(key, form, until)}`
}

/** Whether one of the keys signed this token for this form, and it has not expired. */
export function isFormToken(keys: readonly Uint8Array[], form: Form, token: string, now: Temporal.Instant): boolean {
  const [, until = '', signature = ''] = /^(\d{1,12})\.([A-Za-z0-9_-]{43})$/.exec(token) ?? []
  if (until === '' || !formCookiePattern.test(form.browser)) return false
  const fits = keys.filter((key) => timingSafeEqual(Buffer.from(signature), Buffer.from(signed(key, form, Number(until)))))
  return fits.length > 0 && now.epochMilliseconds < Number(until) * 1000
}

function signed(key: Uint8Array, { browser, person, act }: Form, until: number): string {
  const text = JSON.stringify(['form', browser, person.name, until, ...act])
  return createHmac('sha256', key).update(text).digest('base64url')
}
