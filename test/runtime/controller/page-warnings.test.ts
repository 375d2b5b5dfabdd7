/**
 * Of what the status page warns everybody: an open push receiver, and a certificate that nobody has renewed. And of what the log warns: names of
 * a login without a prefix.
 */
import t from 'tap'
import { missingPrefixes, warningsOf } from '../../../runtime/controller/page/page-warnings.ts'

const now = Temporal.Instant.from('2026-03-01T12:00:00Z')
const later = now.add({ hours: 2_000 })
const closed = { enabled: true, port: 8080, tokenFile: '/secret/token' }

void t.test('a receiver is warned of while it asks for no proof and can be reached', async (t) => {
  const of = (receiver: object) => warningsOf(later, { receiver: { ...closed, ...receiver } as never }, now)
  t.same(of({}), [])
  t.same(of({ tokenFile: undefined, hmacFile: '/secret/hmac' }), [])
  t.same(of({ tokenFile: undefined }), [{ kind: 'openReceiver' }])
  t.same(of({ tokenFile: undefined, enabled: false }), [])
})

void t.test('a certificate is warned of when less than three days are left', async (t) => {
  const of = (hours: number) => warningsOf(now.add({ hours }), { receiver: closed as never }, now)
  t.same(of(72), [])
  t.same(of(71), [{ kind: 'certificate', until: '2026-03-04' }])
  t.same(of(-1), [{ kind: 'certificate', until: '2026-03-01' }])
})

void t.test('each empty prefix of the login that is used is named', async (t) => {
  const proxy = { secretFile: '/x', userHeader: 'u', groupsHeader: 'g', userPrefix: '', groupsPrefix: 'sso:' }
  const oidc = { usernamePrefix: '', groupsPrefix: '' } as never
  t.same(missingPrefixes({ proxy }), ['statusPage.proxy.userPrefix'])
  t.same(missingPrefixes({ oidc }), ['statusPage.oidc.usernamePrefix', 'statusPage.oidc.groupsPrefix'])
  t.same(missingPrefixes({ proxy: { ...proxy, userPrefix: 'sso:' } }), [])
  t.same(missingPrefixes({}), [])
})
