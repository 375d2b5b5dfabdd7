import { readdirSync, readlinkSync } from 'node:fs'
import os from 'node:os'
import t from 'tap'
import { connect } from '../../../../runtime/git/host/connect.ts'
import { openNetwork } from '../../../../runtime/git/remote/network.ts'
import { requireRepository } from '../../../../runtime/git/remote/remote.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { makeSshKey } from '../../../support/ssh-host.ts'

const signal = AbortSignal.timeout(60_000)
const none = { identity: 'plant', texts: [], caBundle: undefined, proxy: undefined }

/** What this process holds for calls of git in the folder for temporary files. */
function held(): number {
  const open = readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)]
    } catch {
      return []
    }
  })
  const folders = readdirSync(os.tmpdir()).filter((name) => name.startsWith(`cluster-sync-ssh-${process.pid}-`))
  return open.filter((file) => file.startsWith(`${os.tmpdir()}/.cluster-sync-`)).length + folders.length
}

void t.test('a call holds no certificate or key in a file until git starts', async (t) => {
  if (!requires(t, 'openssl', 'ssh-agent', 'ssh-add', 'ssh-keygen')) return
  const folder = temporaryFolder(t, 'connect')
  const { certificate, client } = await makeAuthority(folder, 'plant')
  const { privateKey } = makeSshKey(folder, 'plant')
  const kinds = {
    https: { ...none, credentials: { kind: 'clientCertificate', certificate: client.certificate, key: client.key }, caBundle: certificate },
    ssh: { ...none, credentials: { kind: 'ssh', privateKey, passphrase: undefined, knownHosts: 'git.example ssh-ed25519 AAAA' } },
  } as const
  for (const [protocol, repository, files] of [
    ['https', 'https://git.example/plant.git', 3],
    ['ssh', 'ssh://git@git.example/plant.git', 1],
  ] as const) {
    const url = requireRepository(repository, { allowLocal: false })
    const open = await connect({ url, access: kinds[protocol] }, openNetwork, signal)
    t.equal(held(), 0, protocol)
    const { release } = await open(signal)
    t.equal(held(), files, protocol)
    await release()
    t.equal(held(), 0, protocol)
  }
})
