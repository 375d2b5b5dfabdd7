/**
 * The pages of one commit and of one gateway: what they show, to whom, and what they do without.
 */
import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { rules } from '../../../runtime/collections/rules/rules.ts'
import { Fault } from '../../../runtime/fault.ts'
import type { Commits } from '../../../runtime/statuspage/commits.ts'
import type { People } from '../../../runtime/statuspage/people.ts'
import { commit as fleetCommit, condition, fleetFacts, now, pod, report, syncFacts } from '../../support/fleet-facts.ts'
import { plantCommits, plantFacts, richCommit, richGateway, richSync, wholeOf } from '../../support/plant-facts.ts'
import { openStatusPage } from '../../support/status-page.ts'

const hosts = ['127.0.0.1']

void t.test('the page of a GatewaySync tells who made its commits, and links to what each of them changed', async (t) => {
  const { get } = await openStatusPage(t, plantFacts, { hosts, commits: plantCommits })
  const { text } = await get(richSync)
  for (const word of [
    'Raise the press timeout',
    'Line engineering',
    'release pipeline',
    'maintenance-pc-3',
    'palletizer/project.json',
    `href="${richCommit}"`,
  ])
    t.match(text, word)
  t.match(text, 'The next commit that changes one of these files overwrites it.')
  t.match((await get(richSync, { 'accept-language': 'de' })).text, 'Der nächste Commit')
})

const allowed: People = {
  identify: async () => ({ name: 'ann', groups: [] }),
  sees: async (_person, namespaces) => new Set(namespaces),
  doing: { may: async () => true, act: async () => undefined, formKeys: async () => [] },
}

void t.test('what to do names the button that does it, whoever else may, or whom to ask; nobody is sent to a terminal', async (t) => {
  const { spec } = syncFacts('line-1') as { spec: object }
  const facts = fleetFacts({
    syncs: [
      syncFacts('line-1', { conditions: [condition('Ready', 'False', 'Paused', 'it is paused')] }, { spec: { ...spec, paused: true } }),
    ],
    pods: ['gw-0', 'gw-1', 'gw-2', 'gw-3'].map((name) => pod(name, 'line-1', name === 'gw-2' ? { injected: false } : {})),
    reports: [
      report('gw-0', 'line-1', { phase: 'Blocked', reason: 'MassDeletion', message: '30 of 40 files' }),
      report('gw-1', 'line-1', { phase: 'Drifted', drift: { count: 1, paths: ['projects/a'] } }),
      report('gw-3', 'line-1', { phase: 'Failed', reason: 'ScanFailed', message: 'it answered 500' }),
    ],
  })
  const at = '/gatewaysyncs/plant-a/line-1'
  const { get } = await openStatusPage(t, facts, { hosts })
  const { text } = await get(at)
  for (const words of ['Whoever may change this GatewaySync can do that', 'ask whoever runs the cluster', 'under ScanFailed'])
    t.match(text.toLowerCase(), words.toLowerCase())
  const seen = [text, (await get('/')).text, (await get(`${at}/gateways/gw-0`)).text, (await get(at, { 'accept-language': 'de' })).text]
  for (const page of seen) t.notMatch(page, /kubectl|cluster-sync (resume|check)|docs\/runbook/)
  t.match(seen[3], 'Auf die Gateways wird nichts geschrieben, bis jemand fortsetzt. Das kann tun, wer diesen GatewaySync ändern darf.')
  const tiles = seen[1]?.split('<li class="tile').slice(1) ?? []
  const said = ['have them confirmed', 'Its page says which files', 'delete the pod gw-2', 'tried again']
  t.same(
    tiles.map((tile, index) => tile.includes(said[index] ?? '-')),
    [true, true, true, true],
    'each tile says it in one sentence',
  )
  t.match(seen[2], 'have them confirmed', 'and so does the page of a gateway')
  const { get: asAnn } = await openStatusPage(t, facts, { hosts, people: allowed })
  const own = (await asAnn(at)).text
  t.match(own, 'The button “Resume” does it.')
  t.match(own, 'The button “Confirm the deletions of 1a2b3c4d” does it.')
})

void t.test('a tile says for how long its commit runs there, and each age when that was', async (t) => {
  const history = [{ commit: fleetCommit, phase: 'Synced' as const, finishedAt: '2026-03-01T09:00:00Z' }]
  const reports = [report('gw-0', 'line-1', { finishedAt: '2026-03-01T11:59:54Z', history })]
  const facts = fleetFacts({ syncs: [syncFacts('line-1')], pods: [pod('gw-0', 'line-1')], reports })
  const { get } = await openStatusPage(t, facts, { hosts, clock: { ...systemClock, now: () => now } })
  const ran = '<time datetime="2026-03-01T09:00:00Z" title="2026-03-01 09:00:00 UTC">running for 3h</time>'
  const { text } = await get('/')
  t.ok(text.includes(ran))
  t.notMatch(text, '6s ago', 'not for how long nothing has changed')
  const { text: own } = await get('/gatewaysyncs/plant-a/line-1/gateways/gw-0')
  t.ok(own.includes(ran))
  t.ok(own.includes('<time datetime="2026-03-01T11:59:54Z" title="2026-03-01 11:59:54 UTC">6s ago</time>'), 'the last sync')
  t.match((await get('/', { 'accept-language': 'de' })).text, 'läuft seit 3 h')
})

void t.test('a refusal is told in full once, with its reason everywhere, and no more than ten changes are shown', async (t) => {
  const message = `commit ${'d4e1b7f2'.repeat(5)} is not published: services/config/resources/core/mes is no JSON`
  const at = (minute: number): string => `2026-03-01T11:${minute}:00Z`
  const refusal = { ref: 'main', at: at(50), outcome: 'Refused' as const, reason: 'CollectionsInvalid', message }
  const facts = fleetFacts({
    syncs: [
      syncFacts('line-1', {
        conditions: [condition('Ready', 'False', 'CollectionsInvalid', `${message}, and 3 more`)],
        history: [
          { ...refusal, commit: 'd4e1b7f2'.repeat(5) },
          { commit: fleetCommit, ref: 'main', at: at(10), outcome: 'Published' },
        ],
        requests: [
          { ...refusal, id: '1' },
          ...Array.from({ length: 12 }, (_, index) => ({
            id: `s${index}`,
            ref: `v${index}`,
            outcome: 'Superseded' as const,
            at: at(20 + index),
          })),
        ],
      }),
    ],
  })
  const { get } = await openStatusPage(t, facts, { hosts })
  const { text } = await get('/gatewaysyncs/plant-a/line-1')
  t.equal(text.split('core/mes is no JSON').length - 1, 1)
  t.ok(text.split('CollectionsInvalid').length - 1 >= 3)
  const [changes = ''] = text.split('Last changes')[1]?.split('</ol>') ?? []
  t.equal(changes.split('<li>').length - 1, 10)
})

void t.test('a finding tells what to do about it, as lint does: once for each rule', async (t) => {
  const found = { rule: 'plain-credential', severity: 'error' as const, message: 'a password stands here as it is' }
  const items = [
    { ...found, path: 'services/config/resources/core/a/config.json' },
    { ...found, path: 'services/config/resources/core/b/config.json' },
    { ...found, rule: 'of-another-release', path: 'services/c' },
  ]
  const facts = fleetFacts({
    syncs: [syncFacts('line-1', { findings: { errors: 3, warnings: 0, items } })],
    pods: [pod('gw-0', 'line-1')],
    reports: [report('gw-0', 'line-1')],
  })
  const { get } = await openStatusPage(t, facts, { hosts, report: async () => ({ phase: 'Synced', findings: items }) })
  const { fix } = rules['plain-credential']
  for (const path of ['/gatewaysyncs/plant-a/line-1', '/gatewaysyncs/plant-a/line-1/gateways/gw-0']) {
    const { text } = await get(path)
    t.equal(text.split(fix.slice(0, 24)).length - 1, 1, path)
    for (const { path: file } of items) t.match(text, file)
  }
})

void t.test('when the git host is asked next is said while that lies ahead', async (t) => {
  const next = async (time: string, language = 'en'): Promise<string> => {
    const clock = { ...systemClock, now: () => Temporal.Instant.from(time) }
    const { get } = await openStatusPage(t, plantFacts, { hosts, clock })
    return (await get(richSync, { 'accept-language': language })).text.replaceAll(/<[^>]*>/g, '')
  }
  t.match(await next('2026-03-01T12:00:00Z'), 'checked every 60s and at each push, next in about 48s')
  t.match(await next('2026-03-01T12:00:00Z', 'de'), 'nächste in etwa 48 s')
  const quiet = await next('2026-03-01T12:16:00Z')
  t.match(quiet, 'checked every 60s and at each push')
  t.notMatch(quiet, /next in about|\d+m ago, checked/)
})

void t.test('a commit of the history is shown file by file', async (t) => {
  const { get } = await openStatusPage(t, plantFacts, { hosts, commits: plantCommits })
  const { status, text } = await get(richCommit)
  t.equal(status, 200)
  for (const word of ['timeouts/code.py', '+PRESS_TIMEOUT = 12', '-PRESS_TIMEOUT = 8', 'press.png']) t.match(text, word)
  t.match(text, /PRESS_TIMEOUT = 8<\/span>\n<span/, 'one line below the other')
})

void t.test(
  'the way back names commits by what people know of them, in the list, in the question and on the page of the commit',
  async (t) => {
    const before = 'b4e1b7f2'.repeat(5)
    const keys = [new Uint8Array(32)]
    const people: People = { ...allowed, doing: { may: async () => true, act: async () => undefined, formKeys: async () => keys } }
    const clock = { ...systemClock, now: () => now }
    const { get } = await openStatusPage(t, plantFacts, { hosts, people, commits: plantCommits, clock })
    const link = `href="${richSync}/actions/rollback?of=${before}"`
    const entry = (await get(richSync)).text.split('<li>').find((one) => one.includes(link)) ?? ''
    for (const word of ['Back to b4e1b7f2', 'Release 4.2', 'Line engineering', '2d ago']) t.match(entry, word)
    const { text: question } = await get(`${richSync}/actions/rollback?of=${before}`)
    for (const word of ['Release 4.2', '2d ago', 'a4e1b7f2', 'Raise the press timeout to 12 s']) t.match(question, word, 'the question')
    t.ok((await get(`${richSync}/commits/${before}`)).text.includes(link))
    t.notOk((await get(richCommit)).text.includes('/actions/'), 'which is published now')
    const { get: reader } = await openStatusPage(t, plantFacts, { hosts, commits: plantCommits })
    t.notOk((await reader(`${richSync}/commits/${before}`)).text.includes('/actions/'), 'who may not change it')
  },
)

void t.test('nobody reads a commit that is not in the history, and it is not looked for', async (t) => {
  const asked: string[] = []
  const commits: Commits = {
    async words(_sync, commit) {
      asked.push(commit)
      return undefined
    },
    async changes() {
      asked.push('changes')
      return { total: 0, files: [] }
    },
  }
  const { get } = await openStatusPage(t, plantFacts, { hosts, commits })
  for (const hash of ['ef'.repeat(20), 'main', '..%2f..', '-h', 'a4e1b7f2'])
    t.equal((await get(`${richSync}/commits/${hash}`)).status, 404, hash)
  t.equal((await get(`/gatewaysyncs/plant-north/utilities/commits/${richCommit.split('/').at(-1) ?? ''}`)).status, 404, 'of another one')
  t.same(asked, [])
})

void t.test('without a login, and not on this machine alone, files are named and their lines are not shown', async (t) => {
  const { get } = await openStatusPage(t, plantFacts, { isOpen: true, commits: plantCommits })
  const { text } = await get(richCommit)
  t.match(text, 'timeouts/code.py')
  t.match(text, 'shown only after a login')
  t.notMatch(text, 'PRESS_TIMEOUT')
})

void t.test('nor are the lines of a dry run', async (t) => {
  const dryRun = { added: 0, changed: 1, removed: 0, paths: ['projects/press/code.py'], diff: '+PRESS_TIMEOUT = 12' }
  const report = async () => ({ phase: 'DryRun' as const, dryRun })
  const open = await openStatusPage(t, plantFacts, { isOpen: true, report })
  const { text } = await open.get(richGateway)
  for (const word of ['projects/press/code.py', 'shown only after a login']) t.match(text, word)
  t.notMatch(text, 'PRESS_TIMEOUT')
  const own = await openStatusPage(t, plantFacts, { hosts, report })
  t.match((await own.get(richGateway)).text, 'PRESS_TIMEOUT', 'on this machine alone they are')
})

void t.test('what cannot be read is told in a sentence with its reason', async (t) => {
  const commits: Commits = {
    ...plantCommits,
    async changes() {
      throw new Fault('CommitGone', 'the git host has it no more')
    },
  }
  const { get } = await openStatusPage(t, plantFacts, { hosts, commits })
  const { status, text } = await get(richCommit)
  t.equal(status, 200)
  t.match(text, 'the git host has it no more (CommitGone)')
})

void t.test('the page of a gateway has all of its report, or what is kept of it', async (t) => {
  const { get } = await openStatusPage(t, plantFacts, { hosts, report: async ({ pod }) => wholeOf(plantFacts, pod) })
  const { text } = await get(richGateway)
  for (const word of ['ScanFailed', '1 new, 3 changed', 'project.json is no JSON', 'projects/press/tags.json', 'press, shared'])
    t.match(text, word)
  t.notMatch(text, 'cannot be read right now')
  const { get: without } = await openStatusPage(t, plantFacts, { hosts })
  const { text: kept } = await without(richGateway)
  t.match(kept, 'cannot be read right now')
  t.match(kept, 'project.json is no JSON')
  for (const pod of ['nobody', 'north-boiler', '%2e%2e']) t.equal((await get(`${richSync}/gateways/${pod}`)).status, 404, pod)
})

void t.test('what commits and reports say is shown as text', async (t) => {
  const evil = '"><script>alert(1)</script>'
  const commits: Commits = {
    words: async () => ({ subject: evil, author: evil }),
    changes: async () => ({
      total: 2,
      files: [
        { op: 'change', path: evil, diff: `-${evil}\n+${evil}` },
        { op: 'add', path: evil },
      ],
    }),
  }
  const { get } = await openStatusPage(t, plantFacts, {
    hosts,
    commits,
    report: async () => ({
      phase: 'Failed',
      ref: evil,
      scan: { problems: [evil] },
      designers: [evil],
      projects: [evil],
      findings: [{ rule: evil, path: evil, message: evil }],
      drift: { count: 1, paths: [evil] },
      dryRun: { added: 1, changed: 1, removed: 1, paths: [evil], diff: evil },
    }),
  })
  for (const path of [richSync, richCommit, richGateway]) {
    const { text } = await get(path)
    t.notMatch(text, '<script>alert', path)
    t.match(text, '&lt;script&gt;alert', path)
  }
})
