/**
 * Gateways and their GatewaySync, applied together on a node that has the images: the time until all are Ready, with few and with many
 * files.
 */
import type { Test } from 'tap'
import { agentContainerName } from '../../../../runtime/api/names.ts'
import { plantFiles } from '../../../benchmark/contents.ts'
import { memoryOf } from '../../../support/measured-process.ts'
import { type Cluster, patience, untilSynced } from '../cluster.ts'
import { say } from '../given.ts'
import { processOf } from '../processes.ts'
import { plantSite, type Site } from '../site.ts'

const sync = 'plant'
const place = { source: 'projects', destination: 'projects' }
const sizes = { few: 2, many: 20_000 }

export async function applyTogether(t: Test, cluster: Cluster): Promise<void> {
  for (const [namespace, files] of Object.entries(sizes)) {
    const repository = cluster.host.repository(`${namespace}.git`)
    const commit = repository.commit(plantFiles({ files, folders: files / 2 }))
    const spec = { sync: { profiles: { default: { mappings: [place] } } } }
    const site: Site = {
      namespace,
      name: 'gateway',
      replicas: 2,
      mode: 'prod',
      repository: `${namespace}.git`,
      sync,
      spec,
      places: [place],
    }
    const appliedMs = performance.now()
    await plantSite(cluster, site)
    await cluster.kubectl('wait', `gatewaysync/${sync}`, `--namespace=${namespace}`, '--for=condition=Ready', patience.wait)
    say(`two gateways with ${files} files, applied with their GatewaySync: Ready after ${Math.round(performance.now() - appliedMs)} ms`)
    await untilSynced(cluster, site, sync, repository, commit)
    t.pass(`each of two gateways has ${files} files`)
    const agents = (await cluster.pods(namespace)).map((pod) => memoryOf(processOf(pod, agentContainerName)).anonymousMiB)
    say(`their agents then hold ${agents.map(Math.round).join(' and ')} MiB of anonymous memory`)
    await cluster.kubectl('delete', 'namespace', namespace, '--wait=false')
  }
}
