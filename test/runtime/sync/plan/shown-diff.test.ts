/**
 * Tests which keys differ in two JSON values, and that secrets stay hidden.
 */
import t from 'tap'
import { hiddenValue } from '../../../../runtime/platform/log/redact.ts'
import { differences } from '../../../../runtime/sync/plan/shown-diff.ts'

void t.test('objects are compared by key and lists of one length by index, in order', (t) => {
  const rows: [unknown, unknown, object[]][] = [
    [{ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 }, []],
    [{ a: 1 }, { a: 2 }, [{ at: 'a', a: '1', b: '2' }]],
    [
      { z: 1, a: 1 },
      { z: 2, y: 3 },
      [
        { at: 'a', a: '1', b: undefined },
        { at: 'y', a: undefined, b: '3' },
        { at: 'z', a: '1', b: '2' },
      ],
    ],
    [{ a: [1, 2] }, { a: [1, 3] }, [{ at: 'a.1', a: '2', b: '3' }]],
    [{ a: [1, 2] }, { a: [1] }, [{ at: 'a', a: '[1,2]', b: '[1]' }]],
    [{ a: [] }, { a: {} }, [{ at: 'a', a: '[]', b: '{}' }]],
    [1, 'x', [{ at: '(all)', a: '1', b: '"x"' }]],
    [{ constructor: 1 }, {}, [{ at: 'constructor', a: '1', b: undefined }]],
  ]
  for (const [a, b, expected] of rows) t.strictSame(differences(a, b), expected, JSON.stringify([a, b]))
  t.end()
})

void t.test('values below 64 keys are compared as a whole, and long ones are cut', (t) => {
  const nested = (depth: number, value: unknown): unknown => (depth === 0 ? value : { k: nested(depth - 1, value) })
  t.equal(differences(nested(64, { a: 1 }), nested(64, { a: 2 }))[0]?.at, Array(64).fill('k').join('.'))
  t.equal(differences(nested(63, { a: 1 }), nested(63, { a: 2 }))[0]?.at, [...(Array(63).fill('k') as string[]), 'a'].join('.'))
  const [long] = differences({ a: 'x'.repeat(500) }, { a: 1 })
  t.ok((long?.a?.length ?? 0) < 130, `${long?.a?.length} characters`)
  t.end()
})

void t.test('of a long path its end is shown, and no more differences than requested are searched', (t) => {
  const list = (value: number): number[] => Array.from({ length: 10_000 }, () => value)
  const name = 'k'.repeat(50_000)
  const found = differences({ [name]: { a: list(1) } }, { [name]: { a: list(2) } })
  t.equal(found.length, 10_000)
  t.equal(Math.max(...found.map(({ at }) => at.length)), 401)
  t.match(found[9_999]?.at, /^…k+\.a\.9999$/)
  t.equal(differences(list(1), list(2), 100).length, 101)
  t.end()
})

void t.test('a value under a secret key, above one, or that is one, is hidden', (t) => {
  t.strictSame(differences({ password: 'one' }, { password: 'two' }), [{ at: 'password', a: hiddenValue, b: hiddenValue }])
  t.strictSame(differences({ password: { a: 1 } }, { password: { a: 2 } }), [{ at: 'password.a', a: hiddenValue, b: hiddenValue }])
  t.strictSame(differences({ a: [{ password: 'one' }] }, { a: 1 }), [{ at: 'a', a: hiddenValue, b: '1' }])
  t.end()
})
