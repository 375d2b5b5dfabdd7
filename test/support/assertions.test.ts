import t from 'tap'
import { partOf } from './assertions.ts'

const value = { ref: 'main-x', count: 1, items: [{ name: 'a', size: 1 }, { name: 'b' }], at: undefined }

await t.test('only the members that a pattern names are compared', (t) => {
  for (const pattern of [
    {},
    { ref: 'main-x' },
    { ref: /^main/, count: 1 },
    { items: [{ name: 'a' }, {}] },
    { at: undefined, gone: undefined },
  ]) {
    t.strictSame(partOf(value, pattern), pattern)
  }
  t.end()
})

await t.test('a value that only resembles the pattern does not match', (t) => {
  for (const pattern of [
    { ref: 'main' },
    { ref: '' },
    { ref: /^x/ },
    { count: '1' },
    { count: /1/ },
    { items: [] },
    { items: [{ name: 'a' }] },
    { items: [{ name: 'a' }, { name: 'b', size: 1 }] },
    { items: {} },
    { items: { 0: { name: 'a' } } },
    { at: null },
    { ref: {} },
    [],
    new Set(),
  ]) {
    t.strictNotSame(partOf(value, pattern), pattern)
  }
  t.strictNotSame(partOf(undefined, {}), {})
  t.strictNotSame(partOf(null, {}), {})
  t.strictNotSame(partOf('text', {}), {})
  t.end()
})
