/**
 * Three replicas of the controller as processes, of which any may be killed at any time and comes back in its pod.
 */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../../support/world.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { freePorts, type Ports } from '../../support/ports.ts'
import type { Installation } from '../../support/installation.ts'
import { pick, type Random } from '../../support/seeded-random.ts'
import type { FollowedMs } from './judge.ts'

export type Replicas = {
  /** Kills the one that leads, or else one that does not, and starts it again in its pod. */
  kill(which: 'leader' | 'standby'): Promise<void>
  /** Kills or freezes the one that leads, and lets it come again, or wake, once another leads. */
  replaceLeader(how: 'SIGKILL' | 'SIGSTOP'): Promise<void>
  /** How long each such change of leaders took. */
  followedMs: FollowedMs
  /** Base URLs of the push receivers. */
  receivers: readonly string[]
  all: readonly NamedReplica[]
}

export type NamedReplica = { name: string; ports: Ports }
type Replica = NamedReplica & { child: ChildProcess }

const replicaNames = ['controller-0', 'controller-1', 'controller-2'] as const

/** The ports that all replicas will have: whoever stands before them must know them first. */
export async function replicaPorts(): Promise<Ports[]> {
  const ports: Ports[] = []
  for (const _ of replicaNames) ports.push(await freePorts())
  return ports
}

/**
 * Stops what the installation started by itself, and starts all. `dying` is called before one is killed, which waits for it; also for one that is
 * spared because another has begun to lead meanwhile.
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
  /** One of the replicas, not the nobody to whom the Lease may have been given for a second. */
  const leads = () =>
    until(async () => {
      const name = await leader()
      return replicas.find((one) => one.name === name)
    }, 'a replica holds the Lease')
  /** One of the candidates that was told that it dies, and is a candidate still: while it was told, another may have begun to lead. */
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
