/**
 * The connection of a replica to the leader over real TLS: it lasts while the leader confirms its role, and each kind of loss is detected.
 */
import { createServer, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { nextCertificates } from '../../../../runtime/certificates/rotation.ts'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import { createContact, leadingApp } from '../../../../runtime/content/server/leader-connection.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { serve } from '../../../../runtime/http/serve.ts'
import { until } from '../../../support/world.ts'

type Leader = {
  address: string
  caBundle: string
  /** The identity that it reports. */
  name: string | undefined
  /** The number of requests. */
  asked: number
  /** The number of connections opened to it. */
  connections: number
  /** Ends its process, as others see it. */
  end(): void
  /** Stops answering while connections stay open. */
  freeze(): void
}

async function startLeader(t: Test): Promise<Leader> {
  const certificates = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  const stop = new AbortController()
  const leader: Leader = {
    address: '',
    caBundle: certificates.caBundle,
    name: 'a',
    asked: 0,
    connections: 0,
    end() {},
    freeze() {},
  }
  const app = leadingApp(() => {
    leader.asked += 1
    return leader.name
  })
  const tls = { cert: certificates.leaf.certificate, key: certificates.leaf.key }
  const served = await serve({ app, port: 0, host: '127.0.0.1', tls, log: silentLog }, stop.signal)
  // A proxy in front of the leader that can stop forwarding.
  const sockets = new Set<Socket>()
  let frozen = false
  const before = createServer((near) => {
    leader.connections += 1
    const far = new Socket().connect(served.port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => undefined)
      from.on('close', () => to.destroy())
      from.on('data', (chunk: Buffer) => frozen || to.write(chunk))
    }
  })
  await new Promise<void>((resolve) => before.listen(0, '127.0.0.1', resolve))
  leader.address = `127.0.0.1:${(before.address() as { port: number }).port}`
  leader.end = () => {
    before.close()
    for (const socket of sockets) socket.destroy()
  }
  leader.freeze = () => void (frozen = true)
  t.teardown(async () => {
    leader.end()
    stop.abort()
    await served.closed
  })
  return leader
}

/** Connects to a leader with the identity `a`. */
function touch(
  t: Test,
  leader: Leader,
  { caBundle = leader.caBundle, clock = systemClock }: { caBundle?: string; clock?: Clock } = {},
): { lost(): string | undefined; settled: Promise<void>; leave(): void } {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const contact = createContact({ serverName: 'localhost', caBundle: () => caBundle, clock })
  let lost: string | undefined
  const settled = contact({ identity: 'a', address: leader.address }, stop.signal).then((how) => void (lost = how))
  return { lost: () => lost, settled, leave: () => stop.abort() }
}

void t.test('the leader is polled over one connection until the replica disconnects', async (t) => {
  const leader = await startLeader(t)
  const { lost, settled, leave } = touch(t, leader)
  await until(() => (leader.asked >= 3 ? true : undefined), 'it was asked thrice')
  t.notOk(lost())
  t.equal(leader.connections, 1)
  leave()
  await settled
})

void t.test('a long-lived connection leaks no listeners', async (t) => {
  const warnings: Error[] = []
  const warn = (warning: Error): void => void warnings.push(warning)
  process.on('warning', warn)
  t.teardown(() => process.off('warning', warn))
  const leader = await startLeader(t)
  const clock: Clock = { ...systemClock, wait: (ms, signal) => systemClock.wait(ms / 50, signal) }
  const { settled, leave } = touch(t, leader, { clock })
  // Node warns at eleven listeners for one event.
  await until(() => (leader.asked >= 40 ? true : undefined), 'it was asked forty times')
  t.equal(leader.connections, 1)
  leave()
  await settled
  t.strictSame(warnings, [])
})

const losses: [string, 'gone' | 'silent', (leader: Leader) => void][] = [
  ['it leads no more', 'gone', (leader) => void (leader.name = undefined)],
  ['another process has its address', 'gone', (leader) => void (leader.name = 'b')],
  ['its process has ended', 'gone', (leader) => leader.end()],
  ['it is frozen', 'silent', (leader) => leader.freeze()],
]
for (const [name, how, lose] of losses) {
  void t.test(`a leader is lost when ${name}`, async (t) => {
    const leader = await startLeader(t)
    const { lost, settled } = touch(t, leader)
    await until(() => (leader.asked >= 2 ? true : undefined), 'it is in touch')
    t.notOk(lost())
    lose(leader)
    await settled
    t.equal(lost(), how)
  })
}

void t.test("an address without the leader's certificate, or that is not a pod IP, is not accepted as the leader", async (t) => {
  const leader = await startLeader(t)
  const other = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  await touch(t, leader, { caBundle: other.caBundle }).settled
  t.equal(leader.asked, 0)
  const named: Leader = { ...leader, address: leader.address.replace('127.0.0.1', 'localhost') }
  await touch(t, named).settled
  t.equal(leader.asked, 0)
})
