/**
 * The faults of the soak: each once per round, in random order, so that a run of any length has had all of them.
 */
import type { Installation } from '../../support/installation.ts'
import type { TcpProxy } from '../../support/tcp-proxy.ts'
import { type Random, shuffled } from '../../support/seeded-random.ts'
import type { Replicas } from './replicas.ts'

export type Victim = { cluster: Installation; tcpProxies: { controllers: TcpProxy; agents: TcpProxy }; replicas: Replicas }

/** Each resolves when it has happened; its effects may last for minutes. */
export const faults: Readonly<Record<string, (victim: Victim) => Promise<void> | void>> = {
  'API server killed, history dropped': ({ cluster }) => cluster.world.plane.restartApiServer(),
  'connections of controllers cut': ({ tcpProxies }) => tcpProxies.controllers.cut(),
  'connections of agents cut': ({ tcpProxies }) => tcpProxies.agents.cut(),
  'connections of controllers half open': ({ tcpProxies }) => void tcpProxies.controllers.freeze(),
  'connections of agents half open': ({ tcpProxies }) => void tcpProxies.agents.freeze(),
  'leader killed': ({ replicas }) => replicas.kill('leader'),
  'leader gone until another leads': ({ replicas }) => replicas.replaceLeader('SIGKILL'),
  'leader frozen until another leads': ({ replicas }) => replicas.replaceLeader('SIGSTOP'),
  'Lease taken by nobody': ({ cluster }) => cluster.stealLease(),
  'standby killed': ({ replicas }) => replicas.kill('standby'),
}

/** All names repeatedly, in another order each time. */
export function* rounds(names: readonly string[], random: Random): Generator<string, never> {
  for (;;) yield* shuffled(names, random)
}
