/**
 * The shared memory budget for large request bodies.
 */
import t from 'tap'
import { createBodyBudget, patienceMs, slowAfterMs } from '../../../runtime/http/body-budget.ts'

const mebibyte = 1024 * 1024
/** Longer than any machine needs. */
const longMs = 600_000
let peers = 0
/** A body from a peer of its own. */
const of = (bytes: number) => ({ bytes, peer: `peer ${(peers += 1)}` })

void t.test('held bodies never exceed the budget, all are served, and small ones do not wait', async (t) => {
  const { hold } = createBodyBudget(4 * mebibyte, longMs)
  let [reservation, most, done] = [0, 0, 0]
  const work = (bytes: number) => async () => {
    reservation += bytes
    most = Math.max(most, reservation)
    await new Promise(setImmediate)
    reservation -= bytes
    done += 1
    return done
  }
  const sizes = Array.from({ length: 50 }, (_, index) => (1 + (index % 3)) * mebibyte)
  const results = await Promise.all(sizes.map((bytes) => hold(of(bytes), work(bytes))))
  t.equal(done, 50)
  t.notOk(results.includes(undefined))
  t.ok(most <= 4 * mebibyte, `${most} bytes at once`)
  t.equal(await hold(of(9 * mebibyte), work(0)), 51, 'more than there is takes all')
  const full = Promise.withResolvers<void>()
  const first = hold(of(4 * mebibyte), () => full.promise)
  t.equal(await hold(of(1_000), async () => 'small'), 'small')
  full.resolve()
  await first
})

void t.test('a failure releases its share; a wait that times out returns undefined and holds nothing', async (t) => {
  const { hold } = createBodyBudget(mebibyte, 20)
  await t.rejects(
    hold(of(mebibyte), async () => {
      throw new Error('went away')
    }),
    /went away/,
  )
  const full = Promise.withResolvers<void>()
  const first = hold(of(mebibyte), () => full.promise)
  // The deadline does not keep the process alive, so the timer does.
  const up = setInterval(() => undefined, 1_000)
  t.equal(await hold(of(mebibyte), async () => 'never'), undefined)
  clearInterval(up)
  full.resolve()
  await first
  t.equal(await hold(of(mebibyte), async () => 'again'), 'again')
})

void t.test('garbage is collected after half of the budget has been released', async (t) => {
  let collected = 0
  const { hold } = createBodyBudget(4 * mebibyte, 1_000, () => (collected += 1))
  for (let index = 0; index < 6; index += 1) await hold(of(mebibyte), async () => undefined)
  t.equal(collected, 3)
  for (let index = 0; index < 100; index += 1) await hold(of(10_000), async () => undefined)
  t.equal(collected, 3, 'small bodies are left to the collector')
})

void t.test('one peer holds no more than its share, and other peers overtake it', async (t) => {
  const { hold } = createBodyBudget(4 * mebibyte, longMs)
  const full = Promise.withResolvers<void>()
  let begun = 0
  const slow = async (): Promise<string> => {
    begun += 1
    await full.promise
    return 'slow'
  }
  const all = Array.from({ length: 6 }, () => hold({ bytes: mebibyte, peer: 'slow' }, slow))
  await new Promise(setImmediate)
  t.equal(begun, 3)
  t.equal(await hold({ bytes: mebibyte, peer: 'other' }, async () => 'other'), 'other')
  full.resolve()
  t.strictSame(new Set(await Promise.all(all)), new Set(['slow']))
  t.equal(begun, 6)
})

void t.test('clients with slow bodies, however many, leave a part to others', async (t) => {
  t.ok(slowAfterMs < patienceMs)
  const { hold } = createBodyBudget(4 * mebibyte, longMs)
  const known = { bytes: mebibyte, peer: 'known' }
  t.equal(await hold(known, async () => 'quick'), 'quick')
  const end = new AbortController()
  const slow = async (signal: AbortSignal = end.signal): Promise<void> => {
    const over = AbortSignal.any([signal, end.signal])
    if (!over.aborted) await new Promise((resolve) => over.addEventListener('abort', resolve))
  }
  const all = Array.from({ length: 8 }, () => hold(of(mebibyte), slow))
  // The deadline does not keep the process alive, so the timer does.
  const up = setInterval(() => undefined, 1_000)
  t.equal(await hold(known, async () => 'quick'), 'quick')
  end.abort()
  await Promise.all(all)
  clearInterval(up)
})
