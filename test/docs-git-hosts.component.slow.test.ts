/**
 * Following a page of docs/how-to/git-hosts leads to a GatewaySync that is Ready: its commands, Secrets and YAML run against real git hosts
 * under the names of the page.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import { systemClock } from '../runtime/platform/clock.ts'
import { parseRepositoryUrl } from '../runtime/api/schema/repository-url.ts'
import type { GatewaySyncStatus } from '../runtime/api/schema/status.ts'
import { createRemotes } from '../runtime/git/remotes.ts'
import { readSecretFolder } from '../runtime/standalone/secrets.ts'
import { matchObject } from './support/assertions.ts'
import { makeAuthority } from './support/authority.ts'
import { startConnectProxy } from './support/connect-proxy.ts'
import { startFollowers } from './support/followers.ts'
import { type GitHostOptions, startGitHost } from './support/git-host.ts'
import { startGithubApi } from './support/github-api.ts'
import { makeRepository, temporaryFolder } from './support/repository.ts'
import { requires } from './support/requires.ts'
import { runCli } from './support/run-cli.ts'
import { type SshHost, startSshHost } from './support/ssh-host.ts'

const folder = path.resolve(import.meta.dirname, '../docs/how-to/git-hosts')
const pages = readdirSync(folder).filter((name) => name !== 'README.md')
const programs = ['git', 'ssh', 'ssh-agent', 'ssh-keygen', 'ssh-keyscan', 'openssl'] as const

type Git = { repo: string; ref: string; auth?: Record<string, object>; caBundle?: object }
type GatewaySync = { kind?: string; spec: { git: Git } & Record<string, unknown> }

/** The user name that each host needs or accepts with a token. */
const tokenUsers: Record<string, string> = {
  'github.com': 'x-access-token',
  'gitlab.com': 'oauth2',
  'bitbucket.org': 'x-token-auth',
  'dev.azure.com': 'x-access-token',
  'git.plant.example': 'x-access-token',
}

/** The content of the page's file `token`. */
const token = 'token-of-the-host'

for (const page of pages) {
  void t.test(`${page}: its steps lead to a GatewaySync that is Ready`, async (t) => {
    if (!requires(t, ...programs)) return
    const text = readFileSync(path.join(folder, page), 'utf8')
    const documents = documentsOf(text)
    const [whole] = documents
    if (whole?.kind !== 'GatewaySync') throw new Error('the page shows no whole GatewaySync first')
    const hosts = await startHosts(t, text, documents)
    for (const { spec } of documents) {
      const git = await hosts.reach(spec.git)
      const status = await follow(t, hosts.at, { ...whole.spec, git }, hosts.names)
      matchObject(t, conditionOf(status, 'SourceReady'), { status: 'True', reason: 'Fetched' }, spec.git.repo)
      matchObject(t, conditionOf(status, 'Ready'), { status: 'True', reason: 'NoGateways' }, spec.git.repo)
      t.equal(status.published?.commit, hosts.commitOf(spec.git), spec.git.repo)
    }
    await runWithoutKubernetes(t, hosts, whole)
  })
}

void t.test('README.md: a client certificate leads to Ready as shown', async (t) => {
  if (!requires(t, ...programs)) return
  const text = readFileSync(path.join(folder, 'README.md'), 'utf8')
  const [part, ...others] = documentsOf(text)
  if (part === undefined || others.length > 0) throw new Error('another number')
  const spec = { git: { ...part.spec.git, repo: 'https://git.plant.example/acme/plant.git', ref: 'main' } }
  const sync = { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } }
  const hosts = await startHosts(t, text, [{ spec }], true)
  const git = await hosts.reach(spec.git)
  matchObject(t, conditionOf(await follow(t, hosts.at, { git, sync }, hosts.names), 'Ready'), { status: 'True' })
})

/** The GatewaySyncs of a page, complete ones and parts with a `spec.git`. */
function documentsOf(text: string): GatewaySync[] {
  return [...text.matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml = '']) => parse(yaml) as GatewaySync)
}

/** Creates the Secrets of a page's kubectl commands; files are read from the paths in the page. */
function makeSecrets(at: string, text: string): void {
  const read = (file: string): string => (existsSync(path.join(at, file)) ? readFileSync(path.join(at, file), 'utf8') : '')
  const put = (name: string, key: string, value: string): void => {
    mkdirSync(path.join(at, 'secrets', name), { recursive: true })
    writeFileSync(path.join(at, 'secrets', name, key), value)
  }
  for (const [, kind = '', name = '', rest = ''] of text.matchAll(/^kubectl create secret (generic|tls) (\S+) (.*)$/gm)) {
    if (kind === 'tls') put(name, 'tls.crt', read(/--cert=(\S+)/.exec(rest)?.[1] ?? ''))
    if (kind === 'tls') put(name, 'tls.key', read(/--key=(\S+)/.exec(rest)?.[1] ?? ''))
    for (const [, key = '', file = ''] of rest.matchAll(/--from-file=([^= ]+)=(\S+)/g)) put(name, key, read(file))
    for (const [, key = '', value = ''] of rest.matchAll(/--from-literal=([^= ]+)='?([^' ]+)/g)) put(name, key, value)
  }
}

type Hosts = {
  /** The folder in which the commands of the page ran, with the Secrets as folders. */
  at: string
  names: string[]
  /** `spec.git` with the port of the simulated host, which accepts its credential from then on. */
  reach(git: Git): Promise<Git>
  commitOf(git: Git): string
  /** A proxy that resolves the names of the hosts. */
  proxyUrl: string
}

/** The git hosts of a page under their names, after steps 1 and 2 of the page. */
async function startHosts(t: Test, text: string, documents: readonly GatewaySync[], asksForCertificate = false): Promise<Hosts> {
  const at = temporaryFolder(t, 'page')
  const names = documents.map(({ spec }) => hostOf(spec.git))
  const authority = await makeAuthority(path.join(at, 'authority'), 'Plant CA', [...names, '127.0.0.1'])
  const app = documents.map(({ spec }) => spec.git.auth?.['githubApp']).find((found) => found !== undefined)
  const tls = { key: authority.server.key, cert: authority.server.certificate }
  const api = await startGithubApi(tls, (app ?? { appId: 1, installationId: 1 }) as { appId: number; installationId: number })
  const proxy = await startConnectProxy(undefined, Object.fromEntries(names.map((name) => [name, '127.0.0.1'])))
  let desired: string | undefined
  const before: GitHostOptions['before'] = ({ headers }, response) => {
    if (desired === undefined || headers.authorization === `Basic ${Buffer.from(desired).toString('base64')}`) return false
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
    return true
  }
  const clients = asksForCertificate ? { requestCert: true, rejectUnauthorized: true, ca: authority.certificate } : {}
  const host = await startGitHost(path.join(at, 'git'), { tls: { ...tls, ...clients }, before })
  t.teardown(async () => Promise.all([api.stop(), proxy.stop(), host.stop()]))

  for (const [name, content] of Object.entries({
    token: `${token}\n`,
    'plant-ca.crt': authority.certificate,
    'plant.private-key.pem': api.privateKey,
    'client.crt': authority.client.certificate,
    'client.key': authority.client.key,
    'authority.crt': authority.certificate,
  }))
    writeFileSync(path.join(at, name), content)
  const ssh = await startSsh(t, at, text)
  makeSecrets(at, text)
  makeSecrets(at, 'kubectl create secret generic authority-of-the-test --from-file=ca.crt=authority.crt')

  const commits = new Map<string, string>()
  for (const { spec } of documents) {
    const place = placeOf(spec.git)
    if (!commits.has(place)) commits.set(place, makeRepository(path.join(at, place)).commit({ 'projects/a': '1' }))
  }
  return {
    at,
    names,
    proxyUrl: `http://127.0.0.1:${proxy.port}`,
    commitOf: (git) => commits.get(placeOf(git)) ?? '',
    async reach(git) {
      const name = hostOf(git)
      if (git.auth?.['sshKey'] !== undefined) {
        if (ssh === undefined) throw new Error('the page makes no key')
        return { ...git, repo: `ssh://${ssh.user}@${name}:${ssh.port}${at}/${placeOf(git)}` }
      }
      const { basic, githubApp } = git.auth ?? {}
      const secret = (basic as { secretRef: { name: string } } | undefined)?.secretRef.name
      const read = (key: string): string => readFileSync(path.join(at, 'secrets', secret ?? '', key), 'utf8').trim()
      desired =
        secret !== undefined
          ? `${read('username')}:${read('password')}`
          : githubApp !== undefined
            ? `x-access-token:ghs_${api.given.length}`
            : git.auth?.['token'] !== undefined
              ? `${tokenUsers[name] ?? ''}:${token}`
              : undefined
      return {
        caBundle: { secretRef: { name: 'authority-of-the-test', key: 'ca.crt' } },
        ...git,
        repo: git.repo.replace(name, `${name}:${host.port}`),
        ...(githubApp === undefined ? {} : { auth: { githubApp: { ...githubApp, apiBaseURL: api.url } } }),
      }
    },
  }
}

/** Runs the page's OpenSSH commands, with a real sshd that accepts its key as described. */
async function startSsh(t: Test, at: string, text: string): Promise<SshHost | undefined> {
  const commands = [...text.matchAll(/^ssh-key.*$/gm)].map(([command]) => command)
  if (commands.length === 0) return undefined
  const run = (command: string): string => execFileSync('/bin/sh', ['-ec', command], { cwd: at, encoding: 'utf8' })
  const [make = '', scan = '', print = ''] = commands
  run(`${make} -q`)
  const options = /^(restrict,command="git-upload-pack )\/([^"]*" )/m.exec(text)
  const restriction = options === null ? '' : `${options[1]}${at}/ssh/${options[2]}`
  const host = await startSshHost(path.join(at, 'sshd'), [`${restriction}${readFileSync(path.join(at, 'identity.pub'), 'utf8')}`])
  t.teardown(async () => host.stop())
  const [, name = ''] = /^ssh-keyscan (\S+)/.exec(scan) ?? []
  run(`${scan.replace(name, `-p ${host.port} 127.0.0.1`)} 2>/dev/null`)
  t.match(run(print), /SHA256:/, 'fingerprints to compare')
  const file = path.join(at, 'known_hosts')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('127.0.0.1', name))
  return host
}

/** Applies a GatewaySync like a controller, and waits until it is Ready or has a reason why not. */
async function follow(t: Test, at: string, spec: { git: Git } & Record<string, unknown>, names: string[]): Promise<GatewaySyncStatus> {
  const stop = new AbortController()
  const network = {
    proxy: undefined,
    async resolve(name: string) {
      if (![...names, '127.0.0.1'].includes(name)) throw new Error(`${name} was looked up, not ${names.join(' or ')}`)
      return ['127.0.0.1']
    },
  }
  const readSecret = readSecretFolder(path.join(at, 'secrets'))
  const remoteOf = createRemotes({ allowLocal: false, allowedHosts: [], readSecret, network, clock: systemClock, signal: stop.signal })
  const mirrors = temporaryFolder(t, 'page-mirrors')
  const follower = startFollowers({ folder: mirrors, spec: () => spec, count: 1, remoteOf, network })
  try {
    const isTold = (status: GatewaySyncStatus): boolean =>
      conditionOf(status, 'Ready')?.status === 'True' || conditionOf(status, 'SourceReady')?.status === 'False'
    return await follower.until(0, isTold, AbortSignal.timeout(120_000))
  } finally {
    await follower.stop()
    stop.abort()
  }
}

/** Runs the command of README.md for the page's GatewaySync like a user, and ends with the first sync. */
async function runWithoutKubernetes(t: Test, hosts: Hosts, whole: GatewaySync): Promise<void> {
  const [, command = ''] = /^cluster-sync (.*)$/m.exec(readFileSync(path.join(folder, 'README.md'), 'utf8')) ?? []
  const git = await hosts.reach(whole.spec.git)
  // A proxy resolves the names of the hosts; ssh has no proxy.
  const isSsh = git.auth?.['sshKey'] !== undefined
  const name = hostOf(git)
  if (isSsh) git.repo = git.repo.replace(name, '127.0.0.1')
  const knownHosts = path.join(hosts.at, 'secrets/git/known_hosts')
  if (isSsh) writeFileSync(knownHosts, readFileSync(knownHosts, 'utf8').replaceAll(name, '127.0.0.1'))
  writeFileSync(path.join(hosts.at, 'plant.yaml'), stringify({ ...whole, spec: { ...whole.spec, git } }))
  const data = path.join(hosts.at, 'data')
  mkdirSync(data)
  const args = command.replace('/usr/local/bin/ignition/data', data).split(' ')
  const { code, stdout, stderr } = await runCli([...args, '--once'], {
    cwd: hosts.at,
    timeoutMs: 120_000,
    env: { HTTPS_PROXY: hosts.proxyUrl },
  })
  t.equal(code, 0, `${stdout}${stderr}`)
  t.strictSame(readdirSync(path.join(data, 'projects')), ['a'])
}

function conditionOf({ conditions = [] }: GatewaySyncStatus, type: string) {
  return conditions.find((condition) => condition.type === type)
}

/** The path of a page's repository below the folder of its hosts. */
function placeOf({ repo }: Git): string {
  const [, path = ''] = /^(?:https|ssh):\/\/[^/]*\/(.*)$/.exec(repo) ?? /^[^:]*:(.*)$/.exec(repo) ?? []
  return `${repo.startsWith('https:') ? 'git' : 'ssh'}/${path}`
}

function hostOf({ repo }: Git): string {
  const url = parseRepositoryUrl(repo)
  if (url === undefined) throw new Error(`${repo} is no repository`)
  return url.host
}
