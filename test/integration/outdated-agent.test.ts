/**
 * A gateway pod that still runs since an earlier release, on the real API server: no process runs in it, and its SyncReport is written like
 * that of an agent of that release.
 */
import t from 'tap'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import { gatewaySyncType, syncReportType } from '../../runtime/kube/types.ts'
import { createPods, createReports, hashOf, reportStatus, specOf } from '../benchmark/scale/plants.ts'
import { openScraper } from '../benchmark/scale/scrape.ts'
import { matchObject } from '../support/assertions.ts'
import { install, readyAt } from '../support/installation.ts'
import { requires } from '../support/requires.ts'
import { eventsIn, until } from '../support/world.ts'

/** A problem is reported at the first check after half a minute; checks run every half a minute. */
const toldWithinMs = 120_000

void t.test(
  'a field unknown to an older agent causes AgentOutdated as condition, metric and Event on the pod',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const cluster = await install(t, ['plant'])
    t.teardown(() => {
      if (!t.passing()) t.comment(cluster.logs.join(''))
    })
    const { world, host } = cluster
    const { kube, signal } = world
    const namespace = cluster.namespace('plant')
    const commit = host.repository('plant.git').commit({ 'projects/line/a.txt': 'one' })
    const plant = { namespace, name: 'plant', repo: host.url('plant.git/.git') }
    await cluster.gatewaySync(namespace, plant.name, { ...specOf(plant.repo), polling: { enabled: false } })
    const [pod] = await createPods(cluster, [plant], 1)
    if (pod === undefined) throw new Error('there is no pod')
    await createReports(cluster, [pod])
    const report = async (more: Partial<SyncReportStatus>): Promise<void> => {
      // Such an agent ignores the field, so its hash is the same with and without it.
      const applied = { commit, syncHash: hashOf(plant.repo) }
      const status = { ...reportStatus(pod.name, applied), agentVersion: '0.0.9', ...more }
      await kube.mergePatch(syncReportType, { namespace, name: pod.name }, { status }, { subresource: 'status' }, signal)
    }
    const setGrace = (startGrace: string | null) =>
      kube.mergePatch(gatewaySyncType, { namespace, name: plant.name }, { spec: { sync: { defaults: { startGrace } } } }, {}, signal)
    await report({})
    const { delivery, outdatedAgents: outdatedBefore = 0 } = await readyAt(cluster, namespace, commit)
    t.equal(outdatedBefore, 0, 'an older agent is not yet one that is too old')
    const scrape = await openScraper(cluster, namespace, delivery?.caBundle ?? '')
    const untilCounted = (count: number) =>
      until(
        async () => {
          const { text } = await scrape(cluster.ports.metrics)
          const counted = text.split('\n').find((line) => line.startsWith('clustersync_outdated_agents{') && line.includes(namespace))
          return counted?.endsWith(` ${count}`) === true ? counted : undefined
        },
        `the metric counts ${count}`,
        90_000,
        500,
      )
    await untilCounted(0)

    await setGrace('1m')
    await report({ ignoredFields: ['sync.defaults.startGrace'] })
    const status = await until(async () => {
      const status = await cluster.status(namespace, plant.name)
      return status.outdatedAgents === 1 ? status : undefined
    }, 'the agent is too old')
    const conditionOf = (type: string) => status.conditions?.find((condition) => condition.type === type)
    const message = new RegExp(
      `1 of 1 gateways: ${pod.name}: AgentOutdated, the agent \\(version 0\\.0\\.9\\) .* does not support spec\\.sync\\.defaults\\.startGrace; recreate the pod`,
    )
    matchObject(t, conditionOf('AgentsInjected'), { status: 'False', reason: 'AgentOutdated', message })
    matchObject(t, conditionOf('Ready'), { status: 'False', reason: 'GatewaysBlocked', message })
    matchObject(t, status.gateways, { total: 1, blocked: 1 })
    matchObject(t, status.published, { commit })
    await untilCounted(1)
    const told = await until(
      async () => (await eventsIn(world, namespace)).find(({ reason }) => reason === 'AgentOutdated'),
      'the pod has an Event',
      toldWithinMs,
      1_000,
    )
    matchObject(t, told, { type: 'Warning', regarding: { kind: 'Pod', name: pod.name }, note: /recreate the pod$/ })

    // The agent still does not know the field, but the spec no longer uses it.
    await setGrace(null)
    await readyAt(cluster, namespace, commit)
    await untilCounted(0)
  },
)
