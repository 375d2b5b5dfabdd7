/**
 * Three replicas of the controller as processes; any of them may be killed at any time and restarts in its pod.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../../support/world.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { freePorts, type Ports } from '../../support/ports.ts'
import type { Installation } from '../../support/installation.ts'
import { pick, type Random } from '../../support/seeded-random.ts'
import type { FollowedMs } from './violations.ts'

export type Replicas = {
  /** Kills the leader, or else a standby, and restarts it in its pod. */
  kill(which: 'leader' | 'standby'): Promise<void>
  /** Kills or freezes the leader, and restarts or resumes it once another replica leads. */
  replaceLeader(how: 'SIGKILL' | 'SIGSTOP'): Promise<void>
  /** The duration of each such leader change. */
  followedMs: FollowedMs
  /** Base URLs of the webhook receivers. */
  receivers: readonly string[]
  all: readonly NamedReplica[]
}

export type NamedReplica = { name: string; ports: Ports }
type Replica = NamedReplica & { child: ChildProcess }

const replicaNames = ['controller-0', 'controller-1', 'controller-2'] as const

/** The ports of all replicas, which the proxies in front of them need first. */
export async function replicaPorts(): Promise<Ports[]> {
  const ports: Ports[] = []
  for (const _ of replicaNames) ports.push(await freePorts())
  return ports
}

/**
 * Stops the controller that the installation started, and starts all replicas. `dying` is called before one is killed, which waits for it;
 * also for a replica that is spared because another one has started to lead meanwhile.
 */
export async function startReplicas(
  cluster: Installation,
  ports: readonly Ports[],
  random: Random,
  dying: (replica: NamedReplica) => Promise<void>,
): Promise<Replicas> {
  await cluster.stopController()
  const replicas: Replica[] = []
  for (const [index, name] of replicaNames.entries()) {
    const own = ports[index]
    if (own !== undefined) replicas.push({ name, ports: own, child: await cluster.startReplica(name, own) })
  }
  const followedMs = { killed: [] as number[], frozen: [] as number[] }
  const leader = () => until(async () => (await cluster.leader().catch(() => undefined)) || undefined, 'somebody holds the Lease')
  /** One of the replicas, not the nonexistent holder that the Lease may have for a second. */
  const leads = () =>
    until(async () => {
      const name = await leader()
      return replicas.find((one) => one.name === name)
    }, 'a replica holds the Lease')
  /** One of the announced candidates that still is one: another replica may have started to lead meanwhile. */
  const doomed = async (candidates: () => Promise<readonly Replica[]>): Promise<Replica | undefined> => {
    let replica = pick(await candidates(), random)
    while (replica !== undefined) {
      await dying(replica)
      const left = await candidates()
      if (left.includes(replica)) return replica
      replica = pick(left, random)
    }
    return undefined
  }
  const start = async (replica: Replica): Promise<void> => {
    replica.child = await cluster.startReplica(replica.name, replica.ports)
  }
  return {
    receivers: replicas.map(({ ports: { receiver } }) => `http://127.0.0.1:${receiver}`),
    all: replicas,
    async kill(which) {
      const replica = await doomed(async () => {
        const name = await leader()
        const of = replicas.filter((one) => (one.name === name) === (which === 'leader'))
        return of.length > 0 ? of : replicas
      })
      if (replica === undefined) return
      await end(replica)
      await start(replica)
    },
    async replaceLeader(how) {
      const replica = how === 'SIGKILL' ? await doomed(async () => [await leads()]) : await leads()
      if (replica === undefined) return
      const startedMs = systemClock.monotonicMs()
      if (how === 'SIGKILL') await end(replica)
      else replica.child.kill(how)
      await until(
        async () => (((await cluster.leader().catch(() => undefined)) || replica.name) === replica.name ? undefined : true),
        'another leads',
      )
      followedMs[how === 'SIGKILL' ? 'killed' : 'frozen'].push(systemClock.monotonicMs() - startedMs)
      if (how === 'SIGKILL') await start(replica)
      else replica.child.kill('SIGCONT')
    },
    followedMs,
  }
}

async function end({ child }: Replica): Promise<void> {
  const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined
  child.kill('SIGKILL')
  await ended
}
