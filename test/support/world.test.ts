/** What tests on the real API server are given. */
import { decodeJwt } from 'jose'
import t from 'tap'
import { openWorld } from './world.ts'

void t.test('a token holds as long as the calls of its world, and for an hour at least', { timeout: 120_000 }, async (t) => {
  for (const [lifetimeMs, seconds] of [
    [undefined, 3_600],
    [7_200_000, 7_200],
  ] as const) {
    const world = await openWorld(t, lifetimeMs === undefined ? {} : { lifetimeMs })
    const namespace = await world.namespace('tokens')
    const { exp = 0, iat = 0 } = decodeJwt(await world.token(namespace, 'default'))
    t.equal(exp - iat, seconds)
  }
})
