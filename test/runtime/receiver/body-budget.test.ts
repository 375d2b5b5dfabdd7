/**
 * Large bodies wait for each other.
 */
import t from 'tap'
import { createBodyBudget } from '../../../runtime/receiver/body-budget.ts'

const mebibyte = 1024 * 1024

void t.test('no more is held than there is room for, everyone gets a turn, the small do not wait', async (t) => {
  const { hold } = createBodyBudget(4 * mebibyte)
  let [held, most, done] = [0, 0, 0]
  const work = (bytes: number) => async () => {
    held += bytes
    most = Math.max(most, held)
    await new Promise(setImmediate)
    held -= bytes
    done += 1
    return done
  }
  const sizes = Array.from({ length: 50 }, (_, index) => (1 + (index % 3)) * mebibyte)
  const results = await Promise.all(sizes.map((bytes) => hold(bytes, work(bytes))))
  t.equal(done, 50)
  t.notOk(results.includes(undefined))
  t.ok(most <= 4 * mebibyte, `${most} bytes at once`)
  t.equal(await hold(9 * mebibyte, work(0)), 51, 'more than there is takes all')
  const full = Promise.withResolvers<void>()
  const first = hold(4 * mebibyte, () => full.promise)
  t.equal(await hold(1_000, async () => 'small'), 'small')
  full.resolve()
  await first
})

void t.test('a failure gives its room back; who waits too long is told so and takes none', async (t) => {
  const { hold } = createBodyBudget(mebibyte, 20)
  await t.rejects(
    hold(mebibyte, async () => {
      throw new Error('went away')
    }),
    /went away/,
  )
  const full = Promise.withResolvers<void>()
  const first = hold(mebibyte, () => full.promise)
  // Nothing else keeps the process up: the deadline does not.
  const up = setInterval(() => undefined, 1_000)
  t.equal(await hold(mebibyte, async () => 'never'), undefined)
  clearInterval(up)
  full.resolve()
  await first
  t.equal(await hold(mebibyte, async () => 'again'), 'again')
})

void t.test('after half of what may be held is given back, what it left behind is collected', async (t) => {
  let collected = 0
  const { hold } = createBodyBudget(4 * mebibyte, 1_000, () => (collected += 1))
  for (let index = 0; index < 6; index += 1) await hold(mebibyte, async () => undefined)
  t.equal(collected, 3)
  for (let index = 0; index < 100; index += 1) await hold(10_000, async () => undefined)
  t.equal(collected, 3, 'small bodies are left to the collector')
})
