/**
 * The cases on a node, in order: each goes on where the one before has left the cluster. After one that fails the rest is not run, as its
 * failures would only repeat the first.
 */
import t, { type Test } from 'tap'
import type { Repository } from '../../support/repository.ts'
import { type Cluster, openCluster, plantRepository } from './cluster.ts'
import { diagnose } from './diagnose.ts'
import { readGiven, say } from './given.ts'
import { reachFleet } from './cases/fleet.ts'
import { installWithDefaults } from './cases/install.ts'
import { exchangeForChart, killAgent, killLeader, memoryWasEnough, push } from './cases/life.ts'
import { rescheduleWhilePaused, restartNode, rotateCertificate, withoutApiServer } from './cases/outages.ts'
import { readPrivateRepositories } from './cases/private-repositories.ts'

type Case = { name: string; run(t: Test, cluster: Cluster, repository: Repository): Promise<void> }

const caseTimeoutMs = 900_000
const wholeTimeoutMs = 2_400_000

const cases: readonly Case[] = [
  { name: 'the default values, applied with kubectl, and gateways that were there first', run: installWithDefaults },
  { name: 'uninstalled, and installed anew with Helm: the gateways go on', run: exchangeForChart },
  { name: 'a push to the Service of the receiver is in every pod, and scanned', run: push },
  { name: 'private repositories over https and over ssh', run: readPrivateRepositories },
  { name: 'the leader is killed during a push', run: killLeader },
  { name: 'an agent is killed while it publishes', run: killAgent },
  { name: 'the node is restarted', run: restartNode },
  { name: 'the certificate is renewed', run: rotateCertificate },
  { name: 'a gateway is scheduled anew while its GatewaySync is paused', run: rescheduleWhilePaused },
  { name: 'the API server is away for a minute', run: withoutApiServer },
  { name: 'ten gateways in four namespaces, of two repositories and three modes', run: reachFleet },
  { name: 'the memory of the default values was enough for all of it', run: memoryWasEnough },
]

// By itself a file of tests has thirty seconds.
t.setTimeout(wholeTimeoutMs)
const cluster = await openCluster(t, readGiven())
const repository = plantRepository(cluster, 'plant.git')
for (const { name, run } of cases) {
  const startedMs = performance.now()
  await t.test(name, { timeout: caseTimeoutMs }, async (t) => {
    await run(t, cluster, repository)
  })
  say(`${name}: ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  if (t.passing()) continue
  await diagnose(cluster)
  break
}
