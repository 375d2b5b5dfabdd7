/**
 * Tests commit statuses over TLS against test servers that check each call against the API reference of the host.
 */
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { statusProviders } from '../../../runtime/api/schema/commit-status.ts'
import { gitSpec } from '../../../runtime/api/schema/git-spec.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { createLog } from '../../../runtime/platform/log/log.ts'
import { createCommitStatuses, type ReportedSync } from '../../../runtime/notifications/commit-status.ts'
import { createHostApis } from '../../../runtime/git/api/host-api.ts'
import { openNetwork, type ResolveHost } from '../../../runtime/git/remote/network.ts'
import { createRemotes } from '../../../runtime/git/remotes.ts'
import { readSecrets, type Secrets } from '../../support/access-remotes.ts'
import { containsText, matchObject } from '../../support/assertions.ts'
import { makeAuthority } from '../../support/authority.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { startStatusHosts } from '../../support/status-hosts.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/world.ts'

const longMs = 60_000
const [first, second] = ['a'.repeat(40), 'b'.repeat(40)]
const none = { total: 0, synced: 0, pending: 0, failed: 0, blocked: 0, drifted: 0, dryRun: 0, paused: 0, missingAgent: 0, waiting: 0 }

/** A status in which the given number of three gateways runs the published commit. */
function applied(commit: string, synced: number, more: Partial<typeof none> = {}): GatewaySyncStatus {
  const at = systemClock.now().toString()
  return { source: { ref: 'main', commit }, published: { commit, ref: 'main', at }, gateways: { ...none, total: 3, synced, ...more } }
}

const azureRepository = 'https://dev.azure.com/organisation/plant/_git/line'

/** Shared by all tests; created only where openssl is installed. */
const authorityOf = makeAuthority(temporaryFolder(t, 'statuses'), 'Plant CA')
authorityOf.catch(() => undefined)

type Options = { resolve?: ResolveHost; allowedHosts?: string[] }

async function setUp(t: Test, { resolve, allowedHosts = [] }: Options = {}) {
  const authority = await authorityOf
  const hosts = await startStatusHosts(
    { key: authority.server.key, cert: authority.server.certificate },
    { token: 's3cret', basic: 'worker:pass' },
  )
  t.teardown(async () => hosts.stop())
  const secrets: Secrets = {
    ca: { 'ca.crt': authority.certificate },
    api: { token: 's3cret' },
    user: { username: 'worker', password: 'pass' },
  }
  const stop = new AbortController()
  const network = { ...openNetwork, ...(resolve === undefined ? {} : { resolve }) }
  const way = { readSecret: readSecrets(secrets), network, allowedHosts }
  const open = createHostApis({
    ...way,
    remoteOf: createRemotes({ ...way, allowedHosts: [], allowLocal: true, clock: systemClock, signal: stop.signal }),
  })
  const [outcomes, lines]: [string[], string[]] = [[], []]
  const faults: string[] = []
  const statuses = createCommitStatuses(
    {
      clock: systemClock,
      log: createLog({ level: 'debug', destination: { write: (line: string) => void lines.push(line) } }),
      open,
      delivered: (provider, how) => outcomes.push(`${provider} ${how}`),
      failed: ({ name }, { reason, message }) => faults.push(`${name}: ${reason}: ${message}`),
      pace: { gatherMs: 1, spacingMs: 1, firstRetryMs: 1 },
    },
    stop.signal,
  )
  t.teardown(async () => {
    stop.abort()
    await statuses.settled()
  })
  const schema = gitSpec({ allowLocal: true })
  const git = (commitStatus: Record<string, unknown>, more: Record<string, unknown> = {}): ReportedSync['git'] =>
    v.parse(schema, {
      repo: 'https://git.example/plant/line.git',
      ref: 'main',
      caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } },
      commitStatus: { secretRef: { name: 'api', key: 'token' }, ...commitStatus },
      ...more,
    })
  const observed = (git: ReportedSync['git'], status: GatewaySyncStatus, name = 'line'): void =>
    statuses.observed({ namespace: 'plant', name, git, status })
  const taken = async (count: number) =>
    await until(() => (hosts.taken.length >= count ? hosts.taken : undefined), `${count} statuses`, longMs)
  return { hosts, git, observed, taken, outcomes, lines, faults, secrets, statuses }
}

for (const provider of statusProviders) {
  void t.test(`${provider} takes pending, refused and applied, with a token of its own`, async (t) => {
    if (!requires(t, 'openssl')) return
    const { hosts, git, observed, taken, outcomes } = await setUp(t)
    const told = git({ provider, apiBaseURL: hosts.api(provider) }, provider === 'azuredevops' ? { repo: azureRepository } : {})
    observed(told, applied(first, 1))
    await taken(1)
    const message = 'is no JSON '.repeat(60)
    observed(told, {
      source: { ref: 'main', commit: second, held: 'CollectionsInvalid' },
      findings: { errors: 1, warnings: 0, items: [{ rule: 'r', severity: 'error', path: 'x.json', message }] },
    })
    await taken(2)
    observed(told, applied(second, 3))
    const [pending, refused, success] = await taken(3)
    t.strictSame(hosts.refused, [])
    t.strictSame([pending?.commit, refused?.commit, success?.commit], [first, second, second])
    t.equal(pending?.repository, 'plant/line')
    matchObject(t, pending?.status, { description: 'applied on 1 of 3 gateways' })
    t.match(refused?.status.description, /^refused, CollectionsInvalid: x\.json: is no JSON /)
    matchObject(t, success?.status, { description: 'applied on 3 of 3 gateways' })
    t.match(success?.status.name, /cluster-sync/)
    t.equal(new Set([pending, refused, success].map((one) => one?.status.state)).size, 3, 'three states')
    t.equal(new Set([pending, refused, success].map((one) => one?.status.name)).size, 1, 'one name')
    await until(() => outcomes.length >= 3 || undefined, 'outcomes', longMs)
    t.strictSame(outcomes, [`${provider} sent`, `${provider} sent`, `${provider} sent`])
  })

  void t.test(`${provider} takes the credentials of the source`, async (t) => {
    if (!requires(t, 'openssl')) return
    const { hosts, git, observed, taken, secrets } = await setUp(t)
    const repo = provider === 'azuredevops' ? { repo: azureRepository } : {}
    const own = { provider, secretRef: undefined, apiBaseURL: hosts.api(provider), context: 'plant one' }
    observed(git(own, { ...repo, auth: { token: { secretRef: { name: 'api', key: 'token' } } } }), applied(first, 3))
    await taken(1)
    if (provider === 'github' || provider === 'gitlab') secrets['user'] = { username: 'worker', password: 's3cret' }
    observed(git(own, { ...repo, auth: { basic: { secretRef: { name: 'user' } } } }), applied(second, 3))
    const [, last] = await taken(2)
    t.strictSame(hosts.refused, [])
    containsText(t, last?.status.name, 'plant one')
  })
}

void t.test('a context too long for a status key is replaced by a stable hash', async (t) => {
  if (!requires(t, 'openssl')) return
  const { hosts, git, observed, taken } = await setUp(t)
  const told = git({ provider: 'bitbucket', apiBaseURL: hosts.api('bitbucket'), context: 'c'.repeat(60) })
  observed(told, applied(first, 1))
  await taken(1)
  observed(told, applied(first, 3))
  const [one, two] = await taken(2)
  t.match(one?.status.name, /^[0-9a-f]{40}$/)
  t.equal(one?.status.name, two?.status.name)
  t.equal(one?.status.link, `https://bitbucket.org/plant/line/commits/${first}`)
})

void t.test('an unchanged status is not sent again, and a gateway that restarts changes nothing', async (t) => {
  if (!requires(t, 'openssl')) return
  const { hosts, git, observed, taken } = await setUp(t)
  const told = git({ provider: 'gitea', apiBaseURL: hosts.api('gitea') })
  observed(told, applied(first, 3))
  await taken(1)
  observed(told, applied(first, 3))
  observed(told, applied(first, 2, { pending: 1 }))
  observed(told, applied(first, 2, { failed: 1 }))
  await taken(2)
  observed(told, applied(first, 3))
  const all = await taken(3)
  t.strictSame(
    all.map(({ status }) => status.state),
    ['success', 'failure', 'success'],
  )
})

void t.test('a status completed long before this replica became leader is not sent again', async (t) => {
  if (!requires(t, 'openssl')) return
  const { hosts, git, observed, taken } = await setUp(t)
  const told = git({ provider: 'gitea', apiBaseURL: hosts.api('gitea') })
  const condition = { type: 'Ready', status: 'True' as const, reason: 'Synced', message: '', lastTransitionTime: '2026-01-01T08:00:00Z' }
  observed(told, { ...applied(first, 3), conditions: [condition] }, 'old')
  observed(told, applied(first, 3), 'new')
  await taken(1)
  observed(told, { ...applied(second, 3), conditions: [condition] }, 'old')
  const all = await taken(2)
  t.strictSame(
    all.map(({ commit, status }) => [commit, status.name]),
    [
      [first, 'cluster-sync/plant/new'],
      [second, 'cluster-sync/plant/old'],
    ],
  )
})

void t.test('a log line about the commit of a request has the request ID', async (t) => {
  if (!requires(t, 'openssl')) return
  const { hosts, git, observed, lines } = await setUp(t)
  const told = git({ provider: 'gitea', apiBaseURL: hosts.api('gitea') })
  const requested = { ref: 'main', id: 'push-1', specRef: 'main' }
  hosts.answers.push({ status: 503 })
  observed(told, { ...applied(first, 3), source: { ref: 'main', commit: first, requested } })
  await until(() => lines.length === 2 || undefined, 'two lines', longMs)
  matchObject(
    t,
    lines.map((line) => JSON.parse(line) as object),
    [
      { msg: 'commit status not accepted yet', commit: first, requestId: 'push-1' },
      { msg: 'commit status sent', commit: first, requestId: 'push-1' },
    ],
  )
})

void t.test('a busy or unavailable host is retried, no sooner than its Retry-After', async (t) => {
  if (!requires(t, 'openssl')) return
  const { hosts, git, observed, taken, outcomes } = await setUp(t)
  hosts.answers.push({ status: 503 }, { status: 403, headers: { 'retry-after': '1' } }, { status: 500 })
  const startedMs = systemClock.monotonicMs()
  observed(git({ provider: 'github', apiBaseURL: hosts.api('github') }), applied(first, 3))
  await taken(1)
  t.ok(systemClock.monotonicMs() - startedMs >= 1_000)
  await until(() => outcomes.length === 4 || undefined, 'outcomes', longMs)
  t.strictSame(outcomes, ['github retried', 'github retried', 'github retried', 'github sent'])
})

void t.test('a GitLab response that the status is already set counts as success', async (t) => {
  if (!requires(t, 'openssl')) return
  const { hosts, git, observed, outcomes, faults } = await setUp(t)
  hosts.answers.push({ status: 400, body: { message: 'Cannot transition status via :run from :running' } })
  observed(git({ provider: 'gitlab', apiBaseURL: hosts.api('gitlab') }), applied(first, 1))
  await until(() => outcomes.length === 1 || undefined, 'the outcome', longMs)
  t.strictSame([outcomes, faults], [['gitlab sent'], []])
})

void t.test('a permanent error is dropped at once, with a message that omits the response of the host', async (t) => {
  if (!requires(t, 'openssl')) return
  const { hosts, git, observed, outcomes, faults, secrets } = await setUp(t)
  const where = `127.0.0.1:${hosts.port}`
  const rows: [status: number, says: string][] = [
    [401, `CommitStatusRefused: ${where} answered 401: it rejects the credentials`],
    [403, `CommitStatusRefused: ${where} answered 403: the credentials may not write commit statuses`],
    [404, `CommitStatusRefused: ${where} answered 404: it has no such repository or commit, or hides it from these credentials`],
    [302, `CommitStatusRefused: ${where} answered 302`],
    [422, `CommitStatusRefused: ${where} answered 422`],
  ]
  const told = git({ provider: 'github', apiBaseURL: hosts.api('github') })
  for (const [index, [status, says]] of rows.entries()) {
    hosts.answers.push({ status, body: { message: 'hunter2' }, headers: { location: 'https://elsewhere.example/' } })
    observed(told, applied(first, 3), `sync-${index}`)
    await until(() => faults.length === index + 1 || undefined, says, longMs)
    t.equal(faults[index], `sync-${index}: ${says}`)
  }
  observed(git({ provider: 'azuredevops', apiBaseURL: hosts.api('azuredevops') }), applied(first, 3), 'wrong')
  await until(() => faults.length === 6 || undefined, 'a repository of another host', longMs)
  t.equal(faults[5], 'wrong: CommitStatusRefused: spec.git.repo is not a repository URL of azuredevops')
  delete secrets['api']
  observed(told, applied(first, 3), 'gone')
  await until(() => faults.length === 7 || undefined, 'a Secret that is missing', longMs)
  t.equal(faults[6], 'gone: SecretNotFound: spec.git.commitStatus: Secret "api" does not exist')
  t.ok(outcomes.every((outcome) => outcome.endsWith('dropped')))
  t.strictSame(hosts.taken, [])
})

void t.test('an address or host that the installation does not permit is not called', async (t) => {
  if (!requires(t, 'openssl')) return
  const resolve: ResolveHost = async (host) => {
    throw new Fault('RepositoryNotAllowed', `${host} is not permitted`)
  }
  const pinned = await setUp(t, { resolve })
  pinned.observed(pinned.git({ provider: 'gitea', apiBaseURL: pinned.hosts.api('gitea') }), applied(first, 3))
  await until(() => pinned.faults.length === 1 || undefined, 'the fault', longMs)
  t.strictSame(pinned.faults, ['line: RepositoryNotAllowed: 127.0.0.1 is not permitted'])
  const listed = await setUp(t, { allowedHosts: ['git.example'] })
  listed.observed(listed.git({ provider: 'gitea', apiBaseURL: listed.hosts.api('gitea') }), applied(first, 3))
  await until(() => listed.faults.length === 1 || undefined, 'the fault', longMs)
  t.strictSame(listed.faults, ['line: RepositoryNotAllowed: the installation permits hosts git.example, not the API at 127.0.0.1'])
  t.strictSame([pinned.hosts.taken, listed.hosts.taken], [[], []])
})
