/**
 * Pods with as many volumes and mounts as fit into one admission request, whose names collide with those of the agent's volumes.
 */
import t from 'tap'
import { injectAgent } from '../../runtime/injection/inject.ts'
import { plant, settings } from '../support/injected.ts'

const dataDir = '/usr/local/bin/ignition/data'

function named(prefix: string, count: number): { name: string }[] {
  return Array.from({ length: count }, (_, index) => ({ name: `${prefix}${count - index}` }))
}

const pods: Readonly<Record<string, { volumes: { name: string }[]; mounts: { name: string; mountPath: string }[] }>> = {
  'volumes with the names of the agent': {
    volumes: [...named('cluster-sync-delivery-token-', 20_000), { name: 'cluster-sync-delivery-token' }],
    mounts: [],
  },
  'mounts of other volumes at the data directory': {
    volumes: named('v', 20_000),
    mounts: named('w', 10_000).map(({ name }) => ({ name, mountPath: dataDir })),
  },
}

for (const [name, { volumes, mounts }] of Object.entries(pods)) {
  void t.test(`${name} take little time`, async (t) => {
    const pod = {
      metadata: { annotations: { 'clustersync.io/inject': 'true' } },
      spec: { volumes, containers: [{ name: 'gateway', volumeMounts: mounts }] },
    }
    const before = process.cpuUsage()
    const injection = injectAgent(pod, settings, plant)
    const { user, system } = process.cpuUsage(before)
    t.equal(injection.kind, 'patch')
    t.ok(user + system < 200_000, `${Math.round((user + system) / 1000)} ms`)
  })
}
