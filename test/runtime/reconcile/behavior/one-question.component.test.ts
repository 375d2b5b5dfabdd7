/**
 * Tests that GatewaySyncs of the same private repository share a fetch only if they reference the same Secret.
 */
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { openNetwork } from '../../../../runtime/git/remote/network.ts'
import { createRemotes } from '../../../../runtime/git/remotes.ts'
import { readSecrets } from '../../../support/access-remotes.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { startFollowers } from '../../../support/followers.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

void t.test('a push is fetched once for all polling GatewaySyncs with the same Secret, and only for those', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const folder = temporaryFolder(t, 'one-question')
  const authority = await makeAuthority(folder, 'Plant CA')
  const host = await startGitHost(path.join(folder, 'git'), { tls: { key: authority.server.key, cert: authority.server.certificate } })
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  const first = repository.commit({ 'projects/a.txt': '1' })
  const stop = new AbortController()
  const secrets = { ca: { 'ca.crt': authority.certificate }, one: { token: 't' }, other: { token: 't' } }
  const count = 12
  const others = [10, 11]
  const unpolled = 9
  const followers = startFollowers({
    folder: path.join(folder, 'mirrors'),
    spec: (index) => ({
      git: {
        repo: host.url('plant.git/.git'),
        ref: 'main',
        caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } },
        auth: { token: { secretRef: { name: others.includes(index) ? 'other' : 'one', key: 'token' } } },
      },
      polling: { enabled: index !== unpolled, interval: '1h' },
      sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    }),
    count,
    remoteOf: createRemotes({
      allowLocal: false,
      allowedHosts: [],
      readSecret: readSecrets(secrets),
      network: openNetwork,
      clock: systemClock,
      signal: stop.signal,
    }),
  })
  t.teardown(async () => {
    stop.abort()
    await followers.stop()
  })
  const signal = AbortSignal.timeout(60_000)
  const all = Array.from({ length: count }, (_, index) => index)
  const have = async (indexes: readonly number[], commit: string): Promise<void> => {
    for (const index of indexes) await followers.until(index, ({ published }) => published?.commit === commit, signal)
  }
  await have(all, first)
  const second = repository.commit({ 'projects/a.txt': '2' })
  let before = host.fetches()
  followers.request(3)
  await have(
    all.filter((index) => !others.includes(index) && index !== unpolled),
    second,
  )
  t.equal(host.fetches() - before, 1)
  for (const index of others) t.equal(followers.status(index).published?.commit, first, 'who names another Secret is another reader')
  t.equal(followers.status(unpolled).published?.commit, first, 'without polling only its own triggers move it')
  before = host.fetches()
  followers.request(others[0] ?? 0)
  await have(others, second)
  t.equal(host.fetches() - before, 1)
  followers.request(unpolled)
  await have([unpolled], second)
})
