/**
 * Private repositories over SSH: real git and ssh with an OpenSSH server.
 */
import { readdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { Network } from '../../../../runtime/git/remote/network.ts'
import { openPlant, type Secrets } from '../../../support/access-remotes.ts'
import { eachHost, type HostMode } from '../../../support/git-host.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { makeSshKey, type SshHost, startSshHost } from '../../../support/ssh-host.ts'

type SetUp = {
  host: SshHost
  secrets: Secrets
  earlier: string
  commit: string
  folder: string
  repo: string
  where: string
  git: Record<string, unknown>
}

const key = (name: string, key: string) => ({ secretRef: { name, key } })
const sshKey = { secretRef: { name: 'ssh', key: 'identity' }, knownHosts: key('ssh', 'known_hosts') }

async function setUp(t: Test, { passphrase = '', mode = 'v2' }: { passphrase?: string; mode?: HostMode } = {}): Promise<SetUp> {
  const folder = temporaryFolder(t, 'ssh')
  const { privateKey, publicKey } = makeSshKey(folder, 'plant', passphrase)
  const host = await startSshHost(path.join(folder, 'sshd'), [publicKey], { mode })
  t.teardown(async () => host.stop())
  const repository = makeRepository(path.join(folder, 'plant.git'))
  const earlier = repository.commit({ a: '0' })
  const commit = repository.commit({ a: '1' })
  const repo = `ssh://${host.user}@127.0.0.1:${host.port}${folder}/plant.git/.git`
  const secrets = { ssh: { identity: privateKey, known_hosts: host.knownHosts(), passphrase } }
  return { host, secrets, earlier, commit, folder, repo, where: `127.0.0.1:${host.port}`, git: { repo, auth: { sshKey } } }
}

const programs = ['git', 'ssh', 'ssh-agent', 'ssh-add', 'ssh-keygen'] as const

eachHost(t, 'a key and known host keys open a repository over ssh, and nothing of them stays', async (t, mode) => {
  if (!requires(t, ...programs)) return
  const { secrets, earlier, commit, git } = await setUp(t, { mode })
  const { ask } = openPlant(t, secrets)
  for (const fresh of [true, false]) t.equal(await ask(git, fresh), commit)
  t.equal(await ask({ ...git, ref: earlier }), earlier)
  t.strictSame(
    readdirSync(os.tmpdir()).filter((name) => name.startsWith(`cluster-sync-ssh-${process.pid}-`)),
    [],
  )
})

void t.test('a key with Windows line endings opens the repository', async (t) => {
  if (!requires(t, ...programs)) return
  const { secrets, commit, git } = await setUp(t)
  const { identity = '', ...hosts } = secrets['ssh'] ?? {}
  secrets['ssh'] = { ...hosts, identity: identity.replaceAll('\n', '\r\n') }
  t.equal(await openPlant(t, secrets).ask(git), commit)
})

void t.test('a key with a passphrase needs that passphrase', async (t) => {
  if (!requires(t, ...programs)) return
  const { secrets, commit, git } = await setUp(t, { passphrase: 'pass "phrase" $x' })
  const { ask } = openPlant(t, secrets)
  const withPhrase = { ...git, auth: { sshKey: { ...sshKey, passphrase: key('ssh', 'passphrase') } } }
  t.equal(await ask(withPhrase), commit)
  const unreadable = 'CredentialsInvalid: spec.git.auth.sshKey: ssh cannot read this private key, or'
  t.equal(await ask(git), `${unreadable} it has a passphrase (spec.git.auth.sshKey.passphrase)`)
  secrets['ssh'] = { ...secrets['ssh'], passphrase: 'another' }
  t.equal(await ask(withPhrase), `${unreadable} the passphrase is wrong`)
  secrets['ssh'] = { ...secrets['ssh'], identity: 'no key' }
  t.equal(await ask(withPhrase), `${unreadable} the passphrase is wrong`)
})

eachHost(t, 'each refusal of an SSH host has its own reason and no text from the host', async (t, mode) => {
  if (!requires(t, ...programs)) return
  const { host, secrets, commit, git, folder, where, repo } = await setUp(t, { mode })
  const { ask } = openPlant(t, secrets)
  const own = secrets['ssh'] ?? {}
  t.equal(
    await ask({ ...git, repo: repo.replace('plant.git/.git', 'lost.git') }),
    `RepositoryNotFound: there is no such repository at ${where}, or it is not visible with the key of spec.git.auth.sshKey`,
  )
  secrets['ssh'] = { ...own, identity: makeSshKey(folder, 'stranger').privateKey }
  t.equal(await ask(git), `GitKeyRefused: ${where} refused the key of spec.git.auth.sshKey for user ${host.user}`)
  secrets['ssh'] = { ...own, known_hosts: host.knownHosts().replace('127.0.0.1', 'elsewhere.example') }
  t.equal(await ask(git), `GitHostKeyUnknown: spec.git.auth.sshKey.knownHosts has no host key of ${where} (ssh-keyscan prints them)`)
  const anyHostKey = { ...git, auth: { sshKey: { secretRef: sshKey.secretRef, insecureIgnoreHostKey: true } } }
  t.equal(await ask(anyHostKey), commit)
  secrets['ssh'] = own
  await host.changeHostKey()
  t.equal(
    await ask(git),
    `GitHostKeyChanged: the host key of ${where} differs from the one in spec.git.auth.sshKey.knownHosts; another server may pose as the host`,
  )
  t.equal(await ask(anyHostKey), commit)
  secrets['ssh'] = { ...own, known_hosts: host.knownHosts() }
  t.equal(await ask(git), commit, 'the new host key is taken once the Secret has it')
  await host.stop()
  t.equal(await ask(git), `GitConnectionRefused: nothing answers at ${where}`)
  t.equal(await ask({ ...git, repo: 'git@nowhere.invalid:x' }), 'GitHostUnknown: the host name nowhere.invalid cannot be resolved')
})

void t.test('ssh connects to the resolved address and checks host keys by name', async (t) => {
  if (!requires(t, ...programs)) return
  const { host, secrets, commit, git, repo } = await setUp(t)
  const asked: string[] = []
  const network: Network = {
    proxy: undefined,
    async resolve(name) {
      asked.push(name)
      return ['127.0.0.1']
    },
  }
  secrets['ssh'] = { ...secrets['ssh'], known_hosts: host.knownHosts().replace('127.0.0.1', 'git.example') }
  const { ask } = openPlant(t, secrets, network)
  t.equal(await ask({ ...git, repo: repo.replace('127.0.0.1', 'git.example') }), commit)
  t.ok(asked.length > 0 && asked.every((name) => name === 'git.example'))
})
