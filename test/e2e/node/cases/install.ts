/**
 * docs/how-to/install.md and docs/how-to/gateways.md as written: the default values, and gateways that request an agent before their
 * GatewaySync exists.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { agentContainerName } from '../../../../runtime/api/names.ts'
import { matchObject } from '../../../support/assertions.ts'
import { follow, openShell } from '../../../support/docs-shell.ts'
import { blocksOf } from '../../../support/page.ts'
import type { Repository } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'
import {
  apiKey,
  type Cluster,
  containerOf,
  gatewayObjects,
  type Gateways,
  gitToken,
  guardedNamespace,
  operator,
  patience,
  untilSynced,
} from '../cluster.ts'
import { memoryLimitOf } from '../processes.ts'

/** The gateways of the whole suite. */
export const plant: Gateways = { namespace: 'plant', name: 'plant', replicas: 2, mode: 'dev' }

const mebibyte = 1024 * 1024

export async function installWithDefaults(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const { apply, kubectl, pods } = cluster
  const commit = repository.commit({ 'services/projects/added.txt': 'one' })
  const shell = await openShell(t, cluster.given.adminKubeconfig)
  repository.git('clone', '--quiet', '.', path.join(shell.folder, 'path/to/repository'))
  writeFileSync(path.join(shell.folder, 'git-token'), gitToken)
  writeFileSync(path.join(shell.folder, 'gateway-api-key'), apiKey)

  const [wayOne] = blocksOf('docs/how-to/install.md').filter(({ section }) => section === 'Option 1: cdk8s')
  await follow(t, shell, wayOne?.text)
  const [controller] = await pods(operator.namespace)
  t.equal(memoryLimitOf(controller, 'controller'), 128 * mebibyte, 'the controller has the memory of the default values')

  await apply(guardedNamespace(plant.namespace))
  await kubectl('wait', `--for=create`, 'serviceaccount/default', `--namespace=${plant.namespace}`, patience.wait)
  await apply(...gatewayObjects(cluster, plant))
  const waiting = await until(
    async () => {
      const all = await pods(plant.namespace)
      const agents = all.map((pod) => containerOf(pod, agentContainerName))
      return all.length === plant.replicas && agents.every((agent) => agent?.state.running !== undefined) ? all : undefined
    },
    'each gateway pod has an agent that runs',
    patience.waitMs,
  )
  for (const pod of waiting) {
    matchObject(t, containerOf(pod, 'gateway')?.state, { waiting: { reason: 'PodInitializing' } }, 'the gateway waits for its first commit')
    t.equal(memoryLimitOf(pod, agentContainerName), 256 * mebibyte, 'the agent has the memory of the default values')
  }

  const page = blocksOf('docs/how-to/gateways.md')
  for (const { language, text } of page) {
    if (language === 'sh') await follow(t, shell, text)
    if (language !== 'yaml') continue
    writeFileSync(path.join(shell.folder, 'gatewaysync.yaml'), text)
    await follow(t, shell, 'kubectl apply -f gatewaysync.yaml')
  }
  await untilSynced(cluster, plant, 'plant', repository, commit)
  await kubectl('rollout', 'status', `statefulset/${plant.name}`, `--namespace=${plant.namespace}`, patience.wait)
}
