/**
 * Tests which gateways a page shows: the search results, split into pages that contain each match once.
 */
import fc from 'fast-check'
import t from 'tap'
import { fleetView } from '../../../../runtime/fleet/fleet-view.ts'
import { gatewaysPerPage, parseSelection, queryOf, select, type Selection } from '../../../../runtime/statuspage/views/selection.ts'
import { acceptedTexts } from '../../../../runtime/statuspage/locales/texts.ts'
import { condition, fleetFacts, now, pod, report, syncFacts } from '../../../support/fleet-facts.ts'

const everything: Selection = { query: '', trouble: false, page: 1 }

function fleetOf(sizes: readonly number[]) {
  const syncs = sizes.map((_, index) => syncFacts(`line-${index}`))
  const pods = sizes.flatMap((size, index) => Array.from({ length: size }, (_, n) => pod(`gw-${index}-${n}`, `line-${index}`)))
  const reports = sizes.flatMap((size, index) => Array.from({ length: size }, (_, n) => report(`gw-${index}-${n}`, `line-${index}`)))
  return fleetView(fleetFacts({ syncs, pods, reports }), now)
}

void t.test('all pages together show each gateway once, in order, within the page limit', async (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat(450), { minLength: 1, maxLength: 5 }), (sizes) => {
      const view = fleetOf(sizes)
      const { pages } = select(view, everything)
      const seen = Array.from({ length: pages }, (_, index) => select(view, { ...everything, page: index + 1 }))
      for (const { shown } of seen) t.ok(shown.reduce((sum, { gateways }) => sum + Math.max(1, gateways.length), 0) <= gatewaysPerPage)
      const all = seen.flatMap(({ shown }) => shown.flatMap(({ gateways }) => gateways.map((gateway) => gateway.pod)))
      t.strictSame(
        all,
        view.syncs.flatMap(({ gateways }) => gateways.map((gateway) => gateway.pod)),
      )
      const syncs = new Set(seen.flatMap(({ shown }) => shown.map(({ sync }) => sync.name)))
      t.equal(syncs.size, sizes.length, 'a GatewaySync without gateways is shown too')
    }),
    { numRuns: 20 },
  )
})

void t.test('every search term must match the gateway or its GatewaySync', async (t) => {
  const view = fleetOf([2, 1])
  const found = (query: string): string[] =>
    select(view, { ...everything, query }).shown.flatMap(({ gateways }) => gateways.map((gateway) => gateway.pod))
  t.strictSame(found('line-0 gw-0-1'), ['gw-0-1'])
  t.strictSame(found('LINE-1'), ['gw-1-0'])
  t.strictSame(found('prod'), ['gw-0-0', 'gw-0-1', 'gw-1-0'], 'the mode')
  t.strictSame(found('line-0 gw-1-0'), [])
})

void t.test('a gateway is found by its displayed state in each language', async (t) => {
  const phases = ['Synced', 'Syncing', 'Failed', 'Blocked', 'Drifted', 'DryRun', 'Paused'] as const
  const view = fleetView(
    fleetFacts({
      syncs: [syncFacts('line-1', { conditions: [condition('Ready', 'False', 'GatewaysFailed', 'no')] })],
      pods: phases.map((phase) => pod(phase.toLowerCase(), 'line-1')),
      reports: phases.map((phase) => report(phase.toLowerCase(), 'line-1', { phase })),
    }),
    now,
  )
  for (const { language, states } of [acceptedTexts('en'), acceptedTexts('de')]) {
    for (const { pod: name, state } of view.syncs[0]?.gateways ?? []) {
      const found = select(view, { ...everything, query: states[state] }).shown.flatMap(({ gateways }) => gateways.map((one) => one.pod))
      t.ok(found.includes(name), `${language}: ${states[state]}`)
      t.ok(found.length < phases.length, `${language}: ${states[state]} tells them apart`)
    }
  }
})

void t.test('a page past the end is the last one, and invalid page parameters select the first', async (t) => {
  t.equal(select(fleetOf([450]), { ...everything, page: 99 }).page, 3)
  for (const page of ['-1', '0', 'x', '1e9999', '']) t.equal(parseSelection((name) => (name === 'page' ? page : undefined)).page, 1, page)
  t.strictSame(
    parseSelection(() => undefined),
    everything,
  )
})

void t.test('the trouble filter shows only GatewaySyncs that are not ready', async (t) => {
  const failed = syncFacts('bad', { conditions: [condition('Ready', 'False', 'GatewaysFailed', 'no')] })
  const view = fleetView(fleetFacts({ syncs: [syncFacts('good'), failed] }), now)
  t.strictSame(
    select(view, { ...everything, trouble: true }).shown.map(({ sync }) => sync.name),
    ['bad'],
  )
})

void t.test('a page link keeps the selection', async (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), fc.boolean(), fc.integer({ min: 1, max: 1000 }), (query, trouble, page) => {
      const selection = { query: query.trim(), trouble, page }
      const parts = new URLSearchParams(queryOf(selection, page))
      t.strictSame(
        parseSelection((name) => parts.get(name) ?? undefined),
        selection,
      )
    }),
  )
})
