/**
 * A user who requests many different pages of a large fleet delays neither the pages of others nor the rest of the process.
 */
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { statusPageApp } from '../../runtime/statuspage/app.ts'
import type { PageAuth } from '../../runtime/statuspage/views/page-auth.ts'
import { fleetFacts, syncFacts } from '../support/fleet-facts.ts'

const auth: PageAuth = {
  identify: async (header) => ({ name: header('x-user')[0] ?? '', groups: [] }),
  sees: async (_person, namespaces) => new Set(namespaces),
}

void t.test('of 60 searches of one user, few are rendered, and the page of another user is among the first', async (t) => {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const facts = fleetFacts({ syncs: [syncFacts('line')], pods: [], reports: [] })
  const app = statusPageApp({
    facts: () => facts,
    subscribe: () => () => undefined,
    hosts: undefined,
    auth,
    isOpen: false,
    clock: systemClock,
    signal: stop.signal,
  })
  const answered: string[] = []
  const get = async (user: string, path: string): Promise<void> => {
    const request = new Request(`http://page${path}`, { headers: { 'accept-encoding': 'gzip' } })
    const { status } = await app.fetch(request, { incoming: { headersDistinct: { 'x-user': [user] } } })
    answered.push(`${user} ${status}`)
  }
  let turns = 0
  let isOver = false
  const counting = (async () => {
    while (!isOver) {
      await turn()
      turns += 1
    }
  })()
  const searches = Array.from({ length: 60 }, (_, number) => get('mallory', `/?q=${number}`))
  await Promise.all([...searches, get('ann', '/')])
  isOver = true
  await counting
  const rendered = answered.filter((one) => one === 'mallory 200').length
  const refused = answered.filter((one) => one === 'mallory 503').length
  t.strictSame({ rendered, refused }, { rendered: 18, refused: 42 })
  const before = answered.slice(0, answered.indexOf('ann 200')).filter((one) => one === 'mallory 200')
  t.ok(before.length <= 4, `${before.length} searches were rendered before the page of another user`)
  t.ok(turns >= rendered / 2, 'everything else has a turn between the pages')
})
