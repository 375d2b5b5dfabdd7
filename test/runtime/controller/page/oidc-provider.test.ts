/**
 * Rate limiting of warnings that outsiders can cause.
 */
import t from 'tap'
import { createLimitedWarnings } from '../../../../runtime/controller/page/oidc-provider.ts'

void t.test('each subject is logged once a minute, with the number of suppressed warnings', (t) => {
  const lines: unknown[] = []
  let nowMs = 0
  const warn = createLimitedWarnings('it failed', {
    clock: { monotonicMs: () => nowMs },
    log: { warn: (fields, message) => void lines.push([message, fields.message, fields.count]) },
  })
  for (let index = 0; index < 500; index += 1) warn('a login', `no ${index}`)
  warn('a logout', 'away')
  t.strictSame(lines, [
    ['it failed', 'a login: no 0', undefined],
    ['it failed', 'a logout: away', undefined],
  ])
  nowMs = 60_000
  warn('a login', 'again')
  warn('a login', 'and again')
  t.strictSame(lines.slice(2), [['it failed', 'a login: again', 499]])
  t.end()
})
