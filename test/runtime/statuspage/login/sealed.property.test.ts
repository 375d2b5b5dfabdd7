/**
 * Tests the cookies of pending logins: few and small in total for any cookies of the browser, without affecting other cookies.
 */
import fc from 'fast-check'
import t from 'tap'
import { attemptCookie, surplusAttempts } from '../../../../runtime/statuspage/login/sealed.ts'

const cookie = fc.tuple(
  fc.oneof(
    fc.string({ minLength: 8, maxLength: 40 }).map(attemptCookie),
    fc.constantFrom('__Host-cluster-sync-session', 'other', 'x-login'),
  ),
  fc.string({ maxLength: 2_000 }),
)

void t.test('the remaining cookies leave space for one more, and only the oldest login cookies are removed', (t) => {
  fc.assert(
    fc.property(fc.array(cookie, { maxLength: 12 }), fc.integer({ min: 0, max: 3_000 }), (brought, length) => {
      const cookies = Object.fromEntries(brought)
      const ours = Object.keys(cookies).filter((name) => name.startsWith('__Host-cluster-sync-login-'))
      const gone = surplusAttempts(cookies, length)
      t.strictSame(gone, ours.slice(0, gone.length))
      const left = ours.slice(gone.length)
      t.ok(left.length < 4)
      const characters = left.reduce((sum, name) => sum + name.length + (cookies[name]?.length ?? 0), 0)
      t.ok(left.length === 0 || characters + attemptCookie('').length + length <= 3_600)
    }),
  )
  t.end()
})

void t.test('a cookie name identifies its login attempt without revealing its state', (t) => {
  t.equal(attemptCookie('abc'), attemptCookie('abc'))
  t.not(attemptCookie('abc'), attemptCookie('abd'))
  t.match(attemptCookie('a state; with=signs\r\n'), /^__Host-cluster-sync-login-[A-Za-z0-9_-]{16}$/)
  t.end()
})
