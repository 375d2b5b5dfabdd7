import t from 'tap'
import { nextCertificates } from '../../../../runtime/certificates/rotation.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { DeliveryClient } from '../../../../runtime/content/client/client.ts'
import type { GatewayAccess, FramedSource, Source } from '../../../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { sourceContract } from '../../../contract/source.ts'
import { matchObject } from '../../../support/assertions.ts'
import { overHost, overMirror, serveDelivery } from '../../../support/delivery-server.ts'
import { eachHost } from '../../../support/git-host.ts'
import { requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'

const signal = AbortSignal.timeout(120_000)

async function reasonOf(source: Source, commit: string): Promise<string> {
  try {
    for await (const batch of source.changes({ commit: parseCommitHash(commit), from: null, profile: 'default' }, signal)) {
      if (batch.length === 0) return 'an empty batch'
    }
    return 'nothing was thrown'
  } catch (error) {
    return error instanceof Fault ? error.reason : String(error)
  }
}

void t.test('a mirror of a local repository fulfills the source contract', async (t) => {
  if (!requires(t, 'git')) return
  await sourceContract(t, async (t) => overMirror(t))
})

eachHost(t, 'an in-process mirror fulfills the source contract', async (t, mode) => {
  if (!requires(t, 'git')) return
  await sourceContract(t, async (t) => overHost(t, mode))
})

eachHost(t, 'the content server over TLS fulfills the source contract', async (t, mode) => {
  if (!requires(t, 'git')) return
  await sourceContract(t, async (t) => {
    const inner = await overHost(t, mode)
    const { client, publish } = await serveDelivery(t, inner)
    return { repository: inner.repository, source: client('good'), publish, unknownCommit: 'CommitNotPublished' }
  })
})

void t.test('the content server refuses a caller without a valid token, and commits that are not published', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const { client, publish, told } = await serveDelivery(t, inner)
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  t.equal(await reasonOf(client('good'), commit), 'CommitNotPublished')
  await publish(commit)
  t.equal(await reasonOf(client('good'), commit), 'nothing was thrown')
  t.equal(await reasonOf(client('bad'), commit), 'DeliveryUnauthorized')
  t.equal(await reasonOf(client('good', 'other'), commit), 'NotFound')
  const stranger = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  t.equal(await reasonOf(client('good', 'plant', stranger.caBundle), commit), 'DeliveryUnreachable', 'the server must prove itself too')
  matchObject(t, told, [{ status: 404 }, { route: 'changes', status: 200 }, { status: 401 }, { status: 404 }], 'each call is counted once')
  t.strictSame(
    told.map(({ bytes }) => bytes > 0),
    [false, true, false, false],
  )
})

void t.test('a request for a commit that the controller learns of later is answered once it does', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const asked = Promise.withResolvers<void>()
  const commits = new Set<string>()
  const lookup = () => {
    asked.resolve()
    return { commits, source: inner.source, hasProfile: () => true, revision: '1', access: async () => ({}), capture: () => undefined }
  }
  const { client, publish } = await serveDelivery(t, inner, { more: { lookup, lateMs: 60_000 } })
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  await publish(commit)
  const outcome = reasonOf(client('good'), commit)
  await asked.promise
  commits.add(commit)
  t.equal(await outcome, 'nothing was thrown')
})

void t.test('a truncated answer is discarded with a fault', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const broken: FramedSource = {
    ...inner.source,
    async *changes(request, own) {
      for await (const batch of inner.source.changes(request, own)) yield batch
      throw new Fault('GitFailed', 'git was killed')
    },
  }
  const { client, publish } = await serveDelivery(t, inner, { source: broken })
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  await publish(commit)
  t.equal(await reasonOf(client('good'), commit), 'DeliveryFailed')
})

void t.test('refused calls release their slots', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const { client, publish } = await serveDelivery(t, inner, { more: { lateMs: 0 } })
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  for (let call = 0; call < 40; call += 1) t.equal(await reasonOf(client('good'), commit), 'CommitNotPublished')
  await publish(commit)
  t.equal(await reasonOf(client('good'), commit), 'nothing was thrown')
})

void t.test('agents beyond the slots are rejected with 429 and retry until they are served', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const held: FramedSource = {
    ...inner.source,
    async *changes(request, own) {
      yield* inner.source.changes(request, own)
      await released
    },
  }
  const { client, publish, told } = await serveDelivery(t, inner, {
    source: held,
    more: { slots: { total: 8, perTenant: 6, perKey: 1 } },
  })
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  await publish(commit)
  const all = Promise.all(Array.from({ length: 40 }, async (_, index) => reasonOf(client(`gateway-${index}`), commit)))
  const refused = (): number => told.filter(({ status }) => status === 429).length
  await until(() => (refused() >= 34 ? true : undefined), 'all but those of one namespace are told to come again')
  release()
  t.strictSame(new Set(await all), new Set(['nothing was thrown']))
  t.equal(told.filter(({ status }) => status === 200).length, 40)
})

void t.test('gateway access is sent over TLS to a pod that follows the GatewaySync, and to no other', async (t) => {
  const secret = { apiKey: 'gw:' + 'k'.repeat(40), caBundle: 'PEM' }
  let access: () => Promise<GatewayAccess> = async () => secret
  const inner = overMirror(t)
  const { client, told } = await serveDelivery(t, inner, { access: () => access() })
  t.strictSame(await client('good').gateway(signal), secret)
  access = async () => ({})
  t.strictSame(await client('good').gateway(signal), {}, 'a GatewaySync that names neither')
  const reasonFor = async (one: DeliveryClient): Promise<string> =>
    await one.gateway(signal).then(
      () => 'nothing was thrown',
      (error: unknown) => (error instanceof Fault ? `${error.reason}: ${error.message}` : String(error)),
    )
  access = async () => {
    throw new Fault('SecretNotFound', 'Secret plant/gw has no key apiKey')
  }
  t.equal(await reasonFor(client('good')), 'SecretNotFound: Secret plant/gw has no key apiKey')
  access = async () => secret
  t.match(await reasonFor(client('bad')), /^DeliveryUnauthorized/)
  t.match(await reasonFor(client('good', 'other')), /^NotFound/)
  t.notOk(JSON.stringify(told).includes(secret.apiKey))
})
