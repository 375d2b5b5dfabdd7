/**
 * The pull request of a pushed branch, from a real repository over HTTPS to a simulated host that checks each call: its text, its retries,
 * and when it is abandoned.
 */
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { createPullRequests, type Pushed } from '../../../../runtime/controller/captures/pull-requests.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { Verdict } from '../../../../runtime/reconcile/decide/observation.ts'
import type { CaptureEntry } from '../../../../runtime/api/schema/capture-spec.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createHostApis } from '../../../../runtime/git/api/host-api.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { openNetwork } from '../../../../runtime/git/remote/network.ts'
import { createRemotes } from '../../../../runtime/git/remotes.ts'
import { readSecrets } from '../../../support/access-remotes.ts'
import { matchObject } from '../../../support/assertions.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { startPullRequestHosts } from '../../../support/pull-request-hosts.ts'
import { startPushHost } from '../../../support/push-host.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'

type Told = NonNullable<CaptureEntry['pullRequest']>

async function setUp(t: Test, timeoutMs?: number) {
  const folder = temporaryFolder(t, 'pull-requests')
  const authority = await makeAuthority(path.join(folder, 'api'), 'API CA')
  const hosts = await startPullRequestHosts({ key: authority.server.key, cert: authority.server.certificate }, 's3cret')
  t.teardown(async () => hosts.stop())
  const host = await startPushHost(t, folder, 's3cret')
  const repository = host.pushable('plant/line')
  const on = repository.commit({ 'projects/a.json': '{\n"text": "Start",\n"password": "old"\n}' })
  symlinkSync(path.join(repository.folder, '.git'), `${repository.folder}.git`)
  repository.git('switch', '-q', '-c', 'captured/gw-0')
  const commit = repository.commit({ 'projects/a.json': '{\n"text": "Run",\n"password": "new"\n}' })
  repository.git('switch', '-q', 'main')
  const stop = new AbortController()
  const secrets = { ca: { 'ca.crt': `${host.ca}\n${authority.certificate}` }, push: { token: 's3cret' } }
  const way = { readSecret: readSecrets(secrets), network: openNetwork, allowedHosts: [] }
  const remoteOf = createRemotes({ ...way, allowLocal: false, clock: systemClock, signal: stop.signal })
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  const spec = (ref = 'main') =>
    v.parse(gatewaySyncSpec({ allowLocal: false }), {
      git: { repo: host.url('plant/line.git'), ref, caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } } },
      sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
      capture: {
        auth: { token: { secretRef: { name: 'push', key: 'token' } } },
        pullRequest: true,
        api: { provider: 'gitea', apiBaseURL: hosts.api('gitea') },
      },
    })
  const told: Told[] = []
  const waited: Told[] = []
  const pullRequests = createPullRequests(
    {
      clock: systemClock,
      hostApi: createHostApis({ ...way, remoteOf }),
      ended: (_pushed, pullRequest) => void told.push(pullRequest),
      waits: (_pushed, pullRequest) => void waited.push(pullRequest),
      pace: { gatherMs: 1, spacingMs: 1, firstRetryMs: 1, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
      log: silentLog,
    },
    stop.signal,
  )
  t.teardown(async () => {
    stop.abort()
    await pullRequests.settled()
    await mirrors.close()
  })
  const finding = { rule: 'odd', severity: 'warning', path: 'projects/a.json', message: 'is odd' } as const
  const validate = async (of: string): Promise<Verdict> => ({
    kind: 'checked',
    errors: 0,
    warnings: 0,
    items: [{ ...finding, path: 'projects/other.json' }, ...(of === commit ? [finding] : [])],
  })
  const put = (more: Partial<CaptureEntry> = {}, ref?: string, began?: (signal: AbortSignal) => Promise<void>): void => {
    const own = spec(ref)
    const entry: CaptureEntry = {
      pod: 'gw-0',
      gateway: 'gw-0',
      request: 'now',
      state: 'Pushed',
      branch: 'captured/gw-0',
      commit,
      baseCommit: on,
      at: '2026-03-01T12:00:00Z',
      skipped: [{ path: 'projects/made.json', message: 'is made by a template' }],
      ...more,
    }
    const work: Pushed['work'] = async (signal) => {
      await began?.(signal)
      return { mirror: mirrors.of(await remoteOf('plant', own.git, signal)), validate }
    }
    pullRequests.open('plant/line', {
      namespace: 'plant',
      name: 'line',
      spec: own,
      base: ref === undefined ? 'main' : undefined,
      entry,
      work,
    })
  }
  const open = async (more: Partial<CaptureEntry> = {}, ref?: string): Promise<Told | undefined> => {
    const before = told.length
    put(more, ref)
    await until(() => told.length > before || undefined, 'a change is reported')
    return told.at(-1)
  }
  return { hosts, open, put, repository, commit, told, waited }
}

void t.test('a pull request lists gateway, findings and differences without secrets; the next capture updates it', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { hosts, open } = await setUp(t)
  const told = await open()
  matchObject(t, told, { state: 'Open', url: /^https:\/\/gitea\.example\/pulls\/1$/ })
  const [kept] = hosts.kept
  matchObject(t, kept, { branch: 'captured/gw-0', base: 'main', title: 'Capture local changes of gw-0 (1 file)' })
  for (const part of ['projects/a.json: is odd (odd)', 'projects/made.json is made by a template', '-"text": "Start",', '+"text": "Run",'])
    t.ok(kept?.text.includes(part), part)
  t.notMatch(kept?.text, /other\.json|"old"|"new"/)
  t.strictSame(await open({ gateway: 'press' }), told)
  matchObject(t, hosts.kept, [{ title: 'Capture local changes of press (1 file)' }])
  t.strictSame(hosts.refused, [])
})

void t.test('an unavailable host is retried; a refusal is not, and is reported with the reason', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { hosts, open, waited } = await setUp(t)
  hosts.answers.push({ status: 503 }, { status: 500 })
  matchObject(t, await open(), { state: 'Open' })
  matchObject(t, waited, [
    { state: 'Waiting', reason: 'PullRequestFailed', message: /answered 503/ },
    { state: 'Waiting', message: /answered 500/ },
  ])
  t.equal(hosts.kept.length, 1)
  hosts.answers.push({ status: 403 })
  matchObject(t, await open(), {
    state: 'Refused',
    reason: 'PullRequestRefused',
    message: /403: the credentials may not open pull requests/,
  })
  hosts.answers.push(...Array.from({ length: 10 }, () => ({ status: 503 })))
  matchObject(t, await open(), { state: 'Refused', reason: 'PullRequestFailed', message: /answered 503/ }, 'after ten tries')
})

void t.test('the pull request waits while the default branch is unknown', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { open, put, told, waited } = await setUp(t)
  put({}, 'HEAD')
  await until(() => waited.length + told.length > 0 || undefined, 'a change is reported')
  matchObject(t, waited[0], { state: 'Waiting', reason: 'PullRequestFailed', message: /^the default branch is not known while/ })
  matchObject(t, await open(), { state: 'Open' }, 'once it is known')
})

void t.test('no pull request is opened for a ref that is not a branch, or for a branch that has moved', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { hosts, open, repository, commit } = await setUp(t)
  for (const ref of ['refs/tags/v1', commit])
    matchObject(t, await open({}, ref), { state: 'Refused', message: /which is not a branch to merge into/ }, ref)
  repository.git('branch', '-f', 'captured/gw-0', 'main')
  matchObject(t, await open(), { state: 'Refused', reason: 'PullRequestRefused', message: /captured\/gw-0 is gone, or has new commits/ })
  repository.git('branch', '-D', 'captured/gw-0')
  matchObject(t, await open(), { state: 'Refused', message: /captured\/gw-0 is gone, or has new commits/ })
  t.strictSame(hosts.calls, [])
})

void t.test('an entry that is submitted again during its attempts has ten attempts and one outcome', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { hosts, open, put, told } = await setUp(t)
  let tries = 0
  const again = async (): Promise<void> => {
    tries += 1
    put({}, undefined, again)
    if (tries < 20) throw new Fault('PullRequestFailed', 'away')
  }
  put({}, undefined, again)
  await until(() => told.length > 0 || undefined, 'it is dropped')
  matchObject(t, await open({ request: 'later' }), { state: 'Open' }, 'the next request tries again')
  matchObject(t, [tries, told], [10, [{ state: 'Refused', reason: 'PullRequestFailed' }, { state: 'Open' }]])
  t.equal(hosts.kept.length, 1)
})

void t.test('attempts that take too long end as PullRequestFailed', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { put, told } = await setUp(t, 20)
  put({}, undefined, async (signal) => {
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  })
  await until(() => told.length > 0 || undefined, 'it is dropped')
  matchObject(t, told, [{ state: 'Refused', reason: 'PullRequestFailed', message: 'was not opened within 0.02 s' }])
})
