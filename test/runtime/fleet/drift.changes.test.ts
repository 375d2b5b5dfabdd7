/**
 * Local changes as the agents report them: which answers count, which gateways are asked again, and the text of the answers.
 */
import t from 'tap'
import { changesRequestId } from '../../../runtime/reconcile/decide/capture.ts'
import { changesAnnotations } from '../../../runtime/api/names.ts'
import { commit, fleetFacts, now, pod, report, syncFacts } from '../../support/fleet-facts.ts'
import { repeatedChangesPatch, changesRequestPatch, changesText, forgetChanges, answeredChanges } from '../../../runtime/fleet/drift.ts'

const style = { width: 120, color: false, symbols: false }
const ids = new Set(['now'])
const none = { request: 'now', commit, changed: 0, added: 0, removed: 0, ignored: 2, text: 'nothing' }
const some = { ...none, changed: 1, added: 1, text: 'projects\n  ~ a.txt\n      -one\u001b[2J\n1 changed' }
const facts = fleetFacts({
  syncs: [syncFacts('plant')],
  pods: [...['gw-0', 'gw-1', 'gw-2', 'gw-3'].map((name) => pod(name, 'plant')), pod('gw-4', 'plant', { injected: false })],
  reports: [
    report('gw-0', 'plant', { gateway: 'press', changes: some }),
    report('gw-1', 'plant', { changes: none }),
    report('gw-2', 'plant', { changes: { ...some, request: 'before' } }),
    report('gw-3', 'other', { changes: some }),
  ],
})

void t.test('an answer counts for its own request and GatewaySync only, and a pod without an agent has none', async (t) => {
  t.strictSame(
    answeredChanges(facts, { ids, gateway: undefined }, now).map(({ pod, hasAgent, changes }) => [pod, hasAgent, changes?.changed]),
    [
      ['gw-0', true, 1],
      ['gw-1', true, 0],
      ['gw-2', true, undefined],
      ['gw-3', true, undefined],
      ['gw-4', false, undefined],
    ],
  )
  const of = (gateway: string): string[] => answeredChanges(facts, { ids, gateway }, now).map(({ pod }) => pod)
  t.strictSame([of('press'), of('gw-1'), of('gw-9')], [['gw-0'], ['gw-1'], []])
})

void t.test('an answer already read still counts after it is gone, and silent gateways are asked again', async (t) => {
  const silent = fleetFacts({ ...facts, reports: facts.reports.filter(({ pod }) => pod !== 'gw-0') })
  const before = answeredChanges(facts, { ids, gateway: undefined }, now)
  const rows = answeredChanges(silent, { ids: new Set(['next']), gateway: undefined, before }, now)
  t.strictSame(
    rows.map(({ pod, changes }) => [pod, changes?.changed]),
    [
      ['gw-0', 1],
      ['gw-1', 0],
      ['gw-2', undefined],
      ['gw-3', undefined],
      ['gw-4', undefined],
    ],
  )
  const again = (annotations: Record<string, string>, gateway?: string) =>
    repeatedChangesPatch(rows, annotations, { id: 'again', gateway })?.metadata?.annotations
  const { at, gateway } = changesAnnotations
  t.strictSame(again({}, 'gw-2'), { [at]: 'again', [gateway]: 'gw-2' }, 'nobody is asked any more')
  t.equal(again({ [at]: 'of somebody else' }), undefined, 'all are asked')
  t.strictSame(again({ [at]: 'of somebody else', [gateway]: 'gw-2' }), { [at]: 'again', [gateway]: null }, 'gw-3 is not')
  t.equal(repeatedChangesPatch(before.slice(0, 2), {}, { id: 'again', gateway: undefined }), undefined, 'all have answered')
})

void t.test('changed gateways are listed in full, silent ones by name, and control characters are replaced', async (t) => {
  t.strictSame(changesText(answeredChanges(facts, { ids, gateway: undefined }, now), style), [
    'plant-a/gw-0 (press)',
    '  projects',
    '    ~ a.txt',
    '        -one\uFFFD[2J',
    '  1 changed',
    'plant-a/gw-2: unknown, its agent has not reported',
    'plant-a/gw-3: unknown, its agent has not reported',
    'plant-a/gw-4: unknown, its agent has not reported',
    '1 of 5 gateways with local changes, 1 without, 3 unknown',
  ])
})

void t.test('a requester withdraws only its own request', async (t) => {
  const annotations = changesRequestPatch({ id: 'now', gateway: 'press' }).metadata?.annotations ?? {}
  const asked = Object.fromEntries(Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== null))
  t.equal(changesRequestId(asked, { pod: 'gw-0', gateway: 'press' }), 'now')
  t.equal(changesRequestId(asked, { pod: 'gw-1', gateway: 'gw-1' }), undefined)
  const taken = forgetChanges(asked, new Set(['before', 'now']))?.metadata?.annotations
  t.strictSame(Object.keys(taken ?? {}).toSorted(), Object.keys(annotations).toSorted())
  t.equal(forgetChanges(asked, new Set(['before'])), undefined)
  t.equal(forgetChanges({}, new Set(['now'])), undefined)
  const long = 'x'.repeat(80)
  t.ok(forgetChanges({ [changesAnnotations.at]: ` ${long}` }, new Set([long.slice(0, 64)])), 'an id is what agents take for it')
})
