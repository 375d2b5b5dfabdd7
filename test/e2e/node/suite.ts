/**
 * The cases on a node, in order: each continues with the cluster of the previous one. After a failure the rest is skipped, because later
 * failures would only repeat it.
 */
import t, { type Test } from 'tap'
import type { Repository } from '../../support/repository.ts'
import { type Cluster, openCluster, plantRepository } from './cluster.ts'
import { diagnose } from './diagnose.ts'
import { readGiven, say } from './given.ts'
import { ownFaults } from './own-faults.ts'
import { publishRelease } from './release.ts'
import { captureRepair } from './cases/capture.ts'
import { checkInstallation } from './cases/check.ts'
import { applyTogether } from './cases/first-start.ts'
import { reachFleet } from './cases/fleet.ts'
import { shareTheNode } from './cases/host-network.ts'
import { pushThroughIngress } from './cases/ingress.ts'
import { installWithDefaults } from './cases/install.ts'
import { growByValues, killAgent, killLeader, push, uninstall } from './cases/life.ts'
import { carryLoad } from './cases/load.ts'
import { keepNetworkPolicy } from './cases/network-policy.ts'
import { rescheduleWhilePaused, restartNode, rotateCertificate, withoutApiServer } from './cases/outages.ts'
import { readPrivateRepositories } from './cases/private-repositories.ts'
import { hasStartedBarren, startBarren, startWithOlderFiles } from './cases/startup-hold.ts'
import { stopAtFirstGateway } from './cases/staged-rollout.ts'
import { upgrade } from './cases/upgrade.ts'

/** `isGround`: later cases depend on it. */
type Case = { name: string; isGround?: true; run(t: Test, cluster: Cluster, repository: Repository): Promise<void> }

const caseTimeoutMs = 900_000
const wholeTimeoutMs = 2_400_000
/** For work on a case: parts of names, separated by commas. The cases that others depend on run too. */
const chosen = process.env['CLUSTER_SYNC_NODE_CASES']?.split(',')

const cases: readonly Case[] = [
  { name: 'the release before, upgraded to the published files with Helm and with kubectl: its gateway goes on', run: upgrade },
  { name: 'the default values, applied with kubectl, and gateways that were there first', isGround: true, run: installWithDefaults },
  { name: 'a second replica, receiver and NetworkPolicy by values: the gateways go on', isGround: true, run: growByValues },
  { name: 'a push to the Service of the receiver is in every pod, and scanned', run: push },
  { name: 'gateways and their GatewaySync, applied together, with 2 and with 20,000 files', run: applyTogether },
  { name: 'a push through the Ingress, with its signature', run: pushThroughIngress },
  { name: 'the NetworkPolicy lets in who needs it, and nobody else', run: keepNetworkPolicy },
  { name: 'cluster-sync check finds nothing wrong, and what only a node can break', run: checkInstallation },
  { name: 'private repositories over https and over ssh', run: readPrivateRepositories },
  { name: 'the leader is killed during a push', run: killLeader },
  { name: 'an agent is killed while it publishes', run: killAgent },
  { name: 'the node is restarted', run: restartNode },
  { name: 'the certificate is renewed', run: rotateCertificate },
  { name: 'a gateway is scheduled anew while its GatewaySync is paused', run: rescheduleWhilePaused },
  { name: 'a gateway whose agent refuses the published commit starts with the one before', run: startWithOlderFiles },
  { name: 'two gateways in the network of their node, whose agents have no port there', run: shareTheNode },
  { name: 'the API server is away for a minute', run: withoutApiServer },
  { name: 'a gateway for which nothing is published waits', run: startBarren },
  { name: 'ten gateways in four namespaces, of two repositories and three modes', run: reachFleet },
  { name: 'a gateway for which nothing is published has started after its deadline', run: hasStartedBarren },
  { name: 'a bad commit stops at the first of three gateways and goes back by itself', run: stopAtFirstGateway },
  { name: 'a repair on a gateway becomes a pull request, and after its merge no file is written', run: captureRepair },
  { name: 'a hundred GatewaySyncs fit into the memory of the default values', run: carryLoad },
  { name: 'uninstalled with kubectl: the gateways go on', run: uninstall },
]

// The default timeout of a test file is thirty seconds.
t.setTimeout(wholeTimeoutMs)
const given = readGiven()
await publishRelease(t, given)
const cluster = await openCluster(t, given)
const repository = plantRepository(cluster, 'plant.git')
for (const { name, isGround, run } of cases) {
  if (chosen !== undefined && isGround !== true && !chosen.some((part) => name.includes(part))) continue
  const startedMs = performance.now()
  await t.test(name, { timeout: caseTimeoutMs }, async (t) => {
    await run(t, cluster, repository)
    t.strictSame(await ownFaults(cluster), [], 'nothing is logged that a sound node has no reason for')
  })
  say(`${name}: ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  if (t.passing()) continue
  await diagnose(cluster)
  break
}
