/**
 * The output of real programs when something is missing, too large, damaged or owned by another user, and the reason for each. Refusals of
 * git hosts are tested in credentials/ and git-http.component.test.ts.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { openNetwork } from '../../../../runtime/git/remote/network.ts'
import { createGitMemory, type GitMemory } from '../../../../runtime/git/command/memory.ts'
import { type GitRun, runGit } from '../../../../runtime/git/command/git.ts'
import { faultOf } from '../../../../runtime/git/command/faults.ts'
import { openHost } from '../../../../runtime/git/host/call-host.ts'
import { anonymousRemote, anonymousAccess } from '../../../../runtime/git/remote/remote.ts'
import { openPlant } from '../../../support/access-remotes.ts'
import { matchObject } from '../../../support/assertions.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { commitSimilar, mebibyte } from '../../../support/large-packs.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { absent, requires } from '../../../support/requires.ts'
import { makeSshKey, startSshHost } from '../../../support/ssh-host.ts'

const signal = AbortSignal.timeout(280_000)
const roomy = { maxMemoryBytes: 1024 * mebibyte, maxPackBytes: 1024 * mebibyte }

/** `reason: message`, or the output of git. */
async function outcome(work: Promise<Buffer | string>): Promise<string> {
  try {
    return (await work).toString()
  } catch (error) {
    if (error instanceof Fault) return `${error.reason}: ${error.message}`
    throw error
  }
}

/** A PATH with only these programs. */
function pathWith(t: Test, ...names: string[]): string {
  const folder = temporaryFolder(t, 'path')
  for (const name of names) symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), path.join(folder, name))
  return folder
}

void t.test('a missing program is named', async (t) => {
  if (!requires(t, 'git', 'sh', 'env')) return
  const { folder, commit } = makeRepository(path.join(temporaryFolder(t, 'tools'), 'plant'))
  commit({ a: '1' })
  const { url } = anonymousRemote('ssh://git@git.example/plant.git', { allowLocal: false })
  const about = { url, access: anonymousAccess, proxy: undefined }
  const ask = async (run: Partial<GitRun>): Promise<string> =>
    await outcome(
      runGit({ folder: path.join(folder, '.git'), args: ['rev-parse', 'HEAD'], timeoutMs: 60_000, ...run }, { limits: roomy, signal }),
    )
  const only = (...names: string[]) => ({ environment: { PATH: pathWith(t, ...names) } })
  t.equal(await ask(only('sh')), 'ToolMissing: git is not installed or cannot be run')
  t.equal(await ask(only('git')), 'ToolMissing: sh is not installed or cannot be run: spawn sh ENOENT')
  const args = ['ls-remote', '-q', url.text]
  t.equal(await ask({ ...only('env', 'git', 'sh'), args, protocols: ['ssh'], about }), 'ToolMissing: ssh is not installed or cannot be run')
  const helpers = { environment: { GIT_EXEC_PATH: temporaryFolder(t, 'exec') } }
  t.equal(
    await ask({ ...helpers, args: ['ls-remote', '-q', 'https://git.example/plant.git'], protocols: ['https'], about }),
    'ToolMissing: git-remote-https is not installed; git lacks HTTPS support',
  )
})

void t.test('ssh without a user entry for its user ID is reported as such', async (t) => {
  if (!requires(t, 'ssh', 'setpriv')) return
  if (process.getuid?.() !== 0) {
    absent(t, 'only root may run a program as another user')
    return
  }
  const { stderr } = spawnSync('setpriv', ['--reuid', '54321', '--clear-groups', 'ssh', 'git.example'], { encoding: 'utf8' })
  matchObject(t, faultOf(stderr, 'fetch', undefined), {
    reason: 'ToolMissing',
    message: /^this user ID has no passwd entry, which ssh needs; install libnss_wrapper/,
  })
})

type MemoryLimits = Parameters<Parameters<GitMemory['run']>[3]>[0]

void t.test('a pack too large for the small memory share is fetched with the large one, or refused', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'memory')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant')
  await commitSimilar(repository, 20 * mebibyte)
  // Git needs its memory for longer than the time between two measurements.
  await commitSimilar(host.repository('large'), 120 * mebibyte)
  const usual = createGitMemory()
  const openWith = (large?: MemoryLimits, name = 'plant') => {
    const remote = anonymousRemote(host.url(`${name}/.git`), { allowLocal: false })
    const at = path.join(folder, `mirror-${JSON.stringify(large)}`)
    execFileSync('git', ['init', '-q', '--bare', at])
    const taken: string[] = []
    const memory: GitMemory = {
      limiter: createGitMemory().limiter,
      async run(size, user, own, work) {
        taken.push(size)
        return size === 'large' && large !== undefined ? await work(large, own) : await usual.run(size, user, own, work)
      },
    }
    const call = openHost({ remote, network: openNetwork, limits: roomy, memory })
    const args = ['fetch', '-q', '--depth=1', remote.url.text, '+main:refs/w/incoming']
    return async (): Promise<string> =>
      [await outcome(call({ at, namespace: 'plant', args, timeoutMs: 120_000 }, signal)), ...taken.splice(0)].join(' ').trim()
  }
  t.equal(
    await openWith({ maxMemoryBytes: 41 * mebibyte })(),
    'GitOutOfMemory: a file or pack of this repository needs more memory than git may use small large',
  )
  t.equal(
    await openWith({ maxMemoryBytes: 1_024 * mebibyte, maxTogetherBytes: 30 * mebibyte }, 'large')(),
    'GitOutOfMemory: git and its helper processes together need more memory than they may use small large',
  )
  const fetch = openWith()
  t.equal(await fetch(), 'small large')
  repository.commit({ a: 'changed' })
  t.equal(await fetch(), 'small', 'the pushes after it need less')
})

void t.test('an object that the host has lost is reported, over HTTP and over SSH', async (t) => {
  if (!requires(t, 'git', 'ssh', 'ssh-agent', 'ssh-keygen')) return
  const folder = temporaryFolder(t, 'lost')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant')
  repository.commit({ a: '1', b: '2' })
  const blob = repository.git('rev-parse', 'HEAD:b').toString('utf8').trim()
  rmSync(path.join(repository.folder, '.git/objects', blob.slice(0, 2), blob.slice(2)))
  const { privateKey, publicKey } = makeSshKey(folder, 'plant')
  const ssh = await startSshHost(path.join(folder, 'sshd'), [publicKey])
  t.teardown(async () => ssh.stop())
  const { ask } = openPlant(t, { ssh: { identity: privateKey, known_hosts: ssh.knownHosts() } })
  const lost = 'GitObjectMissing: the git host has lost an object of this commit; git fsck in the repository names it'
  t.equal(await ask({ repo: host.url('plant/.git') }), lost)
  const key = (name: string) => ({ secretRef: { name: 'ssh', key: name } })
  const auth = { sshKey: { ...key('identity'), knownHosts: key('known_hosts') } }
  t.equal(await ask({ repo: `ssh://${ssh.user}@127.0.0.1:${ssh.port}${repository.folder}/.git`, auth }), lost)
})

void t.test('a repository owned by another user at an SSH host is reported as such, not as missing', async (t) => {
  if (!requires(t, 'git', 'ssh', 'ssh-agent', 'ssh-keygen')) return
  if (process.getuid?.() !== 0) {
    absent(t, 'only root may give a repository to another user')
    return
  }
  const folder = temporaryFolder(t, 'owner')
  const repository = makeRepository(path.join(folder, 'plant'))
  repository.commit({ a: '1' })
  for (const name of ['', ...readdirSync(repository.folder, { recursive: true, encoding: 'utf8' })])
    chownSync(path.join(repository.folder, name), 12_345, 12_345)
  const { privateKey, publicKey } = makeSshKey(folder, 'key')
  const ssh = await startSshHost(path.join(folder, 'sshd'), [publicKey])
  t.teardown(async () => ssh.stop())
  const { ask } = openPlant(t, { ssh: { identity: privateKey, known_hosts: ssh.knownHosts() } })
  const key = (name: string) => ({ secretRef: { name: 'ssh', key: name } })
  const auth = { sshKey: { ...key('identity'), knownHosts: key('known_hosts') } }
  const advice = `give it to that user there, or name it in safe.directory of that user's git`
  t.equal(
    await ask({ repo: `ssh://${ssh.user}@127.0.0.1:${ssh.port}${repository.folder}/.git`, auth }),
    `RepositoryNotOwned: at 127.0.0.1:${ssh.port} the repository belongs to another user than ${ssh.user}; ${advice}`,
  )
  t.match(await ask({ repo: repository.folder }), /^[0-9a-f]{40}$/, 'on this machine naming it is enough')
})

void t.test('a certificate for another name, a closed port and an unknown host have different reasons over HTTPS', async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const folder = temporaryFolder(t, 'https')
  const authority = await makeAuthority(folder, 'Plant CA', ['another.example'])
  const host = await startGitHost(path.join(folder, 'git'), { tls: { key: authority.server.key, cert: authority.server.certificate } })
  t.teardown(async () => host.stop())
  mkdirSync(path.join(folder, 'git'), { recursive: true })
  const { ask } = openPlant(t, { ca: { 'ca.crt': authority.certificate } })
  const git = { repo: host.url('plant/.git'), caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } } }
  t.match(await ask(git), /^GitTlsUntrusted: the certificate of 127\.0\.0\.1:\d+ is not trusted by spec\.git\.caBundle \(CN=Plant CA\)/)
  await host.stop()
  t.equal(await ask(git), `GitConnectionRefused: nothing answers at 127.0.0.1:${host.port}`)
  t.equal(
    await ask({ ...git, repo: 'https://nowhere.invalid/plant.git' }),
    'GitHostUnknown: the host name nowhere.invalid cannot be resolved',
  )
})
