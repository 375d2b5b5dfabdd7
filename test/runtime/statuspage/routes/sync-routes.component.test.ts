/**
 * Tests the pages of a GatewaySync, a commit and a gateway: their content, who may see it, and what they show if data is missing.
 */
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { rules } from '../../../../runtime/validation/rules/rules.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { Commits } from '../../../../runtime/statuspage/views/commits.ts'
import type { PageAuth } from '../../../../runtime/statuspage/views/page-auth.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { containsText, lacksText } from '../../../support/assertions.ts'
import { commit as fleetCommit, condition, fleetFacts, now, pod, report, syncFacts } from '../../../support/fleet-facts.ts'
import { plantCommits, plantFacts, richCommit, richGateway, richSync, wholeOf } from '../../../support/plant-facts.ts'
import { openStatusPage } from '../../../support/status-page.ts'

const hosts = ['127.0.0.1']

void t.test('the page of a GatewaySync names the commit authors and links to the changes of each commit', async (t) => {
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
    containsText(t, text, word)
  containsText(t, text, 'The next commit that changes one of these files overwrites the local change.')
  containsText(t, (await get(richSync, { 'accept-language': 'de' })).text, 'Der nächste Commit')
})

const allowed: PageAuth = {
  identify: async () => ({ name: 'ann', groups: [] }),
  sees: async (_person, namespaces) => new Set(namespaces),
  actions: { may: async () => true, act: async () => undefined, formKeys: async () => [] },
}

void t.test('each step names its button or who may perform it, and none requires a terminal', async (t) => {
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
  for (const words of ['Users who may change this GatewaySync can do this', 'ask the cluster administrator', 'See ScanFailed'])
    containsText(t, text.toLowerCase(), words.toLowerCase())
  const seen = [text, (await get('/')).text, (await get(`${at}/gateways/gw-0`)).text, (await get(at, { 'accept-language': 'de' })).text]
  for (const page of seen) t.notMatch(page, /kubectl|cluster-sync (resume|check)|docs\/runbook/)
  containsText(
    t,
    seen[3],
    'Auf die Gateways wird nichts geschrieben, bis die Synchronisierung fortgesetzt wird. Das können Benutzer, die diesen GatewaySync ändern dürfen.',
  )
  const tiles = seen[1]?.split('<li class="tile').slice(1) ?? []
  const said = ['confirm them for commit', 'page lists the changed files', 'delete the pod gw-2', 'retries']
  t.strictSame(
    tiles.map((tile, index) => tile.includes(said[index] ?? '-')),
    [true, true, true, true],
    'each tile says it in one sentence',
  )
  containsText(t, seen[2], 'confirm them for commit', 'and so does the page of a gateway')
  const { get: asAnn } = await openStatusPage(t, facts, { hosts, auth: allowed })
  const own = (await asAnn(at)).text
  containsText(t, own, 'Click “Resume”.')
  containsText(t, own, 'Click “Confirm the deletions in 1a2b3c4d”.')
})

void t.test('a tile shows how long its commit has been running, and each age has its time', async (t) => {
  const history = [{ commit: fleetCommit, phase: 'Synced' as const, finishedAt: '2026-03-01T09:00:00Z' }]
  const reports = [report('gw-0', 'line-1', { finishedAt: '2026-03-01T11:59:54Z', history })]
  const facts = fleetFacts({ syncs: [syncFacts('line-1')], pods: [pod('gw-0', 'line-1')], reports })
  const { get } = await openStatusPage(t, facts, { hosts, clock: { ...systemClock, now: () => now } })
  const ran = '<time datetime="2026-03-01T09:00:00Z" title="2026-03-01 09:00:00 UTC">running for 3h</time>'
  const { text } = await get('/')
  t.ok(text.includes(ran))
  lacksText(t, text, '6s ago', 'not for how long nothing has changed')
  const { text: own } = await get('/gatewaysyncs/plant-a/line-1/gateways/gw-0')
  t.ok(own.includes(ran))
  t.ok(own.includes('<time datetime="2026-03-01T11:59:54Z" title="2026-03-01 11:59:54 UTC">6s ago</time>'), 'the last sync')
  containsText(t, (await get('/', { 'accept-language': 'de' })).text, 'läuft seit 3 h')
})

void t.test('a refusal is shown in full once, its reason everywhere, and at most ten changes are listed', async (t) => {
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
  const [changes = ''] = text.split('Recent changes')[1]?.split('</ol>') ?? []
  t.equal(changes.split('<li>').length - 1, 10)
})

void t.test('a finding has its line, and the fix once per rule, as in lint', async (t) => {
  const found = { rule: 'plain-credential', severity: 'error' as const, message: 'a password stands here as it is' }
  const items = [
    { ...found, path: 'services/config/resources/core/a/config.json', line: 7 },
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
    for (const { path: file } of items) containsText(t, text, file)
    containsText(t, text, '<code>services/config/resources/core/a/config.json:7</code>')
  }
})

void t.test('the time of the next poll is shown only while it lies in the future', async (t) => {
  const next = async (time: string, language = 'en', receives?: false): Promise<string> => {
    const clock = { ...systemClock, now: () => Temporal.Instant.from(time) }
    const { get } = await openStatusPage(t, { ...plantFacts, ...(receives === undefined ? {} : { receives }) }, { hosts, clock })
    return (await get(richSync, { 'accept-language': language })).text.replaceAll(/<[^>]*>/g, '')
  }
  containsText(t, await next('2026-03-01T12:00:00Z'), 'checked every 60s and on each push, next in about 48s')
  containsText(t, await next('2026-03-01T12:00:00Z', 'de'), 'nächste in etwa 48 s')
  containsText(t, await next('2026-03-01T12:00:00Z', 'en', false), 'checked every 60s, next in about 48s')
  const quiet = await next('2026-03-01T12:16:00Z')
  containsText(t, quiet, 'checked every 60s and on each push')
  t.notMatch(quiet, /next in about|\d+m ago, checked/)
})

void t.test('a commit of the history is shown file by file', async (t) => {
  const { get } = await openStatusPage(t, plantFacts, { hosts, commits: plantCommits })
  const { status, text } = await get(richCommit)
  t.equal(status, 200)
  for (const word of ['timeouts/code.py', '+PRESS_TIMEOUT = 12', '-PRESS_TIMEOUT = 8', 'press.png']) containsText(t, text, word)
  t.match(text, /PRESS_TIMEOUT = 8<\/span>\n<span/, 'one line below the other')
})

void t.test('a rollback names the subject, author and age of commits in the list, confirmation and commit page', async (t) => {
  const before = 'b4e1b7f2'.repeat(5)
  const keys = [new Uint8Array(32)]
  const auth: PageAuth = { ...allowed, actions: { may: async () => true, act: async () => undefined, formKeys: async () => keys } }
  const clock = { ...systemClock, now: () => now }
  const { get } = await openStatusPage(t, plantFacts, { hosts, auth, commits: plantCommits, clock })
  const link = `href="${richSync}/actions/rollback?of=${before}"`
  const entry = (await get(richSync)).text.split('<li>').find((one) => one.includes(link)) ?? ''
  for (const word of ['Back to b4e1b7f2', 'Release 4.2', 'Line engineering', '2d ago']) containsText(t, entry, word)
  const { text: question } = await get(`${richSync}/actions/rollback?of=${before}`)
  for (const word of ['Release 4.2', '2d ago', 'a4e1b7f2', 'Raise the press timeout to 12 s'])
    containsText(t, question, word, 'the question')
  t.ok((await get(`${richSync}/commits/${before}`)).text.includes(link))
  t.notOk((await get(richCommit)).text.includes('/actions/'), 'which is published now')
  const { get: reader } = await openStatusPage(t, plantFacts, { hosts, commits: plantCommits })
  t.notOk((await reader(`${richSync}/commits/${before}`)).text.includes('/actions/'), 'who may not change it')
})

void t.test('a commit outside the history is not found, and git is not queried for it', async (t) => {
  const asked: string[] = []
  const commits: Commits = {
    async summary(_sync, commit) {
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
  t.strictSame(asked, [])
})

void t.test('without a login on a shared address, file names are shown but not their lines', async (t) => {
  const { get } = await openStatusPage(t, plantFacts, { isOpen: true, commits: plantCommits })
  const { text } = await get(richCommit)
  containsText(t, text, 'timeouts/code.py')
  containsText(t, text, 'File contents are shown only to users who are logged in')
  lacksText(t, text, 'PRESS_TIMEOUT')
})

void t.test('without a login on a shared address, the lines of a dry run are not shown', async (t) => {
  const dryRun = { added: 0, changed: 1, removed: 0, paths: ['projects/press/code.py'], diff: '+PRESS_TIMEOUT = 12' }
  const report = async () => ({ phase: 'DryRun' as const, dryRun })
  const open = await openStatusPage(t, plantFacts, { isOpen: true, report })
  const { text } = await open.get(richGateway)
  for (const word of ['projects/press/code.py', 'File contents are shown only to users who are logged in']) containsText(t, text, word)
  lacksText(t, text, 'PRESS_TIMEOUT')
  const own = await openStatusPage(t, plantFacts, { hosts, report })
  containsText(t, (await own.get(richGateway)).text, 'PRESS_TIMEOUT', 'on this machine alone they are')
})

void t.test('an unreadable commit is reported with its reason', async (t) => {
  const commits: Commits = {
    ...plantCommits,
    async changes() {
      throw new Fault('CommitGone', 'the git host has it no more')
    },
  }
  const { get } = await openStatusPage(t, plantFacts, { hosts, commits })
  const { status, text } = await get(richCommit)
  t.equal(status, 200)
  containsText(t, text, 'the git host has it no more (CommitGone)')
})

void t.test('the page of a gateway shows its whole report, or the stored part of it', async (t) => {
  const { get } = await openStatusPage(t, plantFacts, { hosts, report: async ({ pod }) => wholeOf(plantFacts, pod) })
  const { text } = await get(richGateway)
  for (const word of ['ScanFailed', '1 new, 3 changed', 'project.json is no JSON', 'projects/press/tags.json', 'press, shared'])
    containsText(t, text, word)
  lacksText(t, text, 'cannot be read at the moment')
  const { get: without } = await openStatusPage(t, plantFacts, { hosts })
  const { text: kept } = await without(richGateway)
  containsText(t, kept, 'cannot be read at the moment')
  containsText(t, kept, 'project.json is no JSON')
  for (const pod of ['nobody', 'north-boiler', '%2e%2e']) t.equal((await get(`${richSync}/gateways/${pod}`)).status, 404, pod)
})

void t.test('text from commits and reports is escaped', async (t) => {
  const evil = '"><script>alert(1)</script>'
  const commits: Commits = {
    summary: async () => ({ subject: evil, author: evil }),
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
    lacksText(t, text, '<script>alert', path)
    containsText(t, text, '&lt;script&gt;alert', path)
  }
})
