/**
 * Many gateways that follow one GatewaySync in stages. They report like agents and follow the agents' rule for the current stage; they
 * fetch nothing, since `fleet.ts` measures that.
 */
import { admissionOf } from '../../../runtime/reconcile/rollout/stage-admission.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { pushTo } from '../../support/push.ts'
import { plantFiles } from '../contents.ts'
import type { Figure } from '../figures.ts'
import { type Bench, change, figure, keyOf } from './bench.ts'
import { processorMs } from './contained.ts'
import { createPods, createReports, forEach, type GatewayPod, type Plant, specOf, untilTaken, writeReport } from './plants.ts'

const doneMs = 600_000
/** Pushes that arrive during the first rollout. */
const pushes = 10
const pushEachMs = 2_000

/** One complete rollout, and one that newer commits replace repeatedly. Each stage selects gateways by the last digit of their names. */
export async function staged(bench: Bench, count: number, stages: number): Promise<Figure[]> {
  const { cluster, seen, calls } = bench
  const repository = cluster.host.repository('staged.git')
  const first = repository.commit(plantFiles({ files: 10, folders: 5 }))
  const plant: Plant = { namespace: cluster.namespace('fleet'), name: 'staged', repo: cluster.host.url('staged.git/.git') }
  const key = keyOf(plant)
  const spec = { ...specOf(plant.repo), polling: { enabled: false }, rollout: { stages: stagesOf(stages) } }
  await cluster.gatewaySync(plant.namespace, plant.name, spec)
  await seen.all([key], ({ published }) => published?.commit === first, 60_000)
  const pods = await createPods(cluster, [plant], count)
  await createReports(cluster, pods)
  const gateways = follow(bench, key, pods)
  const isDone = (commit: string) => (status: GatewaySyncStatus) =>
    status.rollout?.state === 'Done' && status.rollout.commit === commit && status.gateways?.synced === count
  await seen.all([key], isDone(first), doneMs)
  const measured = async (what: string, push: () => Promise<string>): Promise<Figure[]> => {
    const before = { mark: calls.mark(), ms: processorMs(cluster.controllerPid()), moves: gateways.moves() }
    const head = await push()
    const pushedMs = performance.now()
    const done = await seen.all([key], isDone(head), doneMs)
    const asked = calls.between(before.mark, calls.mark())
    const name = `${count} gateways in ${stages} stages, ${what}`
    return [
      figure(`${name}: the last push to the end of the last stage`, (done - pushedMs) / 1000, 's'),
      figure(`${name}: syncs of a gateway, mean`, (gateways.moves() - before.moves) / count, ''),
      figure(`${name}: status writes`, asked.get('patch gatewaysyncs/status') ?? 0, ''),
      figure(`${name}: processor time of the controller with git`, (processorMs(cluster.controllerPid()) - before.ms) / 1000, 's'),
    ]
  }
  const push = async (text: string): Promise<string> => {
    const head = change(repository, text)
    await untilTaken(() => pushTo(cluster.receiver, plant.namespace, plant.name))
    return head
  }
  const alone = await measured('one push', () => push('one'))
  const constant = await measured(`${pushes} pushes`, async () => {
    let head = await push('many 0')
    for (let round = 1; round < pushes; round += 1) {
      await systemClock.wait(pushEachMs)
      head = await push(`many ${round}`)
    }
    return head
  })
  const size = figure(`${count} gateways in ${stages} stages: size of the status at most`, gateways.largest() / 1024, 'KiB')
  return [...alone, ...constant, size]
}

function stagesOf(count: number): object[] {
  const digits = Array.from({ length: 10 }, (_, digit) => digit)
  return Array.from({ length: count }, (_, stage) => {
    const names = digits.filter((digit) => digit % count === stage).map((digit) => `*${digit}`)
    return { name: `stage-${stage}`, ...(stage < count - 1 ? { selector: { names } } : {}) }
  })
}

/** Each gateway reports the published commit as soon as its stage is active. */
function follow({ cluster, seen, hash: syncHash }: Bench, key: string, pods: readonly GatewayPod[]) {
  const commits = new Map<string, string>()
  let [moves, largest] = [0, 0]
  let running: Promise<void> | undefined
  let isStale = false
  const take = async (): Promise<void> => {
    const status = seen.of(key)
    const { published } = status ?? {}
    if (status === undefined || published === undefined) return
    const due = pods.filter(({ name }) => {
      const commit = commits.get(name)
      const facts = { pod: name, profile: 'default', syncHash, inPlace: commit === undefined ? undefined : { commit, syncHash } }
      return commit !== published.commit && admissionOf({ ...status, published }, facts).kind === 'go'
    })
    await forEach(due, async (pod) => {
      // A newer commit starts from the first stage.
      if (seen.of(key)?.published?.commit !== published.commit) return
      await writeReport(cluster, pod, { commit: published.commit, syncHash })
      commits.set(pod.name, published.commit)
      moves += 1
    })
  }
  const hear = (): void => {
    isStale = true
    running ??= (async () => {
      while (isStale) {
        isStale = false
        await take()
      }
    })().finally(() => (running = undefined))
  }
  seen.onChange((changed, status) => {
    if (changed !== key) return
    largest = Math.max(largest, JSON.stringify(status).length)
    hear()
  })
  hear()
  return { moves: () => moves, largest: () => largest }
}
