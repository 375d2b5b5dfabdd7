/**
 * The startup hold does not keep a usable gateway down, with a real kubelet: it starts with its existing files if its agent refuses the
 * published commit, and without files if nothing is ever published.
 */
import type { Test } from 'tap'
import { agentContainerName } from '../../../../runtime/api/names.ts'
import { matchObject } from '../../../support/assertions.ts'
import type { Repository } from '../../../support/repository.ts'
import { until } from '../../../support/world.ts'
import { type Cluster, containerOf, filesDiffer, openRepository, patience, type Pod, tellReceiver, untilSynced } from '../cluster.ts'
import { gitHostName } from '../given.ts'
import { plantSite, type Site } from '../site.ts'
import { plant } from './install.ts'

const inPlant = `--namespace=${plant.namespace}`
/** In seconds; the defaults are 30 and 600. */
const [grace, deadline] = [5, 20]
/** Container times are truncated to seconds. */
const cutSeconds = 1

const barren: Site = {
  namespace: 'barren',
  name: 'barren',
  replicas: 1,
  mode: 'dev',
  repository: openRepository,
  sync: 'barren',
  spec: {
    git: { repo: `https://${gitHostName}/${openRepository}`, ref: 'never-pushed' },
    sync: {
      defaults: { startDeadline: `${deadline}s` },
      profiles: { default: { mappings: [{ source: 'services/projects', destination: 'projects' }] } },
    },
  },
}

/** Deletes more files than the agent may: the commit is published, and no gateway applies it. */
export async function startWithOlderFiles(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  const { kubectl } = cluster
  const patch = (defaults: object) =>
    kubectl('patch', 'gatewaysync/plant', inPlant, '--type=merge', `--patch=${JSON.stringify({ spec: { sync: { defaults } } })}`)
  await patch({ startGrace: `${grace}s`, maxDeletions: 0 })
  const files = Array.from({ length: 12 }, (_, index) => `services/projects/going/${index}.txt`)
  const before = repository.commit(Object.fromEntries(files.map((file) => [file, 'there'])))
  await tellReceiver(cluster, plant.namespace, 'plant')
  await untilSynced(cluster, plant, 'plant', repository, before)

  const refused = repository.commit(Object.fromEntries(files.map((file) => [file, null])))
  await tellReceiver(cluster, plant.namespace, 'plant')
  await untilBlocked(cluster, refused)
  await kubectl('delete', 'pod', `${plant.name}-0`, inPlant)
  await kubectl('rollout', 'status', `statefulset/${plant.name}`, inPlant, patience.wait)
  const pod = (await cluster.pods(plant.namespace)).find(({ metadata }) => metadata.name === `${plant.name}-0`)
  const held = heldSeconds(pod)
  t.ok(held >= grace - cutSeconds, `the gateway was held back for ${held} s`)
  t.strictSame(filesDiffer(cluster, plant, repository, before), [], 'and has the files of the commit before')
  await untilBlocked(cluster, refused)

  await patch({ startGrace: null, maxDeletions: null })
  await untilSynced(cluster, plant, 'plant', repository, refused)
}

/** The second half is `hasStartedBarren`: the controller's report takes a minute, in which other cases run. */
export async function startBarren(t: Test, cluster: Cluster): Promise<void> {
  await plantSite(cluster, barren)
  const pod = await until(
    async () => (await cluster.pods(barren.namespace)).find((one) => containerOf(one, agentContainerName)?.state.running !== undefined),
    'the agent of a gateway without a commit runs',
    patience.waitMs,
  )
  matchObject(t, containerOf(pod, 'gateway')?.state, { waiting: { reason: 'PodInitializing' } }, 'the gateway waits for its first commit')
}

export async function hasStartedBarren(t: Test, cluster: Cluster): Promise<void> {
  const { namespace } = barren
  const inBarren = `--namespace=${namespace}`
  const pod = await until(
    async () => (await cluster.pods(namespace)).find((one) => containerOf(one, 'gateway')?.state.running !== undefined),
    'the gateway runs without a commit',
    patience.waitMs,
  )
  const held = heldSeconds(pod)
  t.ok(held >= deadline - cutSeconds && held < 10 * deadline, `it was held back for ${held} s`)
  t.equal((await cluster.status(namespace, barren.sync))?.published, undefined)
  const events = await until(
    async () => {
      const { items } = await cluster.get<{ items: { type: string; involvedObject: object; reportingInstance: string }[] }>(
        'events',
        inBarren,
        '--field-selector=reason=StartedWithoutCommit',
      )
      return items.length === 0 ? undefined : items
    },
    'an Event says that it has no commit',
    patience.waitMs,
  )
  const involvedObject = { kind: 'Pod', name: `${barren.name}-0`, uid: pod.metadata.uid }
  for (const event of events) matchObject(t, event, { type: 'Warning', involvedObject })
  // A replica that becomes the leader in between records it once more.
  const reporters = events.map(({ reportingInstance }) => reportingInstance)
  t.equal(new Set(reporters).size, reporters.length, 'no replica records it twice')
  await cluster.kubectl('delete', 'namespace', namespace, '--wait=false')
}

/** From the start of the agent to that of the gateway. */
function heldSeconds(pod: Pod | undefined): number {
  const [agent = 0, gateway = 0] = [agentContainerName, 'gateway'].map((name) =>
    Date.parse((pod === undefined ? undefined : containerOf(pod, name))?.state.running?.startedAt ?? ''),
  )
  return (gateway - agent) / 1000
}

async function untilBlocked(cluster: Cluster, commit: string): Promise<void> {
  const names = Array.from({ length: plant.replicas }, (_, ordinal) => `${plant.name}-${ordinal}`)
  await until(
    async () => {
      const reports = await Promise.all(names.map(async (name) => await cluster.report(plant.namespace, name)))
      return reports.every((report) => report?.reason === 'MassDeletion' && report.attempt?.commit === commit) ? true : undefined
    },
    `no agent takes ${commit}`,
    patience.waitMs,
  )
}
