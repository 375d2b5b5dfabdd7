/**
 * Each verdict of the soak fails for its own cause and for no other.
 */
import t from 'tap'
import { differencesOfFiles, violationsOf, type Observed } from './violations.ts'
import { parseWatchFigures } from './figures.ts'

const good: Observed = {
  broken: [],
  faults: { 'leader killed': 2, 'connections cut': 1 },
  followedMs: { killed: [1_000, 24_000, 1_400], frozen: [6_000, 11_000, 24_000] },
  interrupted: { Conflict: 3, ApiUnavailable: 9 },
  watched: { lists: 4, versions: 60 },
  missed: [],
  readings: [{ replica: 'controller-0', when: 'at the end', figures: { pods: { differences: 0, lists: 4, resumed: 8 } } }],
  taken: new Map([
    ['one', 'plant/a'],
    ['two', 'plant/b'],
  ]),
  outcomes: new Map([
    ['one', 'Handled'],
    ['two', 'Superseded'],
    ['of an earlier run', 'Refused'],
  ]),
  gateways: [{ name: 'a', wrong: [] }],
}

const bad: [string, Partial<Observed>, string][] = [
  ['a fault that could not be caused', { broken: ['leader killed: it would not'] }, 'leader killed: it would not'],
  ['a fault that never happened', { faults: { ...good.faults, frozen: 0 } }, '1 faults did not happen: frozen'],
  ['no 410', { interrupted: { ApiUnavailable: 9 } }, 'no watch was interrupted by Conflict'],
  ['no cut connection', { interrupted: { Conflict: 1, ApiUnavailable: 0 } }, 'no watch was interrupted by ApiUnavailable'],
  [
    'slow followers of the killed',
    { followedMs: { ...good.followedMs, killed: [1_000, 4_000, 5_000] } },
    'half of the leaders that were killed were followed after 4000 ms or later',
  ],
  [
    'slow followers of the frozen',
    { followedMs: { ...good.followedMs, frozen: [6_000, 12_000, 13_000] } },
    'half of the leaders that were frozen were followed after 12000 ms or later',
  ],
  ['watches that told nothing', { watched: { lists: 4, versions: 0 } }, 'the own watches told no version between their lists'],
  ['a version that no watch told', { missed: ['pods: a in 5'] }, '1 times a watch missed something: pods: a in 5'],
  ['figures of nobody', { readings: [] }, 'no replica told the figures of its watches'],
  [
    'a list that found what a watch had not told, in a replica that is gone',
    {
      readings: [
        { replica: 'controller-2', when: 'before it was killed', figures: { syncreports: { differences: 2, lists: 1, resumed: 0 } } },
        ...good.readings,
      ],
    },
    '1 times lists of replicas found changes that a watch missed: controller-2 before it was killed: 2 of syncreports',
  ],
  ['no push at all', { taken: new Map() }, 'no request was taken'],
  ['a request without an outcome', { outcomes: new Map([['one', 'Handled']]) }, '1 requests have no outcome: two of plant/b'],
  ['a refused request', { outcomes: new Map([...good.outcomes, ['two', 'Refused']]) }, '1 requests were refused: two of plant/b'],
  ['a gateway that holds something else', { gateways: [{ name: 'a', wrong: ['x'] }] }, '1 gateways are not exact: a: x'],
]

void t.test('there is no verdict when everything held', (t) => {
  t.strictSame(violationsOf(good), [])
  t.end()
})

for (const [name, part, verdict] of bad) {
  void t.test(`${name} is told`, (t) => {
    t.strictSame(violationsOf({ ...good, ...part }), [verdict])
    t.end()
  })
}

void t.test('missing, surplus and different files are reported, one each', (t) => {
  const desired = new Map([
    ['a', '1'],
    ['b', '2'],
  ])
  t.strictSame(differencesOfFiles(new Map(desired), desired), [])
  t.strictSame(differencesOfFiles(undefined, new Map([['a', '1']])), ['a is missing, should be 1'])
  t.strictSame(
    differencesOfFiles(
      new Map([
        ['a', '1'],
        ['b', '3'],
        ['c', '4'],
      ]),
      desired,
    ),
    ['b is 3, should be 2', 'c is 4, should be gone'],
  )
  t.end()
})

void t.test('the metrics of a replica are read by kind, and missing ones are not zero', (t) => {
  const text = [
    '# TYPE clustersync_relist_differences counter',
    'clustersync_watch_restarts_total{kind="pods",from="list"} 3',
    'clustersync_watch_restarts_total{kind="pods",from="place"} 4',
    'clustersync_relist_differences_total{kind="pods"} 2',
    'clustersync_relist_differences_total{kind="syncreports"} 0',
    'clustersync_leader 1',
  ].join('\n')
  t.strictSame(parseWatchFigures(text), {
    pods: { differences: 2, lists: 3, resumed: 4 },
    syncreports: { differences: 0, lists: 0, resumed: 0 },
  })
  t.throws(() => parseWatchFigures('clustersync_leader 1\n'), /is not among the metrics/)
  t.end()
})
