/**
 * Two replicas of the content server with separate mirrors and one git host that counts fetches: a replica does not fetch what the leader
 * has.
 */
import { createServer, type Socket } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { addressOf, type ForwardToLeader, createForwarding, readAddress } from '../../../../runtime/content/server/forward.ts'
import type { Change, Source } from '../../../../runtime/content/protocol/protocol.ts'
import type { DeliveryDeps } from '../../../../runtime/content/server/server.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { contractRoots, sourceContract } from '../../../contract/source.ts'
import { matchObject } from '../../../support/assertions.ts'
import { type MirrorUnderTest, serveDelivery, type ServedDelivery } from '../../../support/delivery-server.ts'
import { eachHost, type GitHost, type HostMode, startGitHost } from '../../../support/git-host.ts'
import { type Repository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(120_000)

type Replica = ServedDelivery & { address: string }

type Replicas = {
  host: GitHost
  repository: Repository
  leader: Replica
  standby: Replica
  /** Sets the leader that the standby forwards to. */
  follow(ask: ForwardToLeader | undefined): void
  /** Forwards a request to the leader. */
  ask: ForwardToLeader
  /** Creates a commit, fetches it into the leader's mirror only, and lets both replicas serve it. */
  push(changes: Readonly<Record<string, string | null>>): Promise<string>
}

async function startReplicas(t: Test, leading: Partial<DeliveryDeps> = {}, mode: HostMode = 'v2'): Promise<Replicas> {
  const folder = temporaryFolder(t, 'replicas')
  const host = await startGitHost(path.join(folder, 'git'), { mode })
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  const mirrorOf = (name: string) => {
    const mirrors = createMirrors({ folder: path.join(folder, name), clock: systemClock, log: silentLog })
    t.teardown(async () => mirrors.close())
    return mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
  }
  const replica = async (name: string, publishes: boolean, more: Partial<DeliveryDeps>): Promise<Replica> => {
    const mirror = mirrorOf(name)
    const inner: MirrorUnderTest = {
      repository,
      unknownCommit: 'CommitGone',
      source: mirror.source((profile) => (profile === 'default' ? contractRoots : undefined)),
      publish: async (commit) => (publishes ? await mirror.ensure(parseCommitHash(commit), signal) : undefined),
    }
    const served = await serveDelivery(t, inner, { more })
    return { ...served, address: addressOf('127.0.0.1', served.served.port) ?? '' }
  }
  const leader = await replica('leader', true, leading)
  const ask = forwardTo(leader)
  let followed: ForwardToLeader | undefined = ask
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

function forwardTo({ address, caBundle }: Pick<Replica, 'address' | 'caBundle'>): ForwardToLeader {
  return createForwarding({ serverName: 'localhost', caBundle: () => caBundle, log: silentLog })(address)
}

/** What an agent receives for a commit: paths with contents, or the reason of the refusal. */
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

void t.test('a standby serves what the leader has without a fetch from the git host', async (t) => {
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

void t.test('a standby that forwards to the leader fulfills the source contract', async (t) => {
  if (!requires(t, 'git')) return
  await sourceContract(t, async (own) => {
    const { repository, standby, leader } = await startReplicas(own)
    const publish = async (commit: string): Promise<void> => {
      await leader.publish(commit)
      await standby.publish(commit)
    }
    return { repository, source: standby.client('good'), publish, unknownCommit: 'CommitNotPublished' }
  })
})

void t.test('a standby fetches from the git host itself when the leader cannot help', async (t) => {
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
  const rows: [string, (replicas: Replicas) => ForwardToLeader | undefined][] = [
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

eachHost(t, 'a standby fetches a published commit that is not a tip any more itself', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { push, follow, repository, standby } = await startReplicas(t, {}, mode)
  const published = await push({ 'projects/a.txt': 'published' })
  repository.commit({ 'projects/a.txt': 'refused' })
  repository.commit({ 'projects/a.txt': 'refused again' })
  follow(undefined)
  t.strictSame(await read(standby.client('gateway-0'), published), { 'projects/a.txt': 'published' })
})

void t.test("the leader's refusal of an upload of changes reaches the agent, because no other replica can accept it", async (t) => {
  if (!requires(t, 'git')) return
  const { ask, push } = await startReplicas(t)
  const commit = parseCommitHash(await push({ 'projects/a.txt': 'a' }))
  const told = { profile: 'default', mode: '', request: 'now', digest: '0'.repeat(64), files: 0, skipped: [], skippedFiles: 0 }
  const call = { namespace: 'plant-a', name: 'plant', token: 'gateway-0' }
  const asked = async (route: 'capture' | 'changes', body: object) => await ask({ ...call, route, body }, signal)
  const refusal = async (body: object): Promise<unknown> => await asked('capture', body).catch((error: unknown) => error)
  matchObject(t, await refusal({ ...told, commit, digest: 'short' }), { reason: 'PayloadMalformed' })
  matchObject(t, await refusal({ ...told, commit: 'f'.repeat(40) }), { reason: 'CommitNotPublished' })
  matchObject(t, await refusal({ ...told, commit, profile: 'other' }), { reason: 'UnknownProfile' })
  t.equal(await asked('changes', { commit: 'f'.repeat(40), from: null, profile: 'default' }), undefined, 'content has another way')
})

void t.test('a program missing on the leader is reported only for the answer that needs it', async (t) => {
  if (!requires(t, 'git')) return
  const { ask, push } = await startReplicas(t, {
    authorize: async () => await Promise.reject(new Fault('ToolMissing', 'mkfifo cannot create pipes')),
  })
  const commit = parseCommitHash(await push({ 'projects/a.txt': 'a' }))
  const call = { namespace: 'default', name: 'plant', token: 'gateway-0' }
  const files = ask({ ...call, route: 'files', body: { commit, profile: 'default' } }, signal)
  matchObject(t, await files.catch((error: unknown) => error), { reason: 'ToolMissing' })
  t.equal(await ask({ ...call, route: 'changes', body: { commit, from: null, profile: 'default' } }, signal), undefined)
  t.equal(await ask({ ...call, route: 'blobs', body: { commit, profile: 'default', ids: [] } }, signal), undefined)
})

void t.test("the leader receives the agent's token and authorizes it again", async (t) => {
  if (!requires(t, 'git')) return
  const tokens: string[] = []
  const { standby, push } = await startReplicas(t, {
    async authorize({ namespace, token }) {
      tokens.push(token)
      return { kind: 'allowed', pod: `${namespace}/${token}` }
    },
  })
  const commit = await push({ 'projects/a.txt': 'a' })
  t.equal(await read(standby.client('bad'), commit), 'DeliveryUnauthorized')
  t.strictSame(tokens, [], 'what is refused here is asked nowhere')
  t.strictSame(await read(standby.client('gateway-7'), commit), { 'projects/a.txt': 'a' })
  t.strictSame(new Set(tokens), new Set(['gateway-7']))
})

void t.test('two replicas that forward to each other still answer', async (t) => {
  if (!requires(t, 'git')) return
  let other: ForwardToLeader | undefined
  const replicas = await startReplicas(t, { leader: () => other })
  const commit = replicas.repository.commit({ 'projects/a.txt': 'a' })
  // Both may serve the commit, and neither has fetched it.
  for (const replica of [replicas.leader, replicas.standby]) replica.permit(commit)
  other = forwardTo(replicas.standby)
  const agents = [replicas.leader, replicas.standby].map((replica) => replica.client('gateway-0'))
  for (const found of await Promise.all(agents.map((agent) => read(agent, commit)))) t.strictSame(found, { 'projects/a.txt': 'a' })
})

void t.test('an answer that the leader truncates is discarded with a fault', async (t) => {
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

void t.test('an address in a Lease is that of one pod or is ignored', async (t) => {
  t.equal(addressOf('10.1.2.3', 9445), '10.1.2.3:9445')
  t.equal(addressOf('fd00::7', 9445), '[fd00::7]:9445')
  for (const ip of [undefined, '', 'git.example']) t.equal(addressOf(ip, 9445), undefined)
  for (const text of ['10.1.2.3:9445', '[fd00::7]:9445']) t.equal(readAddress(text), text)
  for (const text of [undefined, '', 'git.example:9445', '10.1.2.3', '10.1.2.3:0', '10.1.2.3:70000', '10.1.2.3:1/path', 'a@10.1.2.3:9445'])
    t.equal(readAddress(text), undefined, text ?? 'none')
})
