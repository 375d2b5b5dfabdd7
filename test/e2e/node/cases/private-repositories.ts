/**
 * Private repositories with the images: over https with a private authority, and over ssh.
 */
import { chmodSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { apiVersion } from '../../../../runtime/api/names.ts'
import { nodeAddress } from '../../../cluster/node/configuration.ts'
import { makeAuthority } from '../../../support/authority.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { makeSshKey, startSshHost } from '../../../support/ssh-host.ts'
import { until } from '../../../support/world.ts'
import { type Cluster, gitToken, isLetIn, patience } from '../cluster.ts'

const namespace = 'private'

export async function readPrivateRepositories(t: Test, cluster: Cluster): Promise<void> {
  await cluster.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } })
  await overHttps(t, cluster)
  await overSsh(t, cluster)
}

async function overHttps(t: Test, cluster: Cluster): Promise<void> {
  const folder = path.join(cluster.given.work, 'private')
  const { certificate, server } = await makeAuthority(path.join(folder, 'authority'), 'an authority of the plant', [nodeAddress])
  const host = await startGitHost(path.join(folder, 'git'), {
    address: nodeAddress,
    tls: { cert: server.certificate, key: server.key },
    before(request, response) {
      if (isLetIn(request.headers.authorization)) return false
      response.writeHead(401, { 'www-authenticate': 'Basic realm="plant"' }).end()
      return true
    },
  })
  t.teardown(async () => host.stop())
  const commit = host.repository('plant.git').commit({ 'projects/line/project.json': '{}' })
  await cluster.apply(
    secret('https', { username: 'plant', password: gitToken, 'ca.crt': certificate }),
    gatewaySync('over-https', {
      repo: `https://${nodeAddress}:${host.port}/plant.git`,
      auth: { basic: { secretRef: { name: 'https' } } },
      caBundle: { secretRef: { name: 'https', key: 'ca.crt' } },
    }),
  )
  t.equal(await published(cluster, 'over-https'), commit)
}

async function overSsh(t: Test, cluster: Cluster): Promise<void> {
  const folder = path.join(cluster.given.work, 'ssh')
  const key = makeSshKey(path.join(folder, 'keys'), 'plant')
  const host = await startSshHost(path.join(folder, 'host'), [key.publicKey], { address: nodeAddress })
  t.teardown(async () => host.stop())
  const repository = cluster.host.repository('over-ssh.git')
  const commit = repository.commit({ 'projects/line/project.json': '{}' })
  chmodSync(cluster.given.work, 0o755)
  await cluster.apply(
    secret('ssh', { key: key.privateKey, hosts: host.knownHosts() }),
    gatewaySync('over-ssh', {
      repo: `ssh://${host.user}@${nodeAddress}:${host.port}${repository.folder}`,
      auth: { sshKey: { secretRef: { name: 'ssh', key: 'key' }, knownHosts: { secretRef: { name: 'ssh', key: 'hosts' } } } },
    }),
  )
  t.equal(await published(cluster, 'over-ssh'), commit)
}

function secret(name: string, stringData: Record<string, string>): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name }, stringData }
}

function gatewaySync(name: string, git: object): object {
  const sync = { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } }
  return { apiVersion, kind: 'GatewaySync', metadata: { namespace, name }, spec: { git: { ref: 'main', ...git }, sync } }
}

async function published(cluster: Cluster, name: string): Promise<string> {
  let seen: unknown
  return await until(
    async () => {
      const status = await cluster.status(namespace, name)
      seen = status?.conditions
      return status?.published?.commit
    },
    `${name} is published`,
    patience.waitMs,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(seen)}`)
  })
}
