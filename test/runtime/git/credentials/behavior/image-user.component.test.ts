/**
 * Private repositories as in the controller's image: bundled, as user 65532 without an entry in /etc/passwd and without a home directory.
 */
import { spawn } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { makeAuthority } from '../../../../support/authority.ts'
import { startGitHost } from '../../../../support/git-host.ts'
import { bundlePrograms } from '../../../../support/measured-process.ts'
import type { AskHostQuestion } from '../../../../support/programs/ask-host.ts'
import { makeRepository, temporaryFolder } from '../../../../support/repository.ts'
import { absent, requires } from '../../../../support/requires.ts'
import { makeSshKey, startSshHost } from '../../../../support/ssh-host.ts'

const imageUser = 65_532
const programs = path.join(import.meta.dirname, '../../../../support/programs')

void t.test("SSH with a passphrase, and HTTPS with a token and a private CA, work as the image's user", async (t) => {
  if (!requires(t, 'git', 'ssh', 'ssh-agent', 'ssh-keygen', 'setpriv', 'openssl')) return
  if (process.getuid?.() !== 0) {
    absent(t, 'only root may run a program as another user')
    return
  }
  const folder = temporaryFolder(t, 'image-user')
  chmodSync(folder, 0o755)
  const [program = ''] = await bundlePrograms([path.join(programs, 'ask-host.ts')], folder)
  const node = path.join(folder, 'node')
  cpSync(process.execPath, node)
  const own = path.join(folder, 'own')
  mkdirSync(own)
  chownSync(own, imageUser, imageUser)
  const ask = async (question: Omit<AskHostQuestion, 'folder'>): Promise<string> => {
    const args = ['--reuid', String(imageUser), '--regid', String(imageUser), '--clear-groups', '--no-new-privs', node, program]
    const child = spawn('setpriv', args, { cwd: '/', stdio: ['pipe', 'pipe', 'pipe'], env: { PATH: process.env['PATH'], TMPDIR: own } })
    child.stdin.end(JSON.stringify({ ...question, folder: own }))
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    return out === '' ? errors : out
  }

  const { privateKey, publicKey } = makeSshKey(path.join(folder, 'keys'), 'plant', 'passphrase')
  const sshHost = await startSshHost(path.join(folder, 'sshd'), [publicKey])
  t.teardown(async () => sshHost.stop())
  const commit = makeRepository(path.join(folder, 'plant.git')).commit({ a: '1' })
  const key = (name: string) => ({ secretRef: { name: 'ssh', key: name } })
  const sshKey = { ...key('identity'), passphrase: key('passphrase'), knownHosts: key('known_hosts') }
  t.equal(
    await ask({
      git: { repo: `ssh://${sshHost.user}@127.0.0.1:${sshHost.port}${folder}/plant.git/.git`, ref: 'main', auth: { sshKey } },
      secrets: { ssh: { identity: privateKey, passphrase: 'passphrase', known_hosts: sshHost.knownHosts() } },
    }),
    commit,
  )

  const authority = await makeAuthority(path.join(folder, 'ca'), 'Plant CA')
  const host = await startGitHost(path.join(folder, 'git'), {
    tls: { key: authority.server.key, cert: authority.server.certificate },
    before({ headers }, response) {
      if (headers.authorization !== undefined) return false
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return true
    },
  })
  t.teardown(async () => host.stop())
  const second = host.repository('plant.git').commit({ a: '2' })
  t.equal(
    await ask({
      git: {
        repo: host.url('plant.git/.git'),
        ref: 'main',
        auth: { token: { secretRef: { name: 'git', key: 'token' } } },
        caBundle: { secretRef: { name: 'git', key: 'ca.crt' } },
      },
      secrets: { git: { token: 'secret', 'ca.crt': authority.certificate } },
    }),
    second,
  )
})
