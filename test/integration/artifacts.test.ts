/**
 * An OCI artifact from push to gateway, on the real API server and with a real registry: its digest is the revision in every status.
 */
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { rollbackCommand } from '../../runtime/cli/fleet/change-command.ts'
import type { Output } from '../../runtime/cli/output/output.ts'
import { statusCommand } from '../../runtime/cli/fleet/status-command.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { gatewaySyncType, secretType } from '../../runtime/kube/types.ts'
import { matchObject } from '../support/assertions.ts'
import { install, type Installation, simulatedGateway } from '../support/installation.ts'
import { startRegistry } from '../support/artifact-registry.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

/** Waits until every gateway runs an artifact. */
async function readyWith(cluster: Installation, namespace: string, revision: string): Promise<GatewaySyncStatus> {
  return await until(async () => {
    const status = await cluster.status(namespace, 'plant')
    const ready = status.conditions?.find(({ type }) => type === 'Ready')
    return ready?.status === 'True' && ready.reason !== 'NoGateways' && status.published?.ref === revision ? status : undefined
  }, `Ready with ${revision}`)
}

async function sourceReason(cluster: Installation, namespace: string): Promise<string | undefined> {
  const { conditions } = await cluster.status(namespace, 'plant')
  return conditions?.find(({ type }) => type === 'SourceReady')?.reason
}

async function printed(run: (output: Output) => Promise<number>): Promise<string> {
  let text = ''
  await run({ style: { width: 120, color: false, symbols: false }, isTerminal: false, write: (more) => (text += more) })
  return text
}

void t.test(
  'a signed artifact reaches a gateway, a webhook brings the next one, and a rollback the first',
  { timeout: 600_000 },
  async (t: Test) => {
    if (!requires(t, 'docker-registry', 'git', 'kubectl', 'tar')) return
    const cluster = await install(t, ['plant'])
    t.teardown(() => {
      if (!t.passing()) t.comment(cluster.logs.join(''))
    })
    const { world, receiver, folder } = cluster
    const namespace = cluster.namespace('plant')
    const registry = await startRegistry(t, path.join(folder, 'registry'))
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const data = { 'plant.pub': Buffer.from(key.publicKey.export({ type: 'spki', format: 'pem' })).toString('base64') }
    await world.kube.create(secretType, { apiVersion: 'v1', kind: 'Secret', metadata: { namespace, name: 'cosign' }, data }, world.signal)

    const first = await registry.push('plants/north', 'prod', { 'projects/a.txt': 'one' })
    const { simulator, dataDir, port } = await simulatedGateway(t, folder, 'gateway-0')
    await cluster.gatewaySync(namespace, 'plant', {
      oci: { url: registry.url('plants/north'), tag: 'prod', insecure: true, verify: { secretRef: { name: 'cosign' } } },
      polling: { interval: '5s' },
      gateway: { port },
      sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    })
    await cluster.gateway(namespace, 'gateway-0', { account: 'gateway', simulator, dataDir })
    await until(async () => ((await sourceReason(cluster, namespace)) === 'NotVerified' ? true : undefined), 'the missing signature')
    t.equal((await cluster.status(namespace, 'plant')).published, undefined)

    await registry.sign('plants/north', first.digest, key.privateKey)
    const revision = `prod@${first.digest}`
    const status = await readyWith(cluster, namespace, revision)
    const content = (): string => readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8')
    t.equal(content(), 'one')
    matchObject(t, status, {
      source: { ref: 'prod', resolvedRef: revision, verified: { commit: { by: 'plant.pub', key: /^SHA256:/ } } },
      published: { ref: revision, specRef: 'prod', repo: registry.url('plants/north').replace('oci:', 'oci+http:') },
      columns: { commit: first.digest.slice(7, 15), gateways: '1/1' },
    })
    matchObject(t, status.history?.at(0), { ref: revision, outcome: 'Published', signedBy: /^SHA256:/ })
    matchObject(t, await cluster.report(namespace, 'gateway-0'), { ref: revision, columns: { commit: first.digest.slice(7, 15) } })

    await t.test('a webhook brings what a tag points to now', async (t) => {
      const second = await registry.push('plants/north', 'prod', { 'projects/a.txt': 'two' })
      await registry.sign('plants/north', second.digest, key.privateKey)
      const headers = { authorization: `Bearer ${receiver.token}`, 'content-type': 'application/json' }
      const push = await fetch(`${receiver.url}/webhook/${namespace}/plant`, { method: 'POST', headers, body: '{"ref":"prod"}' })
      t.equal(push.status, 202)
      await readyWith(cluster, namespace, `prod@${second.digest}`)
      t.equal(content(), 'two')
    })

    await t.test('status shows the digest, and a rollback writes it into the spec', async (t) => {
      const options = { kubeconfig: world.plane.adminKubeconfig, namespace, format: 'text' as const, timeout: 120_000 }
      const before = await printed((output) => statusCommand('plant', options, output))
      t.match(before, /published +([0-9a-f]{8}) of prod@sha256:\1/)
      const to = first.digest.slice(7, 15)
      const back = await printed((output) => rollbackCommand('plant', { ...options, to, wait: true }, output))
      const object = (await world.kube.get(gatewaySyncType, { namespace, name: 'plant' }, world.signal)) as unknown as {
        spec: { oci: object }
      }
      t.strictSame(object.spec.oci, {
        url: registry.url('plants/north'),
        digest: first.digest,
        insecure: true,
        verify: { secretRef: { name: 'cosign' } },
      })
      await readyWith(cluster, namespace, first.digest)
      t.equal(content(), 'one', back)
    })
  },
)
