/**
 * Warnings of the status page about an open webhook receiver and an expiring certificate, and warnings in the log about login names without a
 * prefix.
 */
import t from 'tap'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { missingPrefixes, warningsOf } from '../../../../runtime/controller/page/status-page.ts'

const now = Temporal.Instant.from('2026-03-01T12:00:00Z')
const later = now.add({ hours: 2_000 })
const closed = { enabled: true, port: 8080, tokenFile: '/secret/token' }

void t.test('a receiver without authentication is reported while it is enabled', async (t) => {
  const of = (receiver: object) => warningsOf(later, { receiver: { ...closed, ...receiver } as never }, now)
  t.strictSame(of({}), [])
  t.strictSame(of({ tokenFile: undefined, hmacFile: '/secret/hmac' }), [])
  t.strictSame(of({ tokenFile: undefined }), [{ kind: 'openReceiver' }])
  t.strictSame(of({ tokenFile: undefined, enabled: false }), [])
})

void t.test('a certificate with less than three days left is reported', async (t) => {
  const of = (hours: number) => warningsOf(now.add({ hours }), { receiver: closed as never }, now)
  t.strictSame(of(72), [])
  t.strictSame(of(71), [{ kind: 'certificate', until: '2026-03-04' }])
  t.strictSame(of(-1), [{ kind: 'certificate', until: '2026-03-01' }])
})

void t.test('each empty prefix of the configured login is named', async (t) => {
  const proxy = { secretFile: '/x', userHeader: 'u', groupsHeader: 'g', usernamePrefix: '', groupsPrefix: 'sso:' }
  const oidc = { usernamePrefix: '', groupsPrefix: '' } as never
  t.strictSame(missingPrefixes({ proxy }), ['statusPage.proxy.usernamePrefix'])
  t.strictSame(missingPrefixes({ oidc }), ['statusPage.oidc.usernamePrefix', 'statusPage.oidc.groupsPrefix'])
  t.strictSame(missingPrefixes({ proxy: { ...proxy, usernamePrefix: 'sso:' } }), [])
  t.strictSame(missingPrefixes({}), [])
})
