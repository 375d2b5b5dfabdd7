/**
 * Private repositories over HTTPS: real git, a real host with TLS, and a real proxy.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import { openPlant, type Secrets } from '../../../support/access-remotes.ts'
import { type Authority, makeAuthority } from '../../../support/authority.ts'
import { startConnectProxy } from '../../../support/connect-proxy.ts'
import { eachHost, type GitHost, type GitHostOptions, type HostMode, startGitHost } from '../../../support/git-host.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { tokenUser } from '../../../../runtime/git/credentials/read.ts'

const basic = (userAndPassword: string): string => `Basic ${Buffer.from(userAndPassword).toString('base64')}`

type Host = { host: GitHost; authority: Authority; repo: string; commit: string }

/** A host that accepts the permitted credentials and answers 403 to the known ones. */
async function privateHost(
  t: Test,
  options: { mode: HostMode; permitted: string[]; known?: string[]; tls?: GitHostOptions['tls'] },
): Promise<Host> {
  const folder = temporaryFolder(t, 'private')
  const authority = await makeAuthority(folder, 'Plant CA')
  const host = await startGitHost(path.join(folder, 'git'), {
    mode: options.mode,
    tls: { ...serving(authority), ...options.tls },
    before(request, response) {
      const { authorization = '' } = request.headers
      if (options.permitted.length === 0 || options.permitted.includes(authorization)) return false
      const status = options.known?.includes(authorization) === true ? 403 : 401
      response.writeHead(
        status,
        status === 401 ? { 'www-authenticate': 'Basic realm="git"', 'content-type': 'text/plain' } : { 'content-type': 'text/plain' },
      )
      response.end('the password of the database is hunter2')
      return true
    },
  })
  t.teardown(async () => host.stop())
  const commit = host.repository('plant.git').commit({ a: '1' })
  return { host, authority, commit, repo: host.url('plant.git/.git') }
}

const serving = ({ server }: Authority) => ({ key: server.key, cert: server.certificate })

const caBundle = { secretRef: { name: 'ca', key: 'ca.crt' } }
const token = { token: { secretRef: { name: 'git', key: 'token' } } }

eachHost(t, 'a token, or a user and password, opens a private repository of a host with a private CA', async (t, mode) => {
  if (!requires(t, 'git', 'openssl')) return
  const { authority, commit, repo, host } = await privateHost(t, {
    mode,
    permitted: [basic('x-access-token:to:ken"1'), basic('plant:pass word')],
  })
  const secrets: Secrets = {
    ca: { 'ca.crt': authority.certificate },
    git: { token: 'to:ken"1\n', username: 'plant', password: 'pass word' },
  }
  const { ask } = openPlant(t, secrets)
  for (const fresh of [true, false]) {
    t.equal(await ask({ repo, caBundle, auth: token }, fresh), commit)
    t.equal(await ask({ repo, caBundle, auth: { basic: { secretRef: { name: 'git' } } } }, fresh), commit)
  }
  t.ok(
    host.headers.every(({ authorization }) => authorization !== undefined),
    'nothing was asked without credentials first',
  )
})

eachHost(t, 'each refusal of an HTTPS host has its own reason and no text from the host', async (t, mode) => {
  if (!requires(t, 'git', 'openssl')) return
  const { authority, repo, host } = await privateHost(t, {
    mode,
    permitted: [basic('x-access-token:good')],
    known: [basic('x-access-token:other')],
  })
  const other = await makeAuthority(temporaryFolder(t, 'other'), 'Other CA')
  const secrets: Secrets = { ca: { 'ca.crt': authority.certificate }, git: { token: 'wrong' }, other: { 'ca.crt': other.certificate } }
  const { ask } = openPlant(t, secrets)
  const where = `127.0.0.1:${host.port}`
  const told: string[] = []
  const is = async (git: Record<string, unknown>, message: string): Promise<void> => {
    for (const fresh of [true, false]) {
      told.push(await ask(git, fresh))
      t.equal(told.at(-1), message)
    }
  }
  await is({ repo, caBundle }, `GitUnauthorized: ${where} refused no credentials; set spec.git.auth (401)`)
  await is({ repo, caBundle, auth: token }, `GitUnauthorized: ${where} refused the user and password or token of spec.git.auth (401)`)
  secrets['git'] = { token: 'other' }
  await is(
    { repo, caBundle, auth: token },
    `GitForbidden: ${where} accepts the user and password or token of spec.git.auth, but denies access to this repository (403)`,
  )
  secrets['git'] = { token: 'good' }
  const lost = host.url('lost.git')
  await is(
    { repo: lost, caBundle, auth: token },
    `RepositoryNotFound: there is no such repository at ${where}, or it is not visible with the user and password or token of spec.git.auth`,
  )
  const untrusted = `GitTlsUntrusted: the certificate of ${where} is not trusted by`
  const advice = 'add a private CA to spec.git.caBundle'
  await is({ repo, auth: token }, `${untrusted} the system's authorities; ${advice}`)
  await is(
    { repo, auth: token, caBundle: { secretRef: { name: 'other', key: 'ca.crt' } } },
    `${untrusted} spec.git.caBundle (CN=Other CA); ${advice}`,
  )
  secrets['ca'] = { 'ca.crt': 'no certificate' }
  t.equal(await ask({ repo, caBundle, auth: token }), 'CredentialsInvalid: spec.git.caBundle does not contain a PEM certificate')
  t.notMatch(told.join('\n'), /hunter2|wrong|good|password of the/, 'nothing of what the host wrote, nothing of a secret')
})

void t.test('a missing Secret, a missing key and an empty key are named', async (t) => {
  const secrets: Secrets = { empty: { token: '\n' }, git: {} }
  const { ask } = openPlant(t, secrets)
  const repo = 'https://git.example/plant.git'
  const from = (name: string) => ({ repo, auth: { token: { secretRef: { name, key: 'token' } } } })
  t.equal(await ask(from('none')), 'SecretNotFound: spec.git.auth.token: Secret "none" does not exist')
  t.equal(await ask(from('git')), 'SecretNotFound: spec.git.auth.token: Secret "git" has no key "token"')
  t.equal(await ask(from('empty')), 'SecretNotFound: spec.git.auth.token: Secret "empty": key "token" is empty')
  t.equal(await ask({ repo, proxy: { secretRef: { name: 'git' } } }), 'SecretNotFound: spec.git.proxy: Secret "git" has no key "url"')
})

eachHost(t, 'two credentials for one repository have two mirrors, and changed credentials are used at once', async (t, mode) => {
  if (!requires(t, 'git', 'openssl')) return
  const { authority, commit, repo } = await privateHost(t, { mode, permitted: [basic('x-access-token:good')] })
  const secrets: Secrets = { ca: { 'ca.crt': authority.certificate }, git: { token: 'good' }, other: { token: 'bad' } }
  const { ask, open } = openPlant(t, secrets)
  const git = { repo, caBundle, auth: token }
  t.equal(await ask(git), commit)
  t.match(await ask({ ...git, auth: { token: { secretRef: { name: 'other', key: 'token' } } } }), /^GitUnauthorized/)
  const before = await open(git)
  t.equal(await open(git), before)
  secrets['git'] = { token: 'stale' }
  t.not(await open(git), before)
  t.match(await ask(git), /^GitUnauthorized/)
  secrets['git'] = { token: 'good' }
  t.equal(await ask(git), commit)
})

// One kind of host: the refusals come in the TLS handshake, before any git protocol.
void t.test('a client certificate opens a host that requires one', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const folder = temporaryFolder(t, 'clients')
  const clients = await makeAuthority(folder, 'Client CA')
  const { authority, commit, repo, host } = await privateHost(t, {
    mode: 'v2',
    permitted: [],
    tls: { requestCert: true, rejectUnauthorized: true, ca: clients.certificate },
  })
  const secrets: Secrets = {
    ca: { 'ca.crt': authority.certificate },
    client: { 'tls.crt': clients.client.certificate, 'tls.key': clients.client.key },
  }
  const { ask } = openPlant(t, secrets)
  const git = { repo, caBundle, auth: { clientCertificate: { secretRef: { name: 'client' } } } }
  t.equal(await ask(git), commit)
  // The host's reset may arrive before its alert, and then only the reset is visible: often with TLS 1.3, where the host refuses after the
  // handshake, and rarely with TLS 1.2, where it refuses during it.
  const desired = (port: number) =>
    `GitUnauthorized: 127.0.0.1:${port} requires a client certificate but got no credentials; set spec.git.auth`
  const older = await startGitHost(path.join(folder, 'older'), {
    tls: { ...serving(authority), requestCert: true, rejectUnauthorized: true, ca: clients.certificate, maxVersion: 'TLSv1.2' },
  })
  t.teardown(async () => older.stop())
  older.repository('plant.git').commit({ a: '1' })
  const brokenOff = (port: number) => `GitUnreachable: the connection to 127.0.0.1:${port} was lost`
  const told = [await ask({ repo: older.url('plant.git/.git'), caBundle })]
  while (told.at(-1) === brokenOff(older.port) && told.length < 50) told.push(await ask({ repo: older.url('plant.git/.git'), caBundle }))
  t.equal(told.at(-1), desired(older.port))
  const answer = await ask({ repo, caBundle })
  t.ok([desired(host.port), brokenOff(host.port)].includes(answer), answer)
  secrets['client'] = { 'tls.crt': clients.client.certificate, 'tls.key': authority.server.key }
  t.equal(await ask(git), 'CredentialsInvalid: spec.git.auth.clientCertificate: tls.key is not the key of tls.crt')
  secrets['client'] = { 'tls.crt': 'none', 'tls.key': 'none' }
  t.equal(await ask(git), 'CredentialsInvalid: spec.git.auth.clientCertificate: tls.crt does not contain a PEM certificate')
})

void t.test("credentials are sent only to the repository's host, even if it redirects", async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const folder = temporaryFolder(t, 'elsewhere')
  const elsewhere = await startGitHost(folder)
  t.teardown(async () => elsewhere.stop())
  const authority = await makeAuthority(folder, 'Plant CA')
  const host = await startGitHost(path.join(folder, 'git'), {
    tls: { key: authority.server.key, cert: authority.server.certificate },
    before(request, response) {
      response.writeHead(302, { location: `${elsewhere.url('plant.git')}${(request.url ?? '').replace(/^\/[^/]*/, '')}` }).end()
      return true
    },
  })
  t.teardown(async () => host.stop())
  const { ask } = openPlant(t, { ca: { 'ca.crt': authority.certificate }, git: { token: 'good' } })
  const told = await ask({ repo: host.url('plant.git'), caBundle, auth: token })
  t.equal(
    told,
    `RepositoryMoved: 127.0.0.1:${host.port} redirects, and redirects are not followed: set spec.git.repo to the new address of the repository; if it redirects to a login page, the credentials of spec.git.auth are missing or expired`,
  )
  t.strictSame(elsewhere.requests, [])
})

eachHost(t, 'a proxy reaches a host that cannot be resolved locally, and receives no git credentials', async (t, mode) => {
  if (!requires(t, 'git', 'openssl')) return
  const { authority, commit, host } = await privateHost(t, { mode, permitted: [basic('x-access-token:good')] })
  const proxy = await startConnectProxy('worker:s3cr:t', { 'git.example': '127.0.0.1' })
  t.teardown(async () => proxy.stop())
  const repo = `https://git.example:${host.port}/plant.git/.git`
  const secrets: Secrets = {
    ca: { 'ca.crt': authority.certificate },
    git: { token: 'good' },
    proxy: { url: `http://worker:s3cr%3At@127.0.0.1:${proxy.port}` },
  }
  const { ask } = openPlant(t, secrets)
  const git = { repo, caBundle, auth: token, proxy: { secretRef: { name: 'proxy' } } }
  t.equal(await ask(git), commit)
  t.ok(
    proxy.asked.length > 0 &&
      proxy.asked.every(({ target, headers }) => target === `git.example:${host.port}` && headers['authorization'] === undefined),
  )
  t.match(await ask({ ...git, proxy: undefined }), /^GitHostUnknown: the host name git\.example cannot be resolved/)
  secrets['proxy'] = { url: `http://127.0.0.1:${proxy.port}` }
  t.equal(
    await ask(git),
    `GitProxyRefused: the proxy 127.0.0.1:${proxy.port} cannot connect to git.example: it requires authentication (407)`,
  )
  secrets['proxy'] = { url: `http://worker:s3cr%3At@127.0.0.1:${proxy.port}` }
  t.match(await ask({ ...git, repo: 'https://127.0.0.1:1/x' }), /^GitProxyRefused: .*it answers with status 502/)
  secrets['proxy'] = { url: 'http://127.0.0.1:1' }
  t.equal(await ask(git), 'GitConnectionRefused: nothing answers at the proxy 127.0.0.1:1')
  secrets['proxy'] = { url: 'socks5://worker:hunter2@127.0.0.1:1' }
  t.equal(
    await ask(git),
    'CredentialsInvalid: spec.git.proxy does not contain the URL of a proxy: http://host:port or https://host:port, optionally with user and password before the host',
  )
})

eachHost(t, "the installation's proxy is used for every host except those in noProxy", async (t, mode) => {
  if (!requires(t, 'git', 'openssl')) return
  const { authority, commit, repo, host } = await privateHost(t, { mode, permitted: [] })
  const proxy = await startConnectProxy(undefined, { 'git.example': '127.0.0.1' })
  t.teardown(async () => proxy.stop())
  const url = `http://127.0.0.1:${proxy.port}`
  const network = { resolve: undefined, proxy: { https: url, http: undefined, noProxy: 'elsewhere.example,127.0.0.0/8' } }
  const { ask } = openPlant(t, { ca: { 'ca.crt': authority.certificate } }, network)
  t.equal(await ask({ repo, caBundle }), commit)
  t.strictSame(proxy.asked, [])
  t.equal(await ask({ repo: `https://git.example:${host.port}/plant.git/.git`, caBundle }), commit)
  t.ok(proxy.asked.length > 0)
})

void t.test('a token is sent with the user name that its host expects', async (t) => {
  const users = {
    'github.com': 'x-access-token',
    'ghe.plant.example': 'x-access-token',
    'gitlab.com': 'oauth2',
    'gitlab.plant.example': 'oauth2',
    'bitbucket.org': 'x-token-auth',
    'dev.azure.com': 'x-access-token',
    'git.plant.example': 'x-access-token',
    'notgitlab.example': 'x-access-token',
  }
  for (const [host, user] of Object.entries(users)) t.equal(tokenUser(host), user, host)
})
