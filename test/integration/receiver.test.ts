/**
 * Pushes to two replicas that share state only through the API server.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { warnOpen } from '../../runtime/controller/serve/receiver.ts'
import { apiVersion } from '../../runtime/api/names.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { EventRecorder } from '../../runtime/kube/events.ts'
import { runListWatch } from '../../runtime/kube/list-watch.ts'
import { gatewaySyncType, podType } from '../../runtime/kube/types.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { projectGatewaySync } from '../../runtime/reconcile/store/records.ts'
import { matchObject } from '../support/assertions.ts'
import { startGitHost } from '../support/git-host.ts'
import { type Replica, startReplica } from '../support/replica.ts'
import { temporaryFolder } from '../support/repository.ts'
import { openTcpProxy } from '../support/tcp-proxy.ts'
import { requires } from '../support/requires.ts'
import { openWorld, tinyPod, until, type World } from '../support/world.ts'

const unlimited = { perSecond: Number.MAX_SAFE_INTEGER, failuresPerPeer: Number.MAX_SAFE_INTEGER }

type Answer = { status: number; retryAfter: string | null; body: { accepted?: boolean; reason?: string; requestId?: string } }

async function push({ url }: Replica, path: string, ref: string, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await fetch(`${url}/webhook/${path}`, {
    method: 'POST',
    headers: { authorization: 'Bearer token', 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ref }),
  })
  return { status: answer.status, retryAfter: answer.headers.get('retry-after'), body: (await answer.json()) as Answer['body'] }
}

/** Pushes as a git host does, which tries again what was answered with 503: a busy API server may not take a request in time. */
async function deliver(t: Test, ...[replica, path, ref, headers]: Parameters<typeof push>): Promise<Answer> {
  return await until(async () => {
    const answer = await push(replica, path, ref, headers)
    if (answer.status === 202) return answer
    matchObject(t, answer, { status: 503, retryAfter: /^[1-9]\d*$/ })
    return undefined
  }, 'the push is accepted')
}

/** A published GatewaySync, two replicas with the first one leading, and every outcome that its status ever had. */
async function setUp(t: Test, world: World) {
  const { kube, plane, signal } = world
  const folder = temporaryFolder(t, 'receiver')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  repository.commit({ 'projects/a.txt': 'one' })
  for (const tag of ['v1', 'v2', 'v3']) repository.git('tag', tag)
  await world.apply([gatewaySyncCrd(), syncReportCrd()])
  const namespace = await world.namespace('push')
  const spec = {
    git: { repo: host.url('plant.git/.git'), ref: 'main', allowedRefs: ['main', 'v*'] },
    polling: { enabled: false },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }
  await until(async () => {
    const object = { apiVersion, kind: 'GatewaySync', metadata: { namespace, name: 'plant' }, spec }
    return await kube.create(gatewaySyncType, object, signal).catch(() => undefined)
  }, 'the API server serves the kind')

  const outcomes = new Map<string, string>()
  const stop = new AbortController()
  const watching = runListWatch(
    { kube, clock: systemClock, log: silentLog },
    { type: gatewaySyncType, namespace, project: projectGatewaySync },
    {
      upsert(_key, { status }) {
        for (const { id, outcome } of status.requests ?? []) outcomes.set(id, outcome)
      },
      remove() {},
      synced() {},
    },
    stop.signal,
  )
  t.teardown(async () => {
    stop.abort()
    await watching
  })
  const options = { kubeconfig: plane.adminKubeconfig, namespace, limits: unlimited }
  const first = await startReplica(t, { ...options, folder: path.join(folder, 'first'), leads: true })
  const second = await startReplica(t, { ...options, folder: path.join(folder, 'second') })
  const status = async (): Promise<GatewaySyncStatus> =>
    (await kube.get(gatewaySyncType, { namespace, name: 'plant' }, signal))?.status ?? {}
  await until(async () => (await status()).published, 'the first commit is published')
  return { first, second, host, outcomes, namespace, plant: `${namespace}/plant`, status, repository }
}

void t.test('two replicas behind one address accept pushes like one', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const { first, second, host, outcomes, plant, status } = await setUp(t, world)
  const both = [first, second] as const
  const calls = (count: number, call: (index: number, replica: Replica) => Promise<Answer>): Promise<Answer[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => call(index, index % 2 === 0 ? first : second)))
  const answered = async (answers: readonly Answer[], what: string): Promise<Set<string>> => {
    const ids = new Set(answers.map(({ body }) => body.requestId ?? 'none'))
    await until(() => ([...ids].every((id) => outcomes.has(id)) ? true : undefined), `${what}: an outcome for each of ${ids.size}`).catch(
      (error: unknown) => t.fail(`${String(error)}; without one: ${[...ids].filter((id) => !outcomes.has(id)).length}`),
    )
    return ids
  }

  await t.test('1,000 identical deliveries cause one request per replica and at most two syncs', async (t) => {
    const before = first.syncs()
    const answers = await calls(1_000, (_, replica) => deliver(t, replica, plant, 'main', { 'x-github-delivery': 'one' }))
    const ids = await answered(answers, 'identical')
    t.equal(ids.size, both.length)
    t.ok(first.syncs() - before <= 2, `${first.syncs() - before} syncs`)
  })

  await t.test('1,000 different deliveries of one ref: every request has an outcome', async (t) => {
    const before = first.syncs()
    const answers = await calls(1_000, (index, replica) => deliver(t, replica, plant, 'main', { 'x-github-delivery': `d-${index}` }))
    const ids = await answered(answers, 'different')
    t.comment(`${ids.size} requests, ${first.syncs() - before} syncs`)
    t.equal((await status()).lastHandledRequest, [...outcomes.keys()].at(-1))
  })

  await t.test('a steady stream of several refs to both replicas loses no request', async (t) => {
    const before = first.syncs()
    const [total, inFlight] = [120, 6]
    const answers: Answer[] = []
    let next = 0
    const work = async (): Promise<void> => {
      for (let index = next++; index < total; index = next++) {
        answers.push(await deliver(t, both[index % 2] ?? first, plant, ['main', 'v1', 'v2'][index % 3] ?? 'main'))
      }
    }
    await Promise.all(Array.from({ length: inFlight }, work))
    t.equal(answers.length, total)
    const ids = await answered(answers, 'stream')
    t.comment(`${ids.size} requests, ${first.syncs() - before} syncs`)
  })

  await t.test('with a hanging git host more requests than fit into the status each have an outcome', async (t) => {
    host.hang(true)
    const ids = new Set<string>()
    for (let index = 0; ids.size < 30; index += 1) {
      const { body } = await deliver(t, both[index % 2] ?? first, plant, ['main', 'v1', 'v2'][index % 3] ?? 'main')
      ids.add(body.requestId ?? '')
    }
    host.hang(false)
    await answered(
      [...ids].map((requestId) => ({ status: 202, retryAfter: null, body: { requestId } })),
      'hung',
    )
  })

  await t.test('a replica without the API server answers 503 at once, and accepts pushes after reconnecting', async (t) => {
    const [namespace = ''] = plant.split('/')
    const tcpProxy = await openTcpProxy(t, () => [Number(new URL(world.plane.url).port)])
    const folder = temporaryFolder(t, 'cut-off')
    const cut = await startReplica(t, {
      kubeconfig: tcpProxy.through(world.plane.adminKubeconfig, folder),
      namespace,
      folder,
      limits: unlimited,
    })
    matchObject(t, await push(cut, plant, 'main'), { status: 202 })
    await tcpProxy.close()
    matchObject(t, await push(cut, plant, 'main'), { status: 503, retryAfter: /^[1-9]\d*$/, body: { reason: 'ApiUnavailable' } })
    await tcpProxy.open()
    const back = await until(async () => {
      const answer = await push(cut, plant, 'main')
      return answer.status === 202 ? answer : undefined
    }, 'a push is taken again')
    await answered([back], 'after the cut')
  })

  await t.test('a forbidden ref, an unauthenticated push and an open receiver cause Events', async (t) => {
    const [namespace = ''] = plant.split('/')
    const { kube, plane, signal } = world
    const eventOf = async (reason: string, kind: string) =>
      await until(async () => {
        const { stdout } = await plane.kubectl(['get', 'events', '-n', namespace, '-o', 'json'])
        const { items } = JSON.parse(stdout) as { items: { reason: string; involvedObject: { kind: string } }[] }
        return items.find((event) => event.reason === reason && event.involvedObject.kind === kind)
      }, `an Event ${reason} of a ${kind}`)
    matchObject(t, await push(first, plant, 'forbidden'), { status: 202, body: { accepted: false, reason: 'RefNotAllowed' } })
    matchObject(t, await eventOf('RefNotAllowed', 'GatewaySync'), {
      type: 'Warning',
      involvedObject: { name: 'plant' },
      message: /allowedRefs/,
    })

    const open = await startReplica(t, { kubeconfig: plane.adminKubeconfig, namespace, folder: temporaryFolder(t, 'open'), open: true })
    matchObject(t, await push(open, plant, 'main', { authorization: '' }), { status: 202, body: { accepted: true } })
    matchObject(t, await eventOf('ReceiverOpen', 'GatewaySync'), { type: 'Warning', message: /without authentication/ })
    matchObject(t, await eventOf('WebhookReceived', 'GatewaySync'), { type: 'Normal', involvedObject: { name: 'plant' } })

    await kube.create(podType, tinyPod(namespace, 'controller'), signal)
    const events = new EventRecorder({ kube, clock: systemClock, log: silentLog }, { component: 'clustersync.io/test', instance: 'test' })
    await warnOpen({ kube, events, log: silentLog }, { namespace, name: 'controller' }, signal)
    matchObject(t, await eventOf('ReceiverOpen', 'Pod'), {
      type: 'Warning',
      involvedObject: { name: 'controller' },
      message: /has no secret/,
    })
    await warnOpen({ kube, events, log: silentLog }, { namespace, name: 'none' }, signal)
  })
})

void t.test(
  'while the API server is unavailable pushes get 503 with Retry-After, and later they are accepted',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const world = await openWorld(t, { shared: false })
    const { second, outcomes, namespace, plant } = await setUp(t, world)
    const apiServer = processOfPort(new URL(world.plane.url).port)
    t.teardown(() => process.kill(apiServer, 'SIGCONT'))
    process.kill(apiServer, 'SIGSTOP')
    const delivery = { 'x-github-delivery': 'again' }
    const startMs = systemClock.monotonicMs()
    const away = await Promise.all([push(second, plant, 'main', delivery), push(second, plant, 'v1')])
    t.ok(systemClock.monotonicMs() - startMs < 20_000, 'before hosts give up, but for a busy machine')
    for (const answer of away) matchObject(t, answer, { status: 503, retryAfter: /^[1-9]\d*$/, body: { reason: 'ApiUnavailable' } })
    matchObject(t, await push(second, plant, 'main', { authorization: 'Bearer wrong' }), { status: 401 }, 'nobody learns of it unproved')
    matchObject(t, await push(second, `${namespace}/none`, 'main'), { status: 404 }, 'what is known is answered')
    process.kill(apiServer, 'SIGCONT')
    const back = await until(async () => {
      const answer = await push(second, plant, 'main', delivery)
      return answer.status === 202 ? answer : undefined
    }, 'a push is taken again')
    matchObject(t, back.body, { accepted: true, duplicate: undefined })
    await until(() => outcomes.get(back.body.requestId ?? ''), 'its request has an outcome')
    t.strictSame(new Set(second.outcomes), new Set(['failed', 'refused', 'accepted']))
  },
)

/** The process that listens, found by its arguments. */
function processOfPort(port: string): number {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .find((pid) => argumentsOf(pid).includes(`--secure-port=${port}`))
  if (found === undefined) throw new Error(`no kube-apiserver with port ${port}`)
  return Number(found)
}

function argumentsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    // It has exited meanwhile.
    return []
  }
}
