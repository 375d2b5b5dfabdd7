/**
 * `deliver.ts <folder> <profile root>`: the controller's part of a sync, mirror and content server with TLS, in its own process. Messages:
 * `{fetch, repo, mirrors}` fetches a commit into the mirrors of that folder and publishes it, and the answer has the address; `{}` returns
 * the CPU time so far, which other answers do not contain.
 */
import path from 'node:path'
import { nextCertificates } from '../../../runtime/certificates/rotation.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { deliveryApp } from '../../../runtime/content/server/server.ts'
import { parseCommitHash, parseRelativePath } from '../../../runtime/api/values.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { serve } from '../../../runtime/http/serve.ts'
import { createMirrors, type Mirrors } from '../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../runtime/git/remote/remote.ts'
import { answerMessages, cpuMs } from '../measured-process.ts'

export type DeliverMessage = { fetch?: string; repo?: string; mirrors?: string }
export type DeliverAnswer = { url: string; caBundle: string; cpuMs: number }

const [folder = '', ...roots] = process.argv.slice(2)
const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
process.on('disconnect', () => process.exit(0))
const profileRoots = roots.map(parseRelativePath)
const commits = new Set<string>()
let mirrors: { name: string; all: Mirrors } | undefined
let repo = ''

const certificates = await nextCertificates(undefined, { dnsNames: ['localhost'], now: systemClock.now() })
const app = deliveryApp({
  authorize: async () => ({ kind: 'allowed', pod: 'default/gateway' }),
  lookup: () =>
    mirrors === undefined
      ? undefined
      : {
          commits,
          source: mirrors.all.of(anonymousRemote(repo, { allowLocal: false })).source(() => profileRoots),
          hasProfile: () => true,
          revision: mirrors.name,
          access: async () => ({}),
          capture: () => undefined,
        },
  observe() {},
  clock: systemClock,
  log: silentLog,
})
const { certificate: cert, key } = certificates.leaf
const served = await serve({ app, port: 0, host: '127.0.0.1', tls: { cert, key }, log: silentLog }, stop.signal)
void served.closed.then(() => process.exit(0))

answerMessages(async (message: DeliverMessage): Promise<DeliverAnswer> => {
  if (message.mirrors !== undefined && message.mirrors !== mirrors?.name) {
    await mirrors?.all.close()
    const all = createMirrors({ folder: path.join(folder, message.mirrors), clock: systemClock, log: silentLog })
    mirrors = { name: message.mirrors, all }
  }
  repo = message.repo ?? repo
  if (message.fetch !== undefined && mirrors !== undefined) {
    // Like the controller: fetches the ref, which includes its commit.
    const { commit } = await mirrors.all.of(anonymousRemote(repo, { allowLocal: false })).resolve('main', { fresh: true }, stop.signal)
    if (commit !== parseCommitHash(message.fetch)) throw new Error(`main is ${commit}, not ${message.fetch}`)
    commits.add(commit)
  }
  return {
    url: `https://localhost:${served.port}`,
    caBundle: certificates.caBundle,
    cpuMs: Object.keys(message).length === 0 ? cpuMs() : 0,
  }
})
