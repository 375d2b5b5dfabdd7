/**
 * A content server on a real port with TLS, over a real mirror of a repository, with callers that the test chooses.
 */
import path from 'node:path'
import type { Test } from 'tap'
import { nextCertificates } from '../../runtime/certificates/rotation.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { ContentClient, type DeliveryClient } from '../../runtime/content/client/client.ts'
import type { FramedSource } from '../../runtime/content/protocol/protocol.ts'
import { requirePublished } from '../../runtime/content/server/published.ts'
import { deliveryApp, deliveryConnections, type Deliverable, type DeliveryDeps } from '../../runtime/content/server/server.ts'
import { parseCommitHash } from '../../runtime/api/values.ts'
import { type Log, silentLog } from '../../runtime/platform/log/log.ts'
import { type Served, serve } from '../../runtime/http/serve.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { contractRoots, type SourceUnderTest } from '../contract/source.ts'
import { type HostMode, startGitHost } from './git-host.ts'
import { makeRepository, type Repository, temporaryFolder } from './repository.ts'

const signal = AbortSignal.timeout(300_000)

export type MirrorUnderTest = SourceUnderTest & { source: FramedSource }

/** A mirror with the folders of the contract in profile `default`. */
export function overMirror(t: Pick<Test, 'teardown'>, log: Log = silentLog): MirrorUnderTest {
  const folder = temporaryFolder(t, 'source')
  const repository = makeRepository(path.join(folder, 'repository'))
  repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  return mirrorOf(t, { folder, repository, url: repository.folder, log, unknownCommit: 'CommitGone' })
}

/** The same with the repository at a git host. */
export async function overHost(t: Pick<Test, 'teardown'>, mode: HostMode): Promise<MirrorUnderTest> {
  const folder = temporaryFolder(t, 'source')
  const host = await startGitHost(path.join(folder, 'git'), { mode })
  t.teardown(async () => host.stop())
  const unknownCommit = mode === 'v0, tips only' ? 'CommitNotServed' : 'CommitGone'
  const repository = host.repository('plant.git')
  return mirrorOf(t, { folder, repository, url: host.url('plant.git/.git'), log: silentLog, unknownCommit })
}

type Given = { folder: string; repository: Repository; url: string; log: Log; unknownCommit: string }

function mirrorOf(t: Pick<Test, 'teardown'>, { folder, repository, url, log, unknownCommit }: Given): MirrorUnderTest {
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(url, { allowLocal: true }))
  return {
    repository,
    unknownCommit,
    source: mirror.source((profile) => (profile === 'default' ? contractRoots : undefined)),
    publish: async (commit) => mirror.ensure(parseCommitHash(commit), signal),
  }
}

export type Told = { route: string; status: number; bytes: number }

export type ServedDelivery = {
  served: Served
  caBundle: string
  /** An agent of GatewaySync `default/<name>`; `token` is the name of its pod, unless the test has its own authorizer. */
  client(token: string, name?: string, caBundle?: string): DeliveryClient
  /** Publishes a commit for `default/plant`. */
  publish(commit: string): Promise<void>
  /** The same for a commit that may be missing in the mirror. */
  permit(commit: string): void
  /** Each answer. */
  told: Told[]
}

/** Tokens that begin with `bad` are refused; any other token is that of the pod with that name. */
export async function serveDelivery(
  t: Pick<Test, 'teardown'>,
  inner: MirrorUnderTest,
  {
    source = inner.source,
    access = async () => ({}),
    more = {},
  }: { source?: FramedSource; access?: Deliverable['access']; more?: Partial<DeliveryDeps> } = {},
): Promise<ServedDelivery> {
  const commits = new Set<string>()
  const told: Told[] = []
  const published = { commits, hasProfile: (profile: string): boolean => profile === 'default' }
  const certificates = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
  const app = deliveryApp({
    authorize: async ({ namespace, token }) =>
      token.startsWith('bad')
        ? { kind: 'refused', status: 401, message: 'no such token' }
        : { kind: 'allowed', pod: `${namespace}/${token}` },
    lookup: (_namespace, name) =>
      name === 'plant'
        ? {
            ...published,
            source,
            revision: '1',
            access,
            capture(_pod, { commit, profile }) {
              requirePublished(published, commit, profile)
              return undefined
            },
          }
        : undefined,
    observe: (route, status, bytes) => told.push({ route, status, bytes }),
    clock: systemClock,
    log: silentLog,
    ...more,
  })
  const stop = new AbortController()
  const tls = { cert: certificates.leaf.certificate, key: certificates.leaf.key }
  const served = await serve({ app, port: 0, host: '127.0.0.1', tls, bounds: deliveryConnections, log: silentLog }, stop.signal)
  t.teardown(async () => {
    stop.abort()
    await served.closed
  })
  const url = `https://localhost:${served.port}`
  return {
    served,
    caBundle: certificates.caBundle,
    told,
    client: (token, name = 'plant', caBundle = certificates.caBundle) =>
      new ContentClient({ url, caBundle, token: async () => token, namespace: 'default', name, clock: systemClock }),
    async publish(commit) {
      await inner.publish(commit)
      commits.add(commit)
    },
    permit: (commit) => void commits.add(commit),
  }
}
