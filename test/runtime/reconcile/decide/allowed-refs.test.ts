import t from 'tap'
import { isRefAllowed } from '../../../../runtime/reconcile/decide/allowed-refs.ts'

const hash = 'a'.repeat(40)

const rows: [string, readonly string[] | undefined, boolean][] = [
  ['main', undefined, true],
  ['refs/heads/main', undefined, true],
  ['refs/tags/v1', undefined, true],
  ['refs/pull/7/head', undefined, false],
  [hash, undefined, false],
  [hash, ['*'], false],
  [hash, ['**'], false],
  [hash, [hash], true],
  ['main', ['main', 'v*'], true],
  ['refs/heads/main', ['main'], true],
  ['v1.2.3', ['v*'], true],
  ['refs/tags/v1.2.3', ['v*'], true],
  ['release/v1', ['v*'], false],
  ['release/1/2', ['release/*'], false],
  ['release/1/2', ['release/**'], true],
  ['refs/pull/7/head', ['**'], false],
  ['refs/pull/7/head', ['refs/pull/*/head'], true],
  ['v1', ['refs/tags/v*'], true],
  ['v1', ['refs/heads/v*'], true],
  ['refs/heads/v1', ['refs/tags/v*'], false],
  ['refs/heads/refs/heads/v1', ['refs/heads/v1'], false],
  ['v1x2', ['v1.2'], false],
  ['main', [], false],
  ['release/2', ['release/{1,2}'], true],
  ['main', ['main[', 'x'], false],
  ['x', ['main[', 'x'], true],
  ['release/a/x', ['release/**/x'], true],
  ['release/x', ['release/**/x'], false],
  ['refs/pull/x', ['refs/pull/**/x'], false],
]

void t.test('a request may name only refs that allowedRefs permits', async (t) => {
  for (const [ref, patterns, allowed] of rows) t.equal(isRefAllowed(ref, patterns), allowed, `${ref} under ${JSON.stringify(patterns)}`)
})
