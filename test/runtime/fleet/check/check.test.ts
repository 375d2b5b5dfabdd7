/**
 * The findings of `cluster-sync check` for given facts: each problem is reported once with advice, and what may not be read is not reported
 * as broken.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { issueAuthority, issueLeaf } from '../../../../runtime/certificates/issue.ts'
import { check } from '../../../../runtime/fleet/check/check.ts'
import type { CheckFacts, InstallationFacts } from '../../../../runtime/fleet/check/facts.ts'
import { checkText, sections } from '../../../../runtime/fleet/check/report.ts'
import { agentPermissions } from '../../../../runtime/fleet/check/permissions.ts'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { commit, condition, fleetFacts, now, pod, report, syncFacts } from '../../../support/fleet-facts.ts'
import { docsPage, compareVersions } from '../../../../runtime/platform/version.ts'

const authority = await issueAuthority('ours', { from: now.subtract({ hours: 24 }), until: now.add({ hours: 24 * 300 }) })
const leaf = await issueLeaf(authority, ['localhost'], { from: now.subtract({ hours: 24 }), until: now.add({ hours: 24 * 60 }) })
const stranger = await issueAuthority('strange', { from: now.subtract({ hours: 24 }), until: now.add({ hours: 24 * 300 }) })

const sync = syncFacts('plant', {
  delivery: { url: 'https://cs-delivery.cs.svc:9445', caBundle: authority.certificate },
  conditions: [condition('Ready', 'True', 'Synced', 'all'), condition('SourceReady', 'True', 'Fetched', `main is commit ${commit}`)],
})

const installation: InstallationFacts = {
  name: 'cs',
  namespace: 'cs',
  version: '0.1.0',
  replicas: 2,
  readyReplicas: 2,
  settings: undefined,
  lease: { kind: 'seen', value: { holder: 'cs-1', renewedAt: '2026-03-01T11:59:55Z', durationSeconds: 15 } },
  permissions: {
    kind: 'seen',
    value: [
      { account: 'cs/cs', right: { verb: 'list', group: '', resource: 'pods', name: undefined }, namespace: undefined, allowed: true },
    ],
  },
  certificate: { kind: 'seen', value: { name: 'cs-certificate', leaf: leaf.certificate, authority: authority.certificate } },
  bundles: { kind: 'seen', value: [authority.certificate] },
  admission: { kind: 'injected', namespace: 'plant-a' },
  delivery: [{ kind: 'answers', url: 'https://cs-delivery.cs.svc:9445', by: 'service' }],
}

const facts = (change: Partial<InstallationFacts> = {}, more: Partial<CheckFacts> = {}): CheckFacts => ({
  server: 'https://api.example',
  cliVersion: '0.1.0',
  api: { kind: 'seen', value: 'v1.36.3' },
  definitions: { kind: 'refused', message: 'you may not list them' },
  installations: { kind: 'seen', value: [{ ...installation, ...change }] },
  fleet: { kind: 'seen', value: fleetFacts({ syncs: [sync], pods: [pod('gw-0', 'plant')], reports: [report('gw-0', 'plant')] }) },
  images: { kind: 'seen', value: { pods: 3, waiting: [] } },
  ...more,
})

type Row = { name: string; facts: CheckFacts; section: string; level: 'warning' | 'error'; text: RegExp }
const withSettings = (): InstallationFacts['settings'] => ({
  namespace: 'cs',
  fullname: 'cs',
  leaderElection: true,
  watchNamespaces: [],
  podLabels: {},
  keepsBundle: true,
  selfManaged: true,
  webhookConfiguration: 'cs',
  agentRole: 'cs-agent',
  bindsAgents: true,
  isReceiverOpen: false,
})
const settled = { settings: withSettings() }
const rows: Row[] = [
  {
    name: 'there are no definitions',
    facts: facts({}, { definitions: { kind: 'seen', value: [] } }),
    section: 'definitions',
    level: 'error',
    text: /^gatewaysyncs\.clustersync\.io is not installed/,
  },
  {
    name: 'the API server does not serve a definition',
    facts: facts(
      {},
      { definitions: { kind: 'seen', value: [{ name: 'gatewaysyncs.clustersync.io', established: false, served: new Map() }] } },
    ),
    section: 'definitions',
    level: 'error',
    text: /^gatewaysyncs\.clustersync\.io is installed, but the API server does not serve v1alpha1/,
  },
  {
    name: 'some replicas are away',
    facts: facts({ ...settled, readyReplicas: 1 }),
    section: 'operator',
    level: 'warning',
    text: /1 of 2 replicas ready/,
  },
  {
    name: 'no replica is ready',
    facts: facts({ ...settled, readyReplicas: 0 }),
    section: 'operator',
    level: 'error',
    text: /has 0 of 2 replicas ready/,
  },
  { name: 'the settings cannot be read', facts: facts(), section: 'operator', level: 'warning', text: /settings of cs\/cs cannot be read/ },
  {
    name: 'nobody leads',
    facts: facts({ ...settled, lease: { kind: 'seen', value: { holder: undefined, renewedAt: undefined, durationSeconds: 15 } } }),
    section: 'operator',
    level: 'error',
    text: /no replica of cs\/cs is the leader/,
  },
  {
    name: 'the leader is silent',
    facts: facts({
      ...settled,
      lease: { kind: 'seen', value: { holder: 'cs-1', renewedAt: '2026-03-01T11:50:00Z', durationSeconds: 15 } },
    }),
    section: 'operator',
    level: 'error',
    text: /cs-1 is the leader, but has not renewed its Lease for 10m/,
  },
  {
    name: 'another version',
    facts: facts({ ...settled, version: '0.2.0' }),
    section: 'operator',
    level: 'warning',
    text: /has version 0\.2\.0, this command 0\.1\.0/,
  },
  {
    name: 'no installation',
    facts: facts({}, { installations: { kind: 'seen', value: [] } }),
    section: 'operator',
    level: 'error',
    text: /no operator was found/,
  },
  {
    name: 'a right is missing',
    facts: facts({
      ...settled,
      permissions: {
        kind: 'seen',
        value: [
          { account: 'cs/cs', right: { verb: 'list', group: '', resource: 'pods', name: undefined }, namespace: 'plant-a', allowed: false },
        ],
      },
    }),
    section: 'permissions',
    level: 'error',
    text: /cs\/cs may not list pods in plant-a/,
  },
  {
    name: 'agents may not report',
    facts: facts({
      ...settled,
      permissions: {
        kind: 'seen',
        value: agentPermissions.map((right) => ({
          account: 'plant-a/gateway',
          right,
          namespace: 'plant-a',
          allowed: right.verb !== 'create',
        })),
      },
    }),
    section: 'permissions',
    level: 'error',
    text: /plant-a\/gateway may not create syncreports\.clustersync\.io in plant-a/,
  },
  {
    name: 'a certificate that ends',
    facts: facts({ ...settled }, {}),
    section: 'certificates',
    level: 'warning',
    text: /expires in 5 days.* and was not renewed/,
  },
  {
    name: 'no certificate',
    facts: facts({ ...settled, certificate: { kind: 'seen', value: undefined } }),
    section: 'certificates',
    level: 'error',
    text: /does not contain a certificate/,
  },
  {
    name: 'a bundle of somebody else',
    facts: facts({ ...settled, bundles: { kind: 'seen', value: [stranger.certificate] } }),
    section: 'certificates',
    level: 'error',
    text: /CA bundle of the webhook does not trust/,
  },
  {
    name: 'agents trust somebody else',
    facts: facts(settled, {
      fleet: {
        kind: 'seen',
        value: fleetFacts({
          syncs: [syncFacts('plant', { ...sync.status, delivery: { url: 'https://x', caBundle: stranger.certificate } })],
        }),
      },
    }),
    section: 'certificates',
    level: 'error',
    text: /1 of 1 GatewaySyncs give their agents/,
  },
  {
    name: 'no agent comes',
    facts: facts({ ...settled, admission: { kind: 'untouched', namespace: 'plant-a' } }),
    section: 'admission',
    level: 'error',
    text: /gets none/,
  },
  {
    name: 'admission fails',
    facts: facts({ ...settled, admission: { kind: 'failed', namespace: 'plant-a', message: 'failed calling webhook' } }),
    section: 'admission',
    level: 'error',
    text: /is refused: failed calling webhook/,
  },
  {
    name: 'delivery is silent',
    facts: facts({ ...settled, delivery: [{ kind: 'silent', url: 'https://d', message: 'ECONNREFUSED' }] }),
    section: 'delivery',
    level: 'error',
    text: /agents cannot fetch from https:\/\/d: ECONNREFUSED/,
  },
  {
    name: 'a git host refuses',
    facts: facts(settled, {
      fleet: {
        kind: 'seen',
        value: fleetFacts({ syncs: [syncFacts('plant', { conditions: [condition('SourceReady', 'False', 'GitUnauthorized', 'no')] })] }),
      },
    }),
    section: 'git',
    level: 'error',
    text: /plant-a\/plant: no/,
  },
  {
    name: 'a pod without an agent',
    facts: facts(settled, {
      fleet: { kind: 'seen', value: fleetFacts({ syncs: [sync], pods: [pod('gw-0', 'plant', { injected: false })] }) },
    }),
    section: 'gateways',
    level: 'error',
    text: /pod plant-a\/gw-0: the pod requests an agent/,
  },
  {
    name: 'an agent of another release',
    facts: facts(settled, {
      fleet: {
        kind: 'seen',
        value: fleetFacts({ syncs: [sync], pods: [pod('gw-0', 'plant')], reports: [report('gw-0', 'plant', { agentVersion: '0.0.9' })] }),
      },
    }),
    section: 'gateways',
    level: 'warning',
    text: /its agent has version 0\.0\.9, the controller 0\.1\.0/,
  },
  {
    name: 'an image that is not there',
    facts: facts(settled, {
      images: {
        kind: 'seen',
        value: { pods: 1, waiting: [{ namespace: 'plant-a', pod: 'gw-0', image: 'x:1', reason: 'ErrImagePull', message: undefined }] },
      },
    }),
    section: 'images',
    level: 'error',
    text: /pod plant-a\/gw-0 cannot pull x:1/,
  },
]

void t.test('the commands of an advice name the context', async (t) => {
  const fleet = fleetFacts({ syncs: [sync], pods: [pod('gw-0', 'plant', { injected: false }), pod('gw-1', 'plant')] })
  const outdated = report('gw-1', 'plant', { agentVersion: '0.3.0' })
  const more: Partial<CheckFacts> = {
    context: 'south',
    definitions: { kind: 'seen', value: [] },
    fleet: { kind: 'seen', value: { ...fleet, reports: [outdated] } },
  }
  const given = [0, 1].flatMap((readyReplicas) => check(facts({ readyReplicas }, more), now).findings.map(({ advice = '' }) => advice))
  const commands = new Set(
    given.flatMap((advice) => [...advice.matchAll(/kubectl(?: --context \S+)?(?: -n \S+)? (?:\w+)/g)].map(([text]) => text)),
  )
  t.strictSame(
    [...commands],
    [
      'kubectl --context south apply',
      'kubectl --context south -n cs get',
      'kubectl --context south -n cs logs',
      'kubectl --context south -n plant-a delete',
    ],
  )
})

void t.test('each problem is reported with its section, level and advice', async (t) => {
  for (const { name, facts, section, level, text } of rows) {
    const at = name === 'a certificate that ends' ? now.add({ hours: 24 * 55 - 1 }) : now
    const found = check(facts, at).findings.find((finding) => text.test(finding.text))
    matchObject(t, found, { section, level, advice: /^[A-Z]/ }, name)
  }
})

void t.test('a healthy installation has no findings except for what may not be read', async (t) => {
  const { findings, level } = check(facts(settled), now)
  t.strictSame(
    findings.filter((finding) => finding.level !== 'ok').map(({ section }) => section),
    ['definitions'],
    'but for what may not be looked at',
  )
  t.equal(level, 'warning')
  const lines = checkText(check(facts(settled), now), { width: 120, color: false, symbols: false })
  t.match(lines.at(-1), /^‼ Passed with warnings: 1[0-9] passed, 1 warning, 0 failed\.$/)
  containsText(
    t,
    lines.join('\n'),
    `‼ not checked: you may not list them\n  -> Run the check with administrator permissions to include this.\n  see ${docsPage('docs/how-to/check.md#sections')}`,
  )
})

void t.test('if the API server is unavailable, nothing else is reported', async (t) => {
  const { findings } = check(facts({}, { api: { kind: 'failed', message: 'ECONNREFUSED' } }), now)
  matchObject(t, findings, [{ section: 'api-server', level: 'error', text: /cannot be used: ECONNREFUSED/ }])
  t.equal(findings.length, 1)
})

void t.test('the same problem in thousands of GatewaySyncs is reported in a few lines', async (t) => {
  const syncs = Array.from({ length: 1_000 }, (_, index) =>
    syncFacts(`plant-${index}`, { conditions: [condition('SourceReady', 'False', 'GitUnreachable', 'no route')] }),
  )
  const git = check(facts(settled, { fleet: { kind: 'seen', value: fleetFacts({ syncs }) } }), now).findings.filter(
    ({ section }) => section === 'git',
  )
  t.equal(git.length, 11)
  containsText(t, git.at(-1)?.text, 'and 990 more of this kind')
})

void t.test('docs/how-to/check.md explains each section of the check', async (t) => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../../../docs/how-to/check.md'), 'utf8')
  const [, table = ''] = page.split('## Sections\n')
  const rows = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, heading]) => heading)
  t.strictSame(rows.slice(1), Object.values(sections))
})

void t.test('versions of adjacent minor releases are neighbors, others are apart', async (t) => {
  t.equal(compareVersions('1.2.3', '1.2.3'), 'same')
  t.equal(compareVersions('1.2.3', '1.3.0'), 'neighbors')
  t.equal(compareVersions('1.2.3', '1.4.0'), 'apart')
  t.equal(compareVersions('1.2.3', '2.2.3'), 'apart')
  t.equal(compareVersions('latest', '1.2.3'), 'apart')
})
