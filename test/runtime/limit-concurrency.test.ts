/**
 * What has to wait for its turn.
 */
import t from 'tap'
import { limitConcurrency } from '../../runtime/limit-concurrency.ts'

/** A piece of work that ends when it is told to. */
function piece(begun: string[], name: string) {
  const end = Promise.withResolvers<string>()
  return {
    end,
    work: async () => {
      begun.push(name)
      return await end.promise
    },
  }
}

const settled = async (): Promise<void> => await new Promise((resolve) => setImmediate(resolve))

void t.test('no more than so many are under way at once, and the others begin in the order in which they came', async (t) => {
  const inTurn = limitConcurrency(2)
  const begun: string[] = []
  const pieces = ['a', 'b', 'c', 'd'].map((name) => piece(begun, name))
  const [a, b, c, d] = pieces.map(({ work }) => inTurn(work))
  await settled()
  t.same(begun, ['a', 'b'])
  pieces[1]?.end.resolve('of b')
  t.equal(await b, 'of b')
  await settled()
  t.same(begun, ['a', 'b', 'c'])
  for (const { end } of pieces) end.resolve('')
  await Promise.all([a, c, d])
  t.same(begun, ['a', 'b', 'c', 'd'])
})

void t.test('what fails hands its place on', async (t) => {
  const inTurn = limitConcurrency(1)
  const failing = inTurn(async () => await Promise.reject(new Error('no')))
  const next = inTurn(async () => await Promise.resolve('yes'))
  await t.rejects(failing, { message: 'no' })
  t.equal(await next, 'yes')
  t.equal(await inTurn(async () => await Promise.resolve('again')), 'again')
})
