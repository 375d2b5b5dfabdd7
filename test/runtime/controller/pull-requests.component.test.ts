/**
 * The pull request of a pushed branch, from a real repository over https to a stand-in that checks what it is sent: what it says, when it is
 * tried again, and when it is given up.
 */
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { systemClock } from '../../../runtime/clock.ts'
import { createPullRequests, type Pushed } from '../../../runtime/controller/captures/pull-requests.ts'
import { Fault } from '../../../runtime/fault.ts'
import type { Verdict } from '../../../runtime/gatewaysync/decide/observation.ts'
import type { CaptureEntry } from '../../../runtime/gatewaysync/schema/capture-spec.ts'
import { gatewaySyncSpec } from '../../../runtime/gatewaysync/schema/spec.ts'
import { silentLog } from '../../../runtime/log.ts'
import { createHostApis } from '../../../runtime/source/host-api.ts'
import { createMirrors } from '../../../runtime/source/mirrors.ts'
import { openNetwork } from '../../../runtime/source/remote/network.ts'
import { createRemotes } from '../../../runtime/source/remotes.ts'
import { readSecrets } from '../../support/access-remotes.ts'
import { makeAuthority } from '../../support/authority.ts'
import { startPullRequestHosts } from '../../support/pull-request-hosts.ts'
import { startPushHost } from '../../support/push-host.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/world.ts'

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
        api: { provider: 'gitea', apiURL: hosts.api('gitea') },
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
  const check = async (of: string): Promise<Verdict> => ({
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
      on,
      at: '2026-03-01T12:00:00Z',
      leftOut: [{ path: 'projects/made.json', why: 'is made by a template' }],
      ...more,
    }
    const work: Pushed['work'] = async (signal) => {
      await began?.(signal)
      return { mirror: mirrors.of(await remoteOf('plant', own.git, signal)), check }
    }
    pullRequests.open('plant/line', { namespace: 'plant', name: 'line', spec: own, entry, work })
  }
  const open = async (more: Partial<CaptureEntry> = {}, ref?: string): Promise<Told | undefined> => {
    const before = told.length
    put(more, ref)
    await until(() => told.length > before || undefined, 'something is told', 60_000)
    return told.at(-1)
  }
  return { hosts, open, put, repository, commit, told, waited }
}

void t.test('a pull request tells of gateway, findings and differences without secrets; the next one brings it up to date', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { hosts, open } = await setUp(t)
  const told = await open()
  t.match(told, { state: 'Open', url: /^https:\/\/gitea\.example\/pulls\/1$/ })
  const [kept] = hosts.kept
  t.match(kept, { branch: 'captured/gw-0', base: 'main', title: 'Keep what was changed on gw-0 (1 file)' })
  for (const part of ['projects/a.json: is odd (odd)', 'projects/made.json is made by a template', '-"text": "Start",', '+"text": "Run",'])
    t.ok(kept?.text.includes(part), part)
  t.notMatch(kept?.text, /other\.json|"old"|"new"/)
  t.same(await open({ gateway: 'press' }), told)
  t.match(hosts.kept, [{ title: 'Keep what was changed on press (1 file)' }])
  t.same(hosts.refused, [])
})

void t.test('a host that is down is asked again; one that refuses is not, and it is said why', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { hosts, open, waited } = await setUp(t)
  hosts.answers.push({ status: 503 }, { status: 500 })
  t.match(await open(), { state: 'Open' })
  t.match(waited, [
    { state: 'Waiting', reason: 'PullRequestFailed', message: /answered 503/ },
    { state: 'Waiting', message: /answered 500/ },
  ])
  t.equal(hosts.kept.length, 1)
  hosts.answers.push({ status: 403 })
  t.match(await open(), { state: 'Refused', reason: 'PullRequestRefused', message: /403: the credentials may not open pull requests/ })
  hosts.answers.push(...Array.from({ length: 10 }, () => ({ status: 503 })))
  t.match(await open(), { state: 'Refused', reason: 'PullRequestFailed', message: /answered 503/ }, 'after ten tries')
})

void t.test('nothing is opened for a ref that is no branch, nor for a branch that is no longer at the commit', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { hosts, open, repository, commit } = await setUp(t)
  for (const ref of ['refs/tags/v1', commit])
    t.match(await open({}, ref), { state: 'Refused', message: /which is no branch to merge to/ }, ref)
  repository.git('branch', '-f', 'captured/gw-0', 'main')
  t.match(await open(), { state: 'Refused', reason: 'PullRequestRefused', message: /captured\/gw-0 is gone, or somebody/ })
  repository.git('branch', '-D', 'captured/gw-0')
  t.match(await open(), { state: 'Refused', message: /captured\/gw-0 is gone, or somebody/ })
  t.same(hosts.calls, [])
})

void t.test('an entry that is told again and again while it is tried has ten tries, and one end', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { hosts, open, put, told } = await setUp(t)
  let tries = 0
  const again = async (): Promise<void> => {
    tries += 1
    put({}, undefined, again)
    if (tries < 20) throw new Fault('PullRequestFailed', 'away')
  }
  put({}, undefined, again)
  await until(() => told.length > 0 || undefined, 'it is given up', 60_000)
  t.match(await open({ request: 'later' }), { state: 'Open' }, 'the next request tries again')
  t.match([tries, told], [10, [{ state: 'Refused', reason: 'PullRequestFailed' }, { state: 'Open' }]])
  t.equal(hosts.kept.length, 1)
})

void t.test('tries that take too long end as what the host could not be asked for', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { put, told } = await setUp(t, 20)
  put({}, undefined, async (signal) => {
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  })
  await until(() => told.length > 0 || undefined, 'it is given up', 60_000)
  t.match(told, [{ state: 'Refused', reason: 'PullRequestFailed', message: 'was not opened within 0.02 s' }])
})
