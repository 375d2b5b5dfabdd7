/** The shared setup of tests on the real API server. */
import { decodeJwt } from 'jose'
import t from 'tap'
import { openWorld } from '../support/world.ts'

void t.test('a token is valid as long as the calls of its world, and for at least an hour', { timeout: 600_000 }, async (t) => {
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
