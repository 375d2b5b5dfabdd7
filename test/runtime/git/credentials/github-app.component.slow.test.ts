/**
 * Repositories behind a GitHub App: real git, a host that accepts only current tokens, and an API that verifies signatures.
 */
import { createPrivateKey, randomBytes } from 'node:crypto'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { createAppTokens } from '../../../../runtime/git/credentials/github-app.ts'
import { openPlant, type Secrets } from '../../../support/access-remotes.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { startConnectProxy } from '../../../support/connect-proxy.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { startGithubApi } from '../../../support/github-api.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import type { ResolveHost } from '../../../../runtime/git/remote/network.ts'

const app = { appId: 7, installationId: 11 }

async function setUp(t: Test) {
  const folder = temporaryFolder(t, 'app')
  const authority = await makeAuthority(folder, 'Plant CA')
  const tls = { key: authority.server.key, cert: authority.server.certificate }
  const api = await startGithubApi(tls, app)
  t.teardown(async () => api.stop())
  const taken = { token: 'ghs_0' }
  const host = await startGitHost(path.join(folder, 'git'), {
    tls,
    before({ headers }, response) {
      if (headers.authorization === `Basic ${Buffer.from(`x-access-token:${taken.token}`).toString('base64')}`) return false
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return true
    },
  })
  t.teardown(async () => host.stop())
  const commit = host.repository('plant.git').commit({ a: '1' })
  const secrets: Secrets = { ca: { 'ca.crt': authority.certificate }, app: { 'key.pem': api.privateKey } }
  const git = {
    repo: host.url('plant.git/.git'),
    caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } },
    auth: { githubApp: { ...app, privateKeySecretRef: { name: 'app', key: 'key.pem' }, apiBaseURL: api.url } },
  }
  return { api, secrets, git, commit, taken, where: new URL(api.url).host, authority }
}

void t.test('an App token is used while it lasts, and replaced when the host rejects it', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { api, secrets, git, commit, taken } = await setUp(t)
  const { ask } = openPlant(t, secrets)
  for (const fresh of [true, false, true]) t.equal(await ask(git, fresh), commit)
  t.strictSame(api.given, ['ghs_0'])
  taken.token = 'ghs_1'
  t.match(await ask(git), /^GitUnauthorized: .* refused the token of the GitHub App \(401\)$/)
  t.equal(await ask(git), commit)
  t.strictSame(api.given, ['ghs_0', 'ghs_1'])
})

void t.test("each refusal of the API says what to check, and contains nothing of the API's response", async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { api, secrets, git, where } = await setUp(t)
  const { ask } = openPlant(t, secrets)
  const another = await startGithubApi({}, app)
  await another.stop()
  secrets['app'] = { 'key.pem': another.privateKey }
  t.equal(
    await ask(git),
    `GithubAppRefused: ${where} refused App 7: appId and private key do not belong to the same App, or the clock of this machine is wrong (401)`,
  )
  secrets['app'] = { 'key.pem': 'no key' }
  t.equal(await ask(git), 'CredentialsInvalid: spec.git.auth.githubApp.privateKeySecretRef does not contain a private key in PEM')
  secrets['app'] = { 'key.pem': api.privateKey }
  const elsewhere = { ...git, auth: { githubApp: { ...git.auth.githubApp, installationId: 12 } } }
  t.equal(await ask(elsewhere), `GithubAppRefused: ${where} has no installation 12 of App 7 (404)`)
  const long = JSON.stringify({ token: 'x'.repeat(5_000), expires_at: '2099-01-01T00:00:00Z' })
  for (const body of ['hunter2', '{"token":7}', '{"token":"hunter2"}', 'x'.repeat(100_000), long]) {
    api.answer = { status: 201, body }
    t.equal(await ask(git), `GithubAppRefused: ${where} issued no token for App 7: status 201`)
  }
  api.answer = { status: 302, body: '' }
  t.equal(await ask(git), `GithubAppRefused: ${where} issued no token for App 7: status 302`, 'no redirect is followed')
  await api.stop()
  t.equal(await ask(git), `GithubAppRefused: the API at ${where} cannot be reached: ECONNREFUSED`)
})

void t.test('the API is called through the same proxy as the git host', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { secrets, git, commit, where } = await setUp(t)
  const proxy = await startConnectProxy('worker:s3cret')
  t.teardown(async () => proxy.stop())
  secrets['proxy'] = { url: `http://worker:s3cret@127.0.0.1:${proxy.port}` }
  const { ask } = openPlant(t, secrets)
  t.equal(await ask({ ...git, proxy: { secretRef: { name: 'proxy' } } }), commit)
  t.ok(proxy.asked.some(({ target }) => target === where))
})

void t.test('a proxy is reached at the address permitted for its name, and not used for a forbidden address', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { secrets, git, commit, where } = await setUp(t)
  const proxy = await startConnectProxy('worker:100%')
  t.teardown(async () => proxy.stop())
  // No resolver knows this name, so only the address found by `resolve` leads to the proxy.
  secrets['proxy'] = { url: `http://worker:100%@proxy.invalid:${proxy.port}` }
  const asked: string[] = []
  const resolve: ResolveHost = async (host) => {
    asked.push(host)
    if (host === '169.254.169.254') throw new Fault('RepositoryNotAllowed', 'not there')
    return ['127.0.0.1']
  }
  const { ask } = openPlant(t, secrets, { resolve, proxy: undefined })
  const proxied = { ...git, proxy: { secretRef: { name: 'proxy' } } }
  t.equal(await ask(proxied), commit)
  t.ok(proxy.asked.some(({ target }) => target === where))
  const before = proxy.asked.length
  t.equal(await ask({ ...proxied, repo: 'https://169.254.169.254/plant.git' }), 'RepositoryNotAllowed: not there')
  const elsewhere = { githubApp: { ...git.auth.githubApp, apiBaseURL: 'https://169.254.169.254' } }
  t.equal(await ask({ ...proxied, auth: elsewhere }), 'RepositoryNotAllowed: not there')
  t.equal(proxy.asked.length, before)
})

async function openTokens(t: Test) {
  const authority = await makeAuthority(temporaryFolder(t, 'tokens'), 'Plant CA')
  const api = await startGithubApi({ key: authority.server.key, cert: authority.server.certificate }, app)
  t.teardown(async () => api.stop())
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const time = { aheadMs: 0, waits: 0 }
  const clock = {
    ...systemClock,
    now: () => systemClock.now().add({ milliseconds: time.aheadMs }),
    wait: async () => void (time.waits += 1),
  }
  const tokens = createAppTokens(clock, stop.signal)
  const way = async () => ({ caBundle: authority.certificate, proxy: undefined, addresses: undefined })
  const key = (owner: string, privateKey = api.privateKey) => ({ namespace: 'plant', owner, ...app, apiBaseURL: api.url, privateKey })
  const ask = async (owner: string, privateKey?: string): Promise<string> =>
    await tokens.token(key(owner, privateKey), way, AbortSignal.timeout(20_000))
  return { api, tokens, key, ask, time }
}

void t.test('tokens are cached by owner and API, and shared by calls at the same time', async (t) => {
  const { api, ask } = await openTokens(t)
  t.equal(await ask('plant/a'), 'ghs_0')
  t.equal(await ask('plant/a'), 'ghs_0')
  t.equal(await ask('other/a'), 'ghs_1', 'another tenant with the same numbers gets a token of its own')
  t.strictSame(await Promise.all([ask('third/a'), ask('third/a')]), ['ghs_2', 'ghs_2'], 'one request for both')
  t.strictSame(api.given, ['ghs_0', 'ghs_1', 'ghs_2'])
})

void t.test('a token that expires within five minutes is replaced by a call that needs it, never by a timer', async (t) => {
  const { api, ask, time } = await openTokens(t)
  t.equal(await ask('plant/a'), 'ghs_0')
  time.aheadMs = 54 * 60_000
  t.equal(await ask('plant/a'), 'ghs_0')
  time.aheadMs = 56 * 60_000
  api.answer = { status: 503, body: '' }
  t.equal(await ask('plant/a'), 'ghs_0', 'the API fails, and the present token still lasts')
  api.answer = undefined
  api.lastsMs = 58 * 60_000
  t.strictSame(await Promise.all([ask('plant/a'), ask('plant/a')]), ['ghs_1', 'ghs_1'], 'the API already issued a shorter one')
  api.answer = { status: 503, body: '' }
  time.aheadMs = 57 * 60_000
  await rejectsWith(t, ask('plant/a'), { reason: 'GithubAppRefused' })
  await rejectsWith(t, ask('plant/a'), { reason: 'GithubAppRefused' })
  api.answer = undefined
  t.equal(await ask('plant/a'), 'ghs_2')
  t.equal(time.waits, 0)
})

void t.test('a call that is aborted does not wait for an API that does not answer', async (t) => {
  const { tokens, key } = await openTokens(t)
  const left = new AbortController()
  const waiting = tokens.token(key('plant/c'), async () => await new Promise<never>(() => undefined), left.signal)
  left.abort(new Error('the call was aborted'))
  await rejectsWith(t, waiting, { message: 'the call was aborted' })
})

void t.test('a key that takes long to sign with is refused', async (t) => {
  const { api, ask } = await openTokens(t)
  const holds = (bits: number): string =>
    `spec.git.auth.githubApp.privateKeySecretRef contains an RSA key of ${bits} bits; keys of 2048 to 4096 bits are accepted`
  await rejectsWith(t, ask('plant/a', keyOfBytes(513)), { reason: 'CredentialsInvalid', message: holds(4_104) })
  await rejectsWith(t, ask('plant/a', keyOfBytes(128)), { reason: 'CredentialsInvalid', message: holds(1_024) })
  t.strictSame(api.given, [])
})

/** A key of random numbers, which nothing can sign with: to compute a long one takes seconds. */
function keyOfBytes(bytes: number): string {
  const number = (length: number): string => {
    const random = randomBytes(length)
    random[0] = 0xff
    random[length - 1] = 0xff
    return random.toString('base64url')
  }
  const half = Math.ceil(bytes / 2)
  const primes = { p: number(half), q: number(half), dp: number(half), dq: number(half), qi: number(half) }
  const key = createPrivateKey({ format: 'jwk', key: { kty: 'RSA', e: 'AQAB', n: number(bytes), d: number(bytes), ...primes } })
  return key.export({ type: 'pkcs1', format: 'pem' }).toString()
}
