/**
 * Pull requests of captured changes over real TLS, against simulated hosts that check each call against the host's API reference.
 */
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { openPullRequest } from '../../../../runtime/capture/pull-request/open.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { type StatusProvider, statusProviders } from '../../../../runtime/api/schema/commit-status.ts'
import { gitSpec } from '../../../../runtime/api/schema/git-spec.ts'
import { createHostApis } from '../../../../runtime/git/api/host-api.ts'
import { openNetwork } from '../../../../runtime/git/remote/network.ts'
import { createRemotes } from '../../../../runtime/git/remotes.ts'
import { readSecrets } from '../../../support/access-remotes.ts'
import { matchObject } from '../../../support/assertions.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { startPullRequestHosts } from '../../../support/pull-request-hosts.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const authorityOf = makeAuthority(temporaryFolder(t, 'pull-requests'), 'Plant CA')
authorityOf.catch(() => undefined)
const signal = AbortSignal.timeout(120_000)
const branch = 'captured/gw-0'

async function setUp(t: Test, provider: StatusProvider) {
  const authority = await authorityOf
  const hosts = await startPullRequestHosts({ key: authority.server.key, cert: authority.server.certificate }, 's3cret')
  t.teardown(async () => hosts.stop())
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const readSecret = readSecrets({ ca: { 'ca.crt': authority.certificate }, api: { token: 's3cret' }, wrong: { token: 'other' } })
  const way = { readSecret, network: openNetwork, allowedHosts: [] }
  const remoteOf = createRemotes({ ...way, allowLocal: false, clock: systemClock, signal: stop.signal })
  const open = createHostApis({ ...way, remoteOf })
  const repo = provider === 'azuredevops' ? 'https://dev.azure.com/organisation/plant/_git/line' : 'https://git.example/plant/line.git'
  const git = v.parse(gitSpec({ allowLocal: false }), { repo, ref: 'main', caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } } })
  const ask = async (text: string, more: { branch?: string; secret?: string } = {}) => {
    const api = await open('plant', git, { field: 'x', secretRef: { name: more.secret ?? 'api', key: 'token' } }, signal)
    const asked = { provider, apiBaseURL: hosts.api(provider), branch: more.branch ?? branch, base: 'main' }
    return await openPullRequest(api, asked, () => ({ title: 'Keep it', text }), signal)
  }
  return { hosts, ask }
}

for (const provider of statusProviders) {
  void t.test(
    `${provider}: one pull request of a branch, whose text is brought up to date; a closed one is not opened again`,
    async (t) => {
      if (!requires(t, 'openssl')) return
      const { hosts, ask } = await setUp(t, provider)
      // Pull requests of others: from a fork with a branch of the same name, and into another base branch.
      const theirs = { branch, title: 'Theirs', text: 'Theirs', isOpen: true, version: 0 }
      hosts.kept.push({ ...theirs, id: 1, base: 'main', isForeign: true }, { ...theirs, id: 2, base: 'other', isForeign: false })
      const first = await ask('first')
      matchObject(t, first, { kind: 'open', url: /^https:\/\/[^ ]+\/3$/ })
      t.strictSame(await ask('second'), first, 'the same one')
      matchObject(t, hosts.kept.slice(2), [{ branch, base: 'main', title: 'Keep it', text: 'second' }])
      const [, , mine] = hosts.kept
      if (mine !== undefined) mine.isOpen = false
      matchObject(t, await ask('third'), { kind: 'open', url: /\/4$/ })
      matchObject(
        t,
        await ask('x'.repeat(100_000), { branch: 'captured/"gw"-1' }),
        { kind: 'open', url: /\/5$/ },
        'a text that is too long',
      )
      t.strictSame(
        hosts.kept.map(({ title, text }) => `${title} ${text.slice(0, 6)}`),
        ['Theirs Theirs', 'Theirs Theirs', 'Keep it second', 'Keep it third', 'Keep it xxxxxx'],
      )
      t.strictSame(hosts.refused, [])
    },
  )

  void t.test(`${provider}: forks with a branch of the same name do not hide ours`, async (t) => {
    if (!requires(t, 'openssl')) return
    const { hosts, ask } = await setUp(t, provider)
    const theirs = { branch, base: 'main', title: 'Theirs', text: 'Theirs', isOpen: true, isForeign: true, version: 0 }
    for (let id = 1; id <= 45; id += 1) hosts.kept.push({ ...theirs, id })
    const first = await ask('first')
    matchObject(t, first, { kind: 'open', url: /\/46$/ })
    t.strictSame(await ask('second'), first)
    t.strictSame(hosts.refused, [])
  })

  void t.test(`${provider}: an answer says whether to try again, and what to do`, async (t) => {
    if (!requires(t, 'openssl')) return
    const { hosts, ask } = await setUp(t, provider)
    matchObject(t, await ask('x', { secret: 'wrong' }), {
      kind: 'refused',
      fault: { reason: 'PullRequestRefused', message: /401: it rejects the cred/ },
    })
    hosts.answers.push({ status: 503, headers: { 'retry-after': '7' } })
    matchObject(t, await ask('x'), { kind: 'later', fault: { reason: 'PullRequestFailed', message: /answered 503$/ }, afterMs: 7_000 })
    hosts.answers.push({ status: 200 })
    matchObject(t, await ask('x'), { kind: 'refused', fault: { message: /did not return a list/ } })
    hosts.answers.push({ status: 302, headers: { location: 'https://elsewhere.example/' } })
    matchObject(t, await ask('x'), { kind: 'refused', fault: { message: /answered 302/ } }, 'no redirect is followed')
    t.strictSame(hosts.kept, [])
  })
}

void t.test("every page of the host's list of pull requests is read", async (t) => {
  if (!requires(t, 'openssl')) return
  const { hosts, ask } = await setUp(t, 'gitea')
  for (let id = 1; id <= 120; id += 1)
    hosts.kept.push({
      id,
      branch: id === 120 ? branch : `other-${id}`,
      base: 'main',
      title: '',
      text: '',
      isOpen: true,
      isForeign: false,
      version: 0,
    })
  matchObject(t, await ask('found'), { kind: 'open', url: /\/120$/ })
  t.equal(hosts.kept.length, 120)
})
