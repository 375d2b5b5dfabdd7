import t from 'tap'
import { FairCache, keepPromise } from '../../../../runtime/platform/async/fair-cache.ts'

void t.test('a tenant with many entries replaces its own oldest ones, not those of others', async (t) => {
  const cache = new FairCache<number>({ max: 4 })
  cache.set('quiet', 'q', 0)
  for (let index = 1; index <= 100; index += 1) cache.set('loud', `l${index}`, index)
  t.strictSame(
    ['q', 'l97', 'l98', 'l99', 'l100'].map((key) => cache.get(key)),
    [0, undefined, 98, 99, 100],
  )
  cache.set('third', 't', 1)
  t.strictSame(
    ['q', 't', 'l98', 'l99'].map((key) => cache.get(key)),
    [0, 1, undefined, 99],
  )
})

void t.test('the least recently used entry of a tenant goes first', async (t) => {
  const cache = new FairCache<string>({ max: 2 })
  cache.set('a', '1', 'first')
  cache.set('a', '2', 'second')
  t.equal(cache.get('1'), 'first')
  cache.set('a', '3', 'third')
  t.strictSame(
    ['1', '2', '3'].map((key) => cache.get(key)),
    ['first', undefined, 'third'],
  )
})

void t.test('the size of entries counts, and an entry that replaces another counts once', async (t) => {
  const cache = new FairCache<string>({ max: 10 })
  cache.set('small', 's', 's', { size: 4 })
  for (let round = 0; round < 3; round += 1) cache.set('large', 'l', 'l', { size: 6 })
  t.strictSame([cache.get('s'), cache.get('l')], ['s', 'l'])
  cache.set('large', 'l', 'too large', { size: 11 })
  t.strictSame([cache.get('s'), cache.get('l')], ['s', undefined])
  cache.set('large', 'l1', 'l1', { size: 3 })
  cache.set('large', 'l2', 'l2', { size: 5 })
  t.strictSame(
    ['s', 'l1', 'l2'].map((key) => cache.get(key)),
    ['s', undefined, 'l2'],
  )
})

void t.test('an entry may be replaced by one of another tenant, and removed', async (t) => {
  const cache = new FairCache<string>({ max: 2 })
  cache.set('a', 'k', 'of a')
  cache.set('b', 'k', 'of b')
  cache.set('a', '1', '1')
  cache.set('a', '2', '2')
  t.strictSame([cache.get('k'), cache.get('1'), cache.get('2')], ['of b', undefined, '2'])
  cache.delete('k')
  cache.delete('unknown')
  t.equal(cache.get('k'), undefined)
})

void t.test('an entry expires after its own time, else after that of the cache', async (t) => {
  let nowMs = 0
  const cache = new FairCache<string>({ max: 2, ttlMs: 100, clock: { monotonicMs: () => nowMs } })
  cache.set('a', 'usual', '')
  cache.set('a', 'short', '', { ttlMs: 10 })
  nowMs = 10
  t.strictSame([cache.get('usual'), cache.get('short')], ['', undefined])
  nowMs = 100
  t.equal(cache.get('usual'), undefined)
})

void t.test('another cache can take over all entries', async (t) => {
  const cache = new FairCache<string>({ max: 10 })
  cache.set('a', '1', 'one')
  cache.set('b', '2', 'two', { size: 5 })
  cache.set('a', '3', 'three')
  cache.get('1')
  t.strictSame(
    [...cache.entries()].map(({ owner, key, value, size }) => [owner, key, value, size]),
    [
      ['a', '3', 'three', 1],
      ['a', '1', 'one', 1],
      ['b', '2', 'two', 5],
    ],
  )
})

void t.test('the size of a promise counts once it is known', async (t) => {
  const cache = new FairCache<Promise<string>>({ max: 10 * 1024 })
  const { promise, resolve } = Promise.withResolvers<string>()
  keepPromise(cache, { owner: 'quiet', key: 'q' }, Promise.resolve('q'), ({ length }) => length)
  keepPromise(cache, { owner: 'loud', key: 'l1' }, promise, ({ length }) => length)
  t.equal(cache.get('l1'), promise)
  resolve('l'.repeat(10 * 1024))
  await promise
  t.equal(cache.get('l1'), undefined, 'too large to be kept')
  t.equal(await cache.get('q'), 'q')
})
