/**
 * Two hundred users at the status page of a thousand gateways, over TLS and behind a login: some view a GatewaySync, some a gateway, some
 * the changes of a commit. API server, git host and viewers run outside; the controller is the shipped one, within the memory limit of its
 * container. Measures the memory that the users add, and the time until all of them have an updated page after a change.
 */
import { writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import * as https from 'node:https'
import path from 'node:path'
import { systemClock } from '../../runtime/platform/clock.ts'
import { install, type Installation } from '../support/installation.ts'
import { boss, pageSecret, rightsOf } from '../support/page-rights.ts'
import { freePort } from '../support/ports.ts'
import { pushTo } from '../support/push.ts'
import { until } from '../support/world.ts'
import { type Figure, median, percentile } from './figures.ts'
import { change, figure } from './scale/bench.ts'
import { containController, sample } from './scale/contained.ts'
import { createPlants, createPods, createReports, forEach, hashOf, type Plant, untilTaken, writeReport } from './scale/plants.ts'

/** From `resources.limits` in the manifests. */
const limitMiB = 128
const viewers = 200
const prefixes = ['north', 'south', 'west']
const gatewaysOfEach = 334
const pushes = 3
const restMs = 15_000
const lifetimeMs = 1_800_000

type Viewer = { heard(): number; look(): Promise<number>; leave(): void }

export async function run(): Promise<Figure[]> {
  const teardowns: (() => unknown)[] = []
  const t = { teardown: (handler: () => unknown) => void teardowns.push(handler) }
  try {
    const contained = containController(limitMiB)
    t.teardown(() => contained.remove())
    const port = await freePort()
    const name = `viewers-${port}`
    const proxy = { enabled: true, secretRef: { name: 'page-proxy' }, groupsPrefix: `${name}:` }
    const options = { command: contained.command, sourceParent: contained.folder, lifetimeMs }
    const cluster = await install(t, prefixes, { statusPage: { enabled: true, port, proxy } }, options)
    writeFileSync(path.join(cluster.folder, 'page-proxy-secret'), `${pageSecret}\n`)
    await cluster.world.apply(rightsOf(name, cluster.namespace('north')))
    const repository = cluster.host.repository('plants.git')
    const repo = cluster.host.url('plants.git/.git')
    const first = change(repository, 'first')
    const plants = prefixes.map((prefix): Plant => ({ namespace: cluster.namespace(prefix), name: prefix, repo }))
    await createPlants(cluster, plants)
    const pods = await createPods(cluster, plants, gatewaysOfEach)
    await createReports(cluster, pods)
    await forEach(pods, async (pod) => await writeReport(cluster, pod, { commit: first, syncHash: hashOf(repo) }))
    await published(cluster, plants, first)
    const second = change(repository, 'second')
    await push(cluster, plants, second)
    await systemClock.wait(restMs)
    const pid = cluster.controllerPid()
    const before = contained.workingSetMiB(pid)
    const figures = [figure('working set before anybody looks', before, 'MiB')]
    const watched = sample(() => contained.workingSetMiB(pid))
    const people = await arrive(port, plants, second)
    t.teardown(() => people.forEach(({ leave }) => leave()))
    const looks = await Promise.all(people.map(async ({ look }) => await look()))
    figures.push(
      figure(`${viewers} first looks at once, median`, median(looks), 'ms'),
      figure(`${viewers} first looks at once, slowest`, Math.max(...looks), 'ms'),
    )
    figures.push(figure('working set, highest until all have their page', watched.stop().peak, 'MiB'))
    await systemClock.wait(restMs)
    figures.push(figure('working set while they listen', contained.workingSetMiB(pid), 'MiB'))
    const changing = sample(() => contained.workingSetMiB(pid))
    const behind: number[] = []
    for (let round = 0; round < pushes; round += 1) behind.push(...(await seen(cluster, plants, people, change(repository, `${round}`))))
    return [
      ...figures,
      figure('from a published status until each has their page again, median', median(behind), 'ms'),
      figure('from a published status until each has their page again, 99th percentile', percentile(behind, 99), 'ms'),
      figure('working set, highest during the changes', changing.stop().peak, 'MiB'),
    ]
  } finally {
    for (const handler of teardowns.toReversed()) await handler()
  }
}

async function published(cluster: Installation, plants: readonly Plant[], commit: string): Promise<void> {
  for (const { namespace, name } of plants)
    await until(
      async () => ((await cluster.status(namespace, name)).published?.commit === commit ? true : undefined),
      `${name} publishes ${commit}`,
      120_000,
    )
}

async function push(cluster: Installation, plants: readonly Plant[], commit: string): Promise<void> {
  for (const { namespace, name } of plants) await untilTaken(() => pushTo(cluster.receiver, namespace, name))
  await published(cluster, plants, commit)
}

/** For each viewer, the time from the last status until the event arrived and the page was fetched again. */
async function seen(cluster: Installation, plants: readonly Plant[], people: readonly Viewer[], commit: string): Promise<number[]> {
  const heard = people.map((viewer) => viewer.heard())
  await push(cluster, plants, commit)
  const startedMs = performance.now()
  return await Promise.all(
    people.map(async (viewer, index) => {
      await until(() => (viewer.heard() > (heard[index] ?? 0) ? true : undefined), 'the viewer is notified', 60_000)
      await viewer.look()
      return performance.now() - startedMs
    }),
  )
}

/** Each viewer keeps one connection for events and opens another for pages, as browsers do. */
async function arrive(port: number, plants: readonly Plant[], commit: string): Promise<Viewer[]> {
  const pageOf = (index: number): string => {
    const { namespace = '', name = '' } = plants[index % plants.length] ?? {}
    const sync = `/gatewaysyncs/${namespace}/${name}`
    const kinds = [sync, `${sync}/commits/${commit}`, `${sync}/gateways/${name}-gw-${index}`]
    return kinds[Math.floor(index / plants.length) % kinds.length] ?? sync
  }
  return await Promise.all(
    Array.from({ length: viewers }, async (_, index) => {
      const agent = new https.Agent({ keepAlive: true, maxSockets: 2, rejectUnauthorized: false })
      const open = async (where: string): Promise<IncomingMessage> =>
        await new Promise((resolve, reject) => {
          const headers = { ...boss, 'accept-encoding': 'gzip' }
          https.get({ host: 'localhost', port, path: where, headers, agent }, resolve).on('error', reject)
        })
      const page = pageOf(index)
      let heard = 0
      const events = await open('/events')
      if (events.statusCode !== 200) throw new Error(`the stream was answered with ${events.statusCode}`)
      events.on('data', (chunk: Buffer) => (heard += chunk.includes('changed') ? 1 : 0)).on('error', () => undefined)
      return {
        heard: () => heard,
        async look() {
          const startedMs = performance.now()
          const answer = await open(page)
          for await (const chunk of answer) void chunk
          if (answer.statusCode !== 200) throw new Error(`${page} was answered with ${answer.statusCode}`)
          return performance.now() - startedMs
        },
        leave() {
          events.destroy()
          agent.destroy()
        },
      }
    }),
  )
}
