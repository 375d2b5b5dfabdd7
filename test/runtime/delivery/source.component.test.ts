import path from 'node:path'
import t, { type Test } from 'tap'
import { nextCertificates } from '../../../runtime/certificates/next.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { deliveryClient } from '../../../runtime/delivery/client.ts'
import type { Origin, Source } from '../../../runtime/delivery/protocol.ts'
import { deliveryApp } from '../../../runtime/delivery/server.ts'
import { Fault } from '../../../runtime/fault.ts'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { serve } from '../../../runtime/serve.ts'
import { createMirrors } from '../../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../../runtime/source/remote.ts'
import { contractRoots, sourceContract, type SourceUnderTest } from '../../contract/source.ts'
import { makeRepository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { until } from '../../support/world.ts'

const signal = AbortSignal.timeout(120_000)

function overMirror(t: Test): SourceUnderTest & { source: Origin } {
  const folder = temporaryFolder(t, 'source')
  const repository = makeRepository(path.join(folder, 'repository'))
  repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  return {
    repository,
    source: mirror.source((profile) => (profile === 'default' ? contractRoots : undefined)),
    publish: async (commit) => mirror.ensure(parseCommitHash(commit), signal),
  }
}

async function overTls(t: Test, inner: SourceUnderTest & { source: Origin }, source = inner.source) {
  const commits = new Set<string>()
  const told: { route: string; status: number; bytes: number }[] = []
  const certificates = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  const app = deliveryApp({
    authorise: async ({ token }) => (token === 'good' ? { kind: 'allowed' } : { kind: 'refused', status: 401, message: 'no such token' }),
    lookup: (_namespace, name) => (name === 'plant' ? { commits, source, hasProfile: (profile) => profile === 'default' } : undefined),
    observe: (route, status, bytes) => told.push({ route, status, bytes }),
    log: silentLog,
  })
  const stop = new AbortController()
  const { certificate, key } = { certificate: certificates.leaf.certificate, key: certificates.leaf.key }
  const served = await serve({ app, port: 0, host: '127.0.0.1', tls: { cert: certificate, key }, log: silentLog }, stop.signal)
  t.teardown(async () => {
    stop.abort()
    await served.closed
  })
  const url = `https://localhost:${served.port}`
  const client = (token: string, name = 'plant', caBundle = certificates.caBundle): Source =>
    deliveryClient({ url, caBundle, token: async () => token, namespace: 'default', name, clock: systemClock })
  const publish = async (commit: string): Promise<void> => {
    await inner.publish(commit)
    commits.add(commit)
  }
  return { client, publish, told }
}

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

void t.test('a mirror in process is a source', async (t) => {
  if (!requires(t, 'git')) return
  await sourceContract(t, async (t) => overMirror(t))
})

void t.test('delivery over TLS is a source', async (t) => {
  if (!requires(t, 'git')) return
  await sourceContract(t, async (t) => {
    const inner = overMirror(t)
    const { client, publish } = await overTls(t, inner)
    return { repository: inner.repository, source: client('good'), publish }
  })
})

void t.test('delivery gives nothing to a caller without a valid token, nor of a commit that was not published', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const { client, publish, told } = await overTls(t, inner)
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  t.equal(await reasonOf(client('good'), commit), 'CommitNotPublished')
  await publish(commit)
  t.equal(await reasonOf(client('good'), commit), 'nothing was thrown')
  t.equal(await reasonOf(client('bad'), commit), 'DeliveryUnauthorised')
  t.equal(await reasonOf(client('good', 'other'), commit), 'NotFound')
  const stranger = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  t.equal(await reasonOf(client('good', 'plant', stranger.caBundle), commit), 'DeliveryUnreachable', 'the server must prove itself too')
  t.match(told, [{ status: 404 }, { route: 'changes', status: 200 }, { status: 401 }, { status: 404 }], 'each call is counted once')
  t.strictSame(
    told.map(({ bytes }) => bytes > 0),
    [false, true, false, false],
  )
})

void t.test('an answer that is cut off counts for nothing', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const broken: Origin = {
    ...inner.source,
    async *changes(request, own) {
      for await (const batch of inner.source.changes(request, own)) yield batch
      throw new Fault('GitFailed', 'git was killed')
    },
  }
  const { client, publish } = await overTls(t, inner, broken)
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  await publish(commit)
  t.equal(await reasonOf(client('good'), commit), 'DeliveryFailed')
})

void t.test('refused calls give their places back', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const { client, publish } = await overTls(t, inner)
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  for (let call = 0; call < 40; call += 1) t.equal(await reasonOf(client('good'), commit), 'CommitNotPublished')
  await publish(commit)
  t.equal(await reasonOf(client('good'), commit), 'nothing was thrown')
})

void t.test('more agents than can be served at once come back until they are', async (t) => {
  if (!requires(t, 'git')) return
  const inner = overMirror(t)
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let [open, most, entered] = [0, 0, 0]
  const held: Origin = {
    ...inner.source,
    async *changes(request, own) {
      open += 1
      entered += 1
      most = Math.max(most, open)
      try {
        yield* inner.source.changes(request, own)
        await released
      } finally {
        open -= 1
      }
    },
  }
  const { client, publish } = await overTls(t, inner, held)
  const commit = inner.repository.commit({ 'projects/a.txt': 'a' })
  await publish(commit)
  const all = Promise.all(Array.from({ length: 40 }, async () => reasonOf(client('good'), commit)))
  await until(() => (entered >= 32 ? true : undefined), 'as many as can be served are')
  release()
  t.same(new Set(await all), new Set(['nothing was thrown']))
  t.ok(most <= 32, `${most} at once`)
})
