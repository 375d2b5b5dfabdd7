/**
 * Two replicas of delivery, each with mirrors of its own, over one git host that counts: what one has fetched the other does not fetch.
 */
import { createServer, type Socket } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { addressOf, type AskLeader, createForwarding, readAddress } from '../../../runtime/delivery/forward.ts'
import type { Change, Source } from '../../../runtime/delivery/protocol.ts'
import type { DeliveryDeps } from '../../../runtime/delivery/server.ts'
import { Fault } from '../../../runtime/fault.ts'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { createMirrors } from '../../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../../runtime/source/remote/remote.ts'
import { contractRoots, sourceContract } from '../../contract/source.ts'
import { type MirrorUnderTest, serveDelivery, type ServedDelivery } from '../../support/delivery-server.ts'
import { type GitHost, startGitHost } from '../../support/git-host.ts'
import { type Repository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'

const signal = AbortSignal.timeout(120_000)

type Replica = ServedDelivery & { address: string }

type Replicas = {
  host: GitHost
  repository: Repository
  leader: Replica
  standby: Replica
  /** Whom the standby takes for the leader. */
  follow(ask: AskLeader | undefined): void
  /** How the leader is asked. */
  ask: AskLeader
  /** Commits, fetches into the leader's mirror alone, and lets both deliver it. */
  push(changes: Readonly<Record<string, string | null>>): Promise<string>
}

async function startReplicas(t: Test, leading: Partial<DeliveryDeps> = {}): Promise<Replicas> {
  const folder = temporaryFolder(t, 'replicas')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git', { anyHash: true })
  const mirrorOf = (name: string) => {
    const mirrors = createMirrors({ folder: path.join(folder, name), clock: systemClock, log: silentLog })
    t.teardown(async () => mirrors.close())
    return mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
  }
  const replica = async (name: string, publishes: boolean, more: Partial<DeliveryDeps>): Promise<Replica> => {
    const mirror = mirrorOf(name)
    const inner: MirrorUnderTest = {
      repository,
      source: mirror.source((profile) => (profile === 'default' ? contractRoots : undefined)),
      publish: async (commit) => (publishes ? await mirror.ensure(parseCommitHash(commit), signal) : undefined),
    }
    const served = await serveDelivery(t, inner, { more })
    return { ...served, address: addressOf('127.0.0.1', served.served.port) ?? '' }
  }
  const leader = await replica('leader', true, leading)
  const ask = forwardTo(leader)
  let followed: AskLeader | undefined = ask
  const standby = await replica('standby', false, { leader: () => followed })
  return {
    host,
    repository,
    leader,
    standby,
    ask,
    follow: (next) => (followed = next),
    async push(changes) {
      const commit = repository.commit(changes)
      await leader.publish(commit)
      await standby.publish(commit)
      return commit
    },
  }
}

function forwardTo({ address, caBundle }: Pick<Replica, 'address' | 'caBundle'>): AskLeader {
  return createForwarding({ serverName: 'localhost', caBundle: () => caBundle, log: silentLog })(address)
}

/** What an agent reads of a commit: paths with contents, or the reason why it gets nothing. */
async function read(source: Source, commit: string, from: string | null = null): Promise<Record<string, string> | string> {
  try {
    const changes: Change[] = []
    const request = { commit: parseCommitHash(commit), from: from === null ? null : parseCommitHash(from), profile: 'default' }
    for await (const batch of source.changes(request, signal)) changes.push(...batch)
    const contents = new Map<string, string>()
    let current = { id: '', text: '' }
    const ids = [...new Set(changes.flatMap((change) => (change.op === 'put' ? [change.id] : [])))]
    await source.blobs(
      { commit: request.commit, profile: 'default', ids },
      {
        begin: (id) => (current = { id, text: '' }),
        data: (chunk) => (current.text += Buffer.from(chunk).toString('latin1')),
        end: () => contents.set(current.id, current.text),
      },
      signal,
    )
    return Object.fromEntries(changes.map((change) => [change.path, change.op === 'put' ? (contents.get(change.id) ?? '') : '(gone)']))
  } catch (error) {
    return error instanceof Fault ? error.reason : String(error)
  }
}

void t.test('what the leader has, another replica serves without asking the git host', async (t) => {
  if (!requires(t, 'git')) return
  const { host, standby, leader, push } = await startReplicas(t)
  const first = await push({ 'projects/a.txt': 'a', 'projects/b.txt': 'b' })
  t.equal(host.fetches(), 1)
  t.strictSame(await read(standby.client('gateway-0'), first), { 'projects/a.txt': 'a', 'projects/b.txt': 'b' })
  const second = await push({ 'projects/a.txt': 'A', 'projects/b.txt': null })
  const agents = Array.from({ length: 50 }, (_, index) => (index % 2 === 0 ? leader : standby).client(`gateway-${index}`))
  const read50 = await Promise.all(agents.map((agent) => read(agent, second, first)))
  for (const found of read50) t.strictSame(found, { 'projects/a.txt': 'A', 'projects/b.txt': '(gone)' })
  t.equal(host.fetches(), 2, 'one for each push')
})

void t.test('a replica that asks the leader keeps every promise of a source', async (t) => {
  if (!requires(t, 'git')) return
  await sourceContract(t, async (own) => {
    const { repository, standby, leader } = await startReplicas(own)
    const publish = async (commit: string): Promise<void> => {
      await leader.publish(commit)
      await standby.publish(commit)
    }
    return { repository, source: standby.client('good'), publish }
  })
})

void t.test('a replica goes to the git host itself when the leader cannot help', async (t) => {
  if (!requires(t, 'git')) return
  const hanging = createServer()
  const connections = new Set<Socket>()
  hanging.on('connection', (socket) => connections.add(socket))
  await new Promise<void>((resolve) => hanging.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    connections.forEach((socket) => socket.destroy())
    hanging.close()
  })
  const silent = hanging.address() as { port: number }
  const rows: [string, (replicas: Replicas) => AskLeader | undefined][] = [
    ['nobody is known to lead', () => undefined],
    ['nothing listens at its address', ({ leader }) => forwardTo({ ...leader, address: '127.0.0.1:1' })],
    ['it accepts connections and says nothing', ({ leader }) => forwardTo({ ...leader, address: `127.0.0.1:${silent.port}` })],
    ['another process stands at its address', ({ leader, standby }) => forwardTo({ ...leader, caBundle: standby.caBundle })],
    [
      'it knows nothing of the GatewaySync',
      ({ ask }) =>
        (question, own) =>
          ask({ ...question, name: 'other' }, own),
    ],
    [
      'it does not take the token',
      ({ ask }) =>
        (question, own) =>
          ask({ ...question, token: 'bad' }, own),
    ],
  ]
  for (const [name, leaderOf] of rows) {
    await t.test(name, async (t) => {
      const replicas = await startReplicas(t)
      const commit = await replicas.push({ 'projects/a.txt': name })
      replicas.follow(leaderOf(replicas))
      t.strictSame(await read(replicas.standby.client('gateway-0'), commit), { 'projects/a.txt': name })
      t.equal(replicas.host.fetches(), 2, 'once for each replica')
      t.strictSame(await read(replicas.standby.client('gateway-0'), commit, commit), {})
      t.equal(replicas.host.fetches(), 2)
    })
  }
})

void t.test('what the leader says against an offer of changes reaches the agent; no other replica could take it', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, push } = await startReplicas(t)
  const commit = parseCommitHash(await push({ 'projects/a.txt': 'a' }))
  const told = { profile: 'default', mode: '', request: 'now', digest: '0'.repeat(64), files: 0, leftOut: [], leftOutFiles: 0 }
  const call = { namespace: 'plant-a', name: 'plant', token: 'gateway-0' }
  const asked = async (route: 'capture' | 'changes', body: object) => await ask({ ...call, route, body }, signal)
  const refusal = async (body: object): Promise<unknown> => await asked('capture', body).catch((error: unknown) => error)
  t.match(await refusal({ ...told, commit, digest: 'short' }), { reason: 'PayloadMalformed' })
  t.match(await refusal({ ...told, commit: 'f'.repeat(40) }), { reason: 'CommitNotPublished' })
  t.match(await refusal({ ...told, commit, profile: 'other' }), { reason: 'UnknownProfile' })
  t.equal(await asked('changes', { commit: 'f'.repeat(40), from: null, profile: 'default' }), undefined, 'content has another way')
})

void t.test('that the leader lacks a program is passed on only of the answer that it cannot make without', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, push } = await startReplicas(t, {
    authorise: async () => await Promise.reject(new Fault('ToolMissing', 'mkfifo makes no pipes')),
  })
  const commit = parseCommitHash(await push({ 'projects/a.txt': 'a' }))
  const call = { namespace: 'default', name: 'plant', token: 'gateway-0' }
  const files = ask({ ...call, route: 'files', body: { commit, profile: 'default' } }, signal)
  t.match(await files.catch((error: unknown) => error), { reason: 'ToolMissing' })
  t.equal(await ask({ ...call, route: 'changes', body: { commit, from: null, profile: 'default' } }, signal), undefined)
  t.equal(await ask({ ...call, route: 'blobs', body: { commit, profile: 'default', ids: [] } }, signal), undefined)
})

void t.test('the leader is asked with the token of the agent, and authorises it anew', async (t) => {
  if (!requires(t, 'git')) return
  const tokens: string[] = []
  const { standby, push } = await startReplicas(t, {
    async authorise({ namespace, token }) {
      tokens.push(token)
      return { kind: 'allowed', pod: `${namespace}/${token}` }
    },
  })
  const commit = await push({ 'projects/a.txt': 'a' })
  t.equal(await read(standby.client('bad'), commit), 'DeliveryUnauthorised')
  t.strictSame(tokens, [], 'what is refused here is asked nowhere')
  t.strictSame(await read(standby.client('gateway-7'), commit), { 'projects/a.txt': 'a' })
  t.strictSame(new Set(tokens), new Set(['gateway-7']))
})

void t.test('two replicas that take each other for the leader answer all the same', async (t) => {
  if (!requires(t, 'git')) return
  let other: AskLeader | undefined
  const replicas = await startReplicas(t, { leader: () => other })
  const commit = replicas.repository.commit({ 'projects/a.txt': 'a' })
  // Both may deliver it, and neither has it.
  for (const replica of [replicas.leader, replicas.standby]) replica.permit(commit)
  other = forwardTo(replicas.standby)
  const agents = [replicas.leader, replicas.standby].map((replica) => replica.client('gateway-0'))
  for (const found of await Promise.all(agents.map((agent) => read(agent, commit)))) t.strictSame(found, { 'projects/a.txt': 'a' })
})

void t.test('an answer that the leader breaks off counts for nothing', async (t) => {
  if (!requires(t, 'git')) return
  const { standby, push, follow, ask } = await startReplicas(t)
  const commit = await push({ 'projects/a.txt': 'a'.repeat(1_000_000) })
  follow(async (question, own) => {
    const whole = await ask(question, own)
    return (async function* () {
      for await (const chunk of whole ?? []) yield chunk.subarray(0, chunk.byteLength - 1)
    })()
  })
  t.equal(await read(standby.client('gateway-0'), commit), 'DeliveryFailed')
})

void t.test('an address in a Lease is that of one pod, or none', async (t) => {
  t.equal(addressOf('10.1.2.3', 9445), '10.1.2.3:9445')
  t.equal(addressOf('fd00::7', 9445), '[fd00::7]:9445')
  for (const ip of [undefined, '', 'git.example']) t.equal(addressOf(ip, 9445), undefined)
  for (const text of ['10.1.2.3:9445', '[fd00::7]:9445']) t.equal(readAddress(text), text)
  for (const text of [undefined, '', 'git.example:9445', '10.1.2.3', '10.1.2.3:0', '10.1.2.3:70000', '10.1.2.3:1/path', 'a@10.1.2.3:9445'])
    t.equal(readAddress(text), undefined, text ?? 'none')
})
