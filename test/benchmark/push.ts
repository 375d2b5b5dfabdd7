/**
 * The whole path from a push to the gateway's files: receiver, API server, controller, git host, content server, agent, simulated gateway.
 * One run covers a small and a large repository, so that their ratio shows whether cost depends on the change, and compares a first sync
 * with `git clone --depth=1` of the same repository from the same host. Controller and agent are bundled and start as in their images.
 * Reports are watched, because polling the API server would take processor time from the measured processes.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, watch } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { systemClock } from '../../runtime/platform/clock.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import { runListWatch } from '../../runtime/kube/list-watch.ts'
import { syncReportType } from '../../runtime/kube/types.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { install, type Installation, simulatedGateway } from '../support/installation.ts'
import { pushTo } from '../support/push.ts'
import { shippedRelease } from '../support/releases.ts'
import { gitEnvironment, temporaryFolder } from '../support/repository.ts'
import { until } from '../support/world.ts'
import { plantFiles } from './contents.ts'
import { type Figure, median, percentile } from './figures.ts'

const syncedWithinMs = 120_000
/** Lifetime of the installation, long enough for the whole run. */
const lifetimeMs = 900_000
/** First syncs, each into its own gateway and after a clone. */
const firsts = 5
const sizes = { small: { files: 100, folders: 50 }, large: { files: 20_000, folders: 10_000 } }

export async function run({ rounds = 100 }: { rounds?: number }): Promise<Figure[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const release = shippedRelease(temporaryFolder(t, 'programs'))
    const namespaces = Object.keys(sizes).flatMap((name) => Array.from({ length: firsts }, (_, index) => `${name}-${index}`))
    const cluster = await install(t, namespaces, {}, { release, lifetimeMs })
    const figures: Figure[] = []
    const medians: number[] = []
    for (const [name, size] of Object.entries(sizes)) {
      const measured = await measure(cluster, teardowns, name, size, rounds)
      figures.push(...measured.figures)
      medians.push(measured.pushToFiles)
    }
    figures.push({ name: 'push to files, large beside small', value: (medians[1] ?? 0) / (medians[0] ?? 1), unit: 'x' })
    return figures
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

type Size = { files: number; folders: number }

/**
 * A repository with no gateway files in its first commit and all of them in its second, a GatewaySync that follows it, and a gateway that
 * answers a scan at once, since the scan time of a real gateway is not part of the measurement.
 */
async function firstSync(cluster: Installation, teardowns: (() => unknown)[], prefix: string, size: Size) {
  const { host, folder, receiver } = cluster
  const repository = host.repository(`${prefix}.git`)
  let head = repository.commit({ 'README.md': 'Nothing yet.\n' })
  const namespace = cluster.namespace(prefix)
  const { simulator, dataDir, port } = await simulatedGateway(
    { teardown: (handler: () => unknown) => void teardowns.push(handler) },
    folder,
    prefix,
    { readsFiles: false },
  )
  await cluster.gatewaySync(namespace, 'plant', {
    git: { repo: host.url(`${prefix}.git/.git`), ref: 'main' },
    polling: { enabled: false },
    gateway: { port },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects', required: false }] } } },
  })
  const { synced, stop } = watchReport(cluster, namespace, prefix)
  teardowns.push(stop)
  const gateway = await cluster.gateway(namespace, prefix, { account: 'gateway', simulator, dataDir })
  await synced(head)
  // The agent already runs, as git does when the clone is timed, and has no file yet.
  head = repository.commit(plantFiles(size))
  // Hosts keep repositories packed. Without this, git would pack in the middle of the measurement.
  repository.git('gc', '-q')
  // The clone comes first: follow-up work of a first sync, such as a clean-up of the mirror, would slow it down by a tenth to a fifth.
  const cloneMs = await clone(host.url(`${prefix}.git/.git`), path.join(folder, `clone-${prefix}`))
  const startedMs = performance.now()
  await pushTo(receiver, namespace, 'plant')
  await synced(head)
  const firstMs = performance.now() - startedMs
  return { repository, namespace, simulator, dataDir, synced, gateway, firstMs, cloneMs }
}

async function measure(cluster: Installation, teardowns: (() => unknown)[], name: string, size: Size, rounds: number) {
  const { receiver } = cluster
  let last = await firstSync(cluster, teardowns, `${name}-0`, size)
  const pairs = [last]
  for (let index = 1; index < firsts; index += 1) {
    // Its drift checks would take processor time from the measurement.
    await last.gateway.stop()
    last = await firstSync(cluster, teardowns, `${name}-${index}`, size)
    pairs.push(last)
  }
  const { repository, namespace, simulator, dataDir, synced } = last
  const toFiles: number[] = []
  const toScan: number[] = []
  const file = 'projects/f0/0.json'
  for (let round = 0; round < rounds; round += 1) {
    const text = `round ${round}\n`
    const head = repository.commit({ [file]: text })
    simulator.requests.length = 0
    const there = fileHolds(path.join(dataDir, file), text)
    await pushTo(receiver, namespace, 'plant')
    const acceptedMs = performance.now()
    toFiles.push((await there) - acceptedMs)
    const scan = await until(
      () => simulator.requests.find(({ method, path: called }) => method === 'POST' && called.endsWith('/scan/projects')),
      'the scan',
    )
    toScan.push(scan.atMs - acceptedMs)
    await synced(head)
  }
  const figure = (what: string, value: number, unit: string): Figure => ({ name: `${name}: ${what}`, value, unit })
  return {
    pushToFiles: median(toFiles),
    figures: [
      figure('push to files, median', median(toFiles), 'ms'),
      figure('push to files, 99th percentile', percentile(toFiles, 99), 'ms'),
      figure('push to scan, median', median(toScan), 'ms'),
      figure('push to scan, 99th percentile', percentile(toScan, 99), 'ms'),
      figure('first sync, from push to SyncReport, median', median(pairs.map(({ firstMs }) => firstMs)), 'ms'),
      figure('git clone --depth=1, median', median(pairs.map(({ cloneMs }) => cloneMs)), 'ms'),
      figure('first sync relative to git clone, median', median(pairs.map(({ firstMs, cloneMs }) => firstMs / cloneMs)), 'x'),
    ],
  }
}

/**
 * Resolves with the time at which a file has the given content. Watches the file, because polling every few milliseconds would take
 * processor time.
 */
async function fileHolds(file: string, text: string): Promise<number> {
  const there = Promise.withResolvers<number>()
  const look = (): void => {
    if (existsSync(file) && readFileSync(file, 'utf8') === text) there.resolve(performance.now())
  }
  const watcher = watch(path.dirname(file), look)
  const late = setTimeout(() => there.reject(new Error(`${file} is not there`)), syncedWithinMs)
  look()
  try {
    return await there.promise
  } finally {
    watcher.close()
    clearTimeout(late)
  }
}

/** `synced` resolves when the report of the gateway shows the commit. */
function watchReport({ world: { kube } }: Installation, namespace: string, gateway: string) {
  const stop = new AbortController()
  const waiting = new Set<() => void>()
  let report: SyncReportStatus | undefined
  const running = runListWatch(
    { kube, clock: systemClock, log: silentLog },
    { type: syncReportType, namespace, project: ({ status }) => (status ?? {}) as SyncReportStatus },
    {
      upsert(key, status) {
        if (key.name === gateway) report = status
        for (const look of waiting) look()
      },
      remove() {},
      synced() {},
    },
    stop.signal,
  )
  return {
    synced: async (commit: string): Promise<void> => {
      const there = Promise.withResolvers<void>()
      const late = setTimeout(() => there.reject(new Error(`${gateway} is not synced: ${JSON.stringify(report)}`)), syncedWithinMs)
      const look = (): void => {
        if (report?.phase === 'Synced' && report.commit === commit) there.resolve()
      }
      waiting.add(look)
      look()
      try {
        await there.promise
      } finally {
        clearTimeout(late)
        waiting.delete(look)
      }
    },
    async stop() {
      stop.abort(new Error('stop'))
      await running
    },
  }
}

async function clone(url: string, folder: string): Promise<number> {
  const startedMs = performance.now()
  await promisify(execFile)('git', ['clone', '-q', '--depth=1', url, folder], { env: gitEnvironment })
  const tookMs = performance.now() - startedMs
  rmSync(folder, { recursive: true, force: true })
  return tookMs
}
