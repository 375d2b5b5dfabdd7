/**
 * Leader election on the real API server: the leader, its successor and the time of the change, and that a replaced leader writes nothing.
 */
import { spawn } from 'node:child_process'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock, unlessAborted } from '../../../runtime/platform/clock.ts'
import type { LeaseOptions } from '../../../runtime/kube/lease/lease.ts'
import { runWithLease } from '../../../runtime/kube/lease/run.ts'
import { leaseType } from '../../../runtime/kube/types.ts'
import { createLog, silentLog } from '../../../runtime/platform/log/log.ts'
import { requires } from '../../support/requires.ts'
import { configMapType, openWorld, until, type World } from '../../support/world.ts'

void t.test('one of two contenders leads, and the other follows at once when it releases the Lease', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const { kube, namespace, signal } = await openWorld(t)
  const where = await namespace('lease')
  const deps = { kube, clock: systemClock, log: silentLog }
  const leading = new Set<string>()
  const holders = new Map<string, string | undefined>()
  let most = 0
  let terms = 0
  const contend = (identity: string, own: AbortSignal): Promise<void> =>
    runWithLease(
      deps,
      {
        namespace: where,
        name: 'leader',
        identity,
        renewEveryMs: 200,
        durationMs: 100_000,
        renewWithinMs: 90_000,
        address: identity === 'a' ? '10.0.0.1:9445' : undefined,
        onHolder: (address) => holders.set(identity, address),
      },
      async (leads) => {
        terms += 1
        leading.add(identity)
        most = Math.max(most, leading.size)
        await new Promise<void>((resolve) => leads.addEventListener('abort', () => resolve(), { once: true }))
        leading.delete(identity)
      },
      own,
    )
  const [first, second] = [new AbortController(), new AbortController()]
  const a = contend('a', first.signal)
  await until(() => (leading.has('a') ? true : undefined), 'a leads')
  const b = contend('b', second.signal)
  const renewals = new Set<unknown>()
  await until(async () => {
    const lease = await kube.get(leaseType, { namespace: where, name: 'leader' }, signal)
    renewals.add((lease?.spec as { renewTime?: unknown } | undefined)?.renewTime)
    return renewals.size > 3 ? true : undefined
  }, 'a renews while b waits')
  t.strictSame([...leading], ['a'])
  t.strictSame(
    [...holders],
    [
      ['a', undefined],
      ['b', '10.0.0.1:9445'],
    ],
  )
  t.equal(terms, 1, 'a Lease that can be renewed is kept')
  const startedMs = systemClock.monotonicMs()
  first.abort(new Error('stop'))
  await a
  await until(() => (leading.has('b') ? true : undefined), 'b leads')
  t.ok(systemClock.monotonicMs() - startedMs < 60_000, 'long before the Lease would have run out')
  t.equal(most, 1, 'never two at once')
  t.equal(holders.get('b'), undefined, 'who leads has no other leader')
  const { annotations } = (await kube.get(leaseType, { namespace: where, name: 'leader' }, signal))?.metadata ?? {}
  t.notOk(annotations?.['clustersync.io/delivery-address'], 'a predecessor is not taken for a holder that names no address')

  await kube.mergePatch(leaseType, { namespace: where, name: 'leader' }, { spec: { holderIdentity: 'thief' } }, {}, signal)
  await until(() => (leading.size === 0 ? true : undefined), 'b stops once another holds the Lease')
  second.abort(new Error('stop'))
  await b
})

/** A busy machine takes long even for what takes a second. */
const soon: typeof until = async (poll, what) => await until(poll, what, 200_000)

type Contender = { leads(): boolean; said(text: string): number; stop(): Promise<void> }

/** Contends for the Lease `leader` of a namespace, which would expire only after the test. */
function contend(
  t: Test,
  { kube }: World,
  namespace: string,
  { identity, contact }: { identity: string; contact?: LeaseOptions['contact'] },
): Contender {
  const lines: string[] = []
  const log = createLog({ level: 'info', destination: { write: (line: string) => void lines.push(line) } })
  const stop = new AbortController()
  let leads = false
  const running = runWithLease(
    { kube, clock: systemClock, log },
    {
      namespace,
      name: 'leader',
      identity,
      address: '10.0.0.1:9445',
      durationMs: 1_000_000,
      renewWithinMs: 900_000,
      answerWithinMs: 10_000,
      ...(contact === undefined ? {} : { contact }),
    },
    async (signal) => {
      leads = true
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      leads = false
    },
    stop.signal,
  )
  const end = async (): Promise<void> => {
    stop.abort(new Error('the test is over'))
    await running
  }
  t.teardown(end)
  return { leads: () => leads, said: (text) => lines.filter((line) => line.includes(text)).length, stop: end }
}

void t.test('an unreachable but running leader answers through the Lease and keeps leading', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const namespace = await world.namespace('lease')
  const leader = contend(t, world, namespace, { identity: 'a' })
  await soon(() => (leader.leads() ? true : undefined), 'a leads')
  const cutOff = async () => 'gone' as const
  const standbys = ['b', 'c'].map((identity) => contend(t, world, namespace, { identity, contact: cutOff }))
  for (const standby of standbys) {
    await soon(() => (standby.said('is alive, but cannot be reached') >= 2 ? true : undefined), 'the leader has answered twice')
    t.notOk(standby.leads())
  }
  t.ok(leader.leads())
  t.equal(leader.said('"leading"'), 1, 'in its first term')
})

void t.test(
  'one of two standbys takes the Lease of a frozen leader, which writes nothing when it resumes',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const world = await openWorld(t)
    const { kube, signal } = world
    const namespace = await world.namespace('lease')
    const work = { namespace, name: 'work' }
    const version = async (): Promise<string> => (await kube.get(configMapType, work, signal))?.metadata.resourceVersion ?? ''
    const first = (await kube.create(configMapType, { apiVersion: 'v1', kind: 'ConfigMap', metadata: work }, signal)).metadata
      .resourceVersion
    const program = path.join(import.meta.dirname, '../../support/programs/lead.ts')
    const child = spawn(process.execPath, [program, world.plane.adminKubeconfig, namespace, 'a'], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(() => child.kill('SIGKILL'))
    let told = ''
    child.stdout.on('data', (text: Buffer) => (told += text.toString('utf8')))
    await soon(async () => ((await version()) === first ? undefined : true), 'a leads and writes')

    const frozen = Promise.withResolvers<void>()
    const contact = (_holder: object, ended: AbortSignal) =>
      unlessAborted(frozen.promise, ended).then(
        () => 'gone' as const,
        () => 'gone' as const,
      )
    const standbys = ['b', 'c'].map((identity) => contend(t, world, namespace, { identity, contact }))
    // A moment after one of its writes, and long before the next.
    child.kill('SIGSTOP')
    const stoppedMs = systemClock.monotonicMs()
    frozen.resolve()
    const leading = (): Contender[] => standbys.filter(({ leads }) => leads())
    await soon(() => (leading().length > 0 ? true : undefined), 'another leads')
    const before = await version()
    await soon(() => (systemClock.monotonicMs() - stoppedMs > 4_000 ? true : undefined), 'its next write is due')
    child.kill('SIGCONT')
    await soon(() => (told.includes('no longer leading') ? true : undefined), 'a knows')
    t.equal(await version(), before, 'what it woke with was not written')
    t.equal(leading().length, 1)
  },
)

void t.test('a holder without a promise to answer keeps the Lease until it expires', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const namespace = await world.namespace('lease')
  const spec = { holderIdentity: 'a', leaseDurationSeconds: 3 }
  const metadata = { namespace, name: 'leader', annotations: { 'clustersync.io/delivery-address': '10.0.0.1:9445' } }
  await world.kube.create(leaseType, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }, world.signal)
  const standby = contend(t, world, namespace, { identity: 'b', contact: async () => 'gone' })
  await soon(() => (standby.leads() ? true : undefined), 'b leads')
  t.equal(standby.said('is asked by the Lease'), 0)
})
