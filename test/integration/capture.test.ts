/**
 * What was changed on a gateway, in a cluster: the controller and a gateway's agent at the real API server, with a real repository.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { driftCommand } from '../../runtime/cli/fleet/drift-command.ts'
import type { Output } from '../../runtime/cli/fleet/output.ts'
import { syncReportType } from '../../runtime/kube/types.ts'
import { install, simulatedGateway } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { shown } from '../support/shown-output.ts'
import { until } from '../support/world.ts'

const page = 'capture.md'

/** What a command prints, and its exit code. */
async function called(run: (output: Output) => Promise<number>): Promise<{ code: number; output: string }> {
  let output = ''
  const style = { width: 120, colour: false, symbols: false }
  const code = await run({ style, isTerminal: false, write: (text) => (output += text) })
  return { code, output }
}

void t.test('what was changed on a gateway is seen in the cluster', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'kubectl', 'prlimit')) return
  const cluster = await install(t, ['plant'], {}, { lifetimeMs: 600_000 })
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const { world, host } = cluster
  const namespace = cluster.namespace('plant')
  const repository = host.repository('plant.git')
  repository.commit({ 'projects/line/project.json': '{}', 'projects/line/a.txt': 'one' })
  const { simulator, dataDir, port } = await simulatedGateway(t, cluster.folder, 'gw')
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url('plant.git/.git'), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { defaults: { syncPeriod: 5 }, profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  })
  await cluster.gateway(namespace, 'gw-0', { account: 'gateway', simulator, dataDir })
  const phase = async (): Promise<string | undefined> => {
    const report = await world.kube.get(syncReportType, { namespace, name: 'gw-0' }, world.signal)
    return (report?.status as { phase?: string } | undefined)?.phase
  }
  await until(async () => ((await phase()) === 'Synced' ? true : undefined), 'the gateway is in step', 120_000)
  const options = { kubeconfig: world.plane.adminKubeconfig, namespace, format: 'text' as const }
  const drift = (): Promise<{ code: number; output: string }> => called((output) => driftCommand('plant', options, output))
  t.match(await drift(), { code: 0, output: '0 of 1 gateways were changed, 1 were not\n' })

  await t.test('drift lists the changed files of each gateway', async (t) => {
    writeFileSync(path.join(dataDir, 'projects/line/a.txt'), 'repaired')
    writeFileSync(path.join(dataDir, 'projects/line/project.json'), '{"title":"Line"}')
    await until(async () => ((await phase()) === 'Drifted' ? true : undefined), 'the agent has seen it', 120_000)
    const told = await drift()
    t.equal(told.code, 1)
    shown(t, page, 'drift-of-a-cluster', told.output)
  })
})
