/**
 * Turns of git hosts: a slow one delays nobody else, and lines are bounded.
 */
import t from 'tap'
import { asFault } from '../../../runtime/fault.ts'
import { createHostTurns } from '../../../runtime/reconcile/host-turns.ts'

const reading = (host: string, most = 64) => ({ kind: 'words', most, repo: `https://${host}.example/plant.git` })

void t.test('while a host is slow others are read, one at a time each, and no more than some at once', async (t) => {
  const inTurn = createHostTurns({ atOnce: 3, waitMs: 60_000 })
  const slow = Promise.withResolvers<undefined>()
  const stuck = [1, 2, 3].map(async (number) => {
    await inTurn(reading('slow'), async () => await slow.promise)
    return number
  })
  const under = new Map<string, number>()
  let most = 0
  const looks = Array.from({ length: 40 }, async (_, index) => {
    const host = `host-${index % 5}`
    return await inTurn(reading(host), async () => {
      under.set(host, (under.get(host) ?? 0) + 1)
      t.equal(under.get(host), 1)
      most = Math.max(
        most,
        [...under.values()].reduce((sum, count) => sum + count, 0),
      )
      await Promise.resolve()
      under.set(host, 0)
      return index
    })
  })
  t.same(
    await Promise.all(looks),
    Array.from({ length: 40 }, (_, index) => index),
  )
  t.equal(most, 2, 'beside the slow one')
  slow.resolve(undefined)
  t.same(await Promise.all(stuck), [1, 2, 3])
})

void t.test('who comes when enough wait is told to come again, and so is who waits too long; a fault ends a turn', async (t) => {
  // A deadline alone does not keep a process.
  const awake = setInterval(() => undefined, 1_000)
  t.teardown(() => clearInterval(awake))
  const inTurn = createHostTurns({ atOnce: 2, waitMs: 20 })
  const slow = Promise.withResolvers<undefined>()
  const first = inTurn(reading('slow', 2), async () => await slow.promise)
  const reasonOf = async (look: Promise<string>): Promise<string> => await look.catch((error: unknown) => asFault(error).reason)
  const second = reasonOf(inTurn(reading('slow', 2), async () => 'late'))
  t.equal(await reasonOf(inTurn(reading('slow', 2), async () => 'third')), 'TooManyRequests')
  t.equal(await inTurn({ ...reading('other'), kind: 'changes' }, async () => 'other'), 'other')
  t.equal(await second, 'TooManyRequests')
  slow.resolve(undefined)
  await first
  await t.rejects(
    inTurn(reading('slow', 2), async () => await Promise.reject(new Error('broken'))),
    { message: 'broken' },
  )
  t.equal(await inTurn(reading('slow', 2), async () => 'next'), 'next')
})
