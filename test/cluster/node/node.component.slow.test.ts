/**
 * Two nodes on one machine: the crash of one leaves nothing of it behind and does not affect the other.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { ensureProgram } from '../binaries.ts'
import { until } from '../../support/world.ts'
import { isAlive } from '../processes.ts'
import { hasCgroups } from './cgroups.ts'
import { testsMayBuild, whyNoNode } from './probe.ts'
import { type ClusterNode, type Keeper, keeperFile, removeLeftovers, startNode } from './start.ts'

void t.test('a crashed node leaves nothing behind, and the node beside it keeps running', { timeout: 600_000 }, async (t) => {
  const why = await whyNoNode({ mayBuild: testsMayBuild })
  if (why !== undefined) {
    t.plan(0, why)
    return
  }
  const start = async (): Promise<ClusterNode> => {
    const node = await startNode({ addons: false })
    t.teardown(async () => node.stop())
    return node
  }
  const kubectl = await ensureProgram('kubectl', () => undefined)
  const [crashing, staying] = await Promise.all([start(), start()])
  const kept = (node: ClusterNode): Keeper => JSON.parse(readFileSync(path.join(node.folder, keeperFile), 'utf8')) as Keeper
  const answers = (node: ClusterNode): Promise<number | null> => {
    const words = ['--kubeconfig', node.ready.adminKubeconfig, 'get', 'node', 'node']
    const asked = node.inside(kubectl, words, { stdio: 'ignore' })
    return new Promise((resolve) => asked.once('exit', resolve))
  }
  t.equal(await answers(crashing), 0)
  const { pid, inner } = kept(crashing)
  const network = `/proc/${inner}/ns/net`
  t.ok(existsSync(network), 'the node has a network of its own')

  process.kill(pid, 'SIGKILL')
  await until(() => (isAlive(inner) ? undefined : true), 'its first process ends with its keeper')
  t.strictSame(processesOf(path.basename(crashing.folder)), [], 'and every other with that one')
  await removeLeftovers()
  t.notOk(existsSync(crashing.folder), 'the next start removes its folder')
  t.notOk(hasCgroups(path.basename(crashing.folder)), 'and its cgroups')

  t.equal(await answers(staying), 0, 'the other one serves')
  await staying.stop()
  t.notOk(existsSync(staying.folder) || hasCgroups(path.basename(staying.folder)), 'and leaves nothing when it is stopped')
})

/** Processes in a node's cgroups or with its folder in their arguments. */
function processesOf(id: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const told = readFileSync(`/proc/${pid}/cmdline`, 'utf8') + readFileSync(`/proc/${pid}/cgroup`, 'utf8')
        return told.includes(id) ? [told.replaceAll('\0', ' ')] : []
      } catch {
        return []
      }
    })
}
