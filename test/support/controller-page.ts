/**
 * The status page of a controller behind a proxy with a login, on a port: its API server knows two users and records what is written.
 */
import { writeFileSync } from 'node:fs'
import * as http from 'node:http'
import path from 'node:path'
import type { Test } from 'tap'
import { type Clock, systemClock } from '../../runtime/platform/clock.ts'
import { controllerStatusPage, type PageLogins } from '../../runtime/controller/page/status-page.ts'
import type { ClusterView } from '../../runtime/fleet/view.ts'
import type { EventToWrite } from '../../runtime/kube/events.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import { serve, type ServingCertificate } from '../../runtime/http/serve.ts'
import { syncFacts } from './fleet-facts.ts'
import { temporaryFolder } from './repository.ts'

export const pageSecret = 'sixteen or more characters'
/** Headers of the proxy besides those that name the user. */
export const fromProxy = { 'x-cluster-sync-proxy-secret': pageSecret }

type Spec = { user: string; groups: string[]; resourceAttributes: { namespace: string; verb: string } }
type Answer = { status: number | undefined; text: string; headers: http.IncomingHttpHeaders }

/** `north` and `south` have one GatewaySync each. `ann` may list the first, `cyd` each of them; `bob` may do everything. */
export async function openedPage(t: Pick<Test, 'teardown'>, written: string | undefined = `${pageSecret}\n`, clusters: ClusterView[] = []) {
  const secretFile = path.join(temporaryFolder(t, 'page-login'), 'secret')
  if (written !== undefined) writeFileSync(secretFile, written)
  const proxy = { secretFile, userHeader: 'X-Forwarded-User', groupsHeader: 'X-Forwarded-Groups', usernamePrefix: '', groupsPrefix: '' }
  return await openController(t, { proxy }, { clusters })
}

/** `tls`: a certificate for `localhost`, which browsers need to keep the cookies of the page; plain HTTP by default. */
type Port = { clock?: Clock; port?: number; tls?: ServingCertificate; clusters?: ClusterView[] }

/** The same with any login. */
export async function openController(
  t: Pick<Test, 'teardown'>,
  logins: PageLogins,
  { clock = systemClock, port = 0, tls, clusters = [] }: Port = {},
) {
  const stop = new AbortController()
  const store = new Store(() => {})
  let versions = 0
  /** Like an event of the API server's watch. */
  const put = (namespace: string, changed: object = {}): void => {
    const { name, generation, annotations, spec, status } = syncFacts(`line-${namespace}`)
    versions += 1
    const own = { namespace, name, uid: namespace, resourceVersion: `${versions}` }
    store.upsertSync({ ...own, generation, annotations, spec: { ...(spec as object), ...changed }, status })
  }
  for (const namespace of ['north', 'south']) put(namespace)
  let away = false
  const asked: Spec[] = []
  const patched: { key: object; body: Record<string, unknown> }[] = []
  const told: EventToWrite[] = []
  const reviews = {
    async post(_path: string, body: unknown): Promise<unknown> {
      if (away) throw new Error('away')
      const { spec } = body as { spec: Spec }
      asked.push(spec)
      const { namespace, verb } = spec.resourceAttributes
      const allowed =
        spec.groups.includes('system:masters') ||
        (spec.user === 'ann' && namespace === 'north' && verb === 'list') ||
        (spec.user === 'cyd' && namespace !== '' && verb === 'list') ||
        spec.user === 'bob'
      return { status: { allowed } }
    },
  }
  const kube = {
    // eslint-disable-next-line require-yield
    async *listPages(): AsyncGenerator<never> {
      throw new Error('nothing is read anew here')
    },
    async mergePatch(_type: unknown, key: { namespace: string; name: string }, body: object) {
      patched.push({ key, body: body as Record<string, unknown> })
      const { uid, generation, spec, status } = store.sync(key.namespace, key.name) ?? {}
      const changed = { ...(spec as object), ...(body as { spec?: object }).spec }
      versions += 1
      return { metadata: { ...key, uid: uid ?? '', resourceVersion: `${versions}`, generation: generation ?? 1 }, spec: changed, status }
    },
  }
  const events = { record: (event: EventToWrite) => void told.push(event) }
  const mirrors = { serving: async () => await Promise.reject(new Error('no repository is read here')) }
  const parts = {
    store,
    mirrors,
    reviews,
    network: { proxy: undefined },
    kube: kube as never,
    events,
    clock,
    log: silentLog,
    notReady: () => [],
    receives: true,
    clusters: { views: () => clusters, watch: () => () => undefined },
  }
  const app = controllerStatusPage(parts, logins, stop.signal)
  const served = await serve({ app, port, host: tls === undefined ? '127.0.0.1' : 'localhost', tls, log: silentLog }, stop.signal)
  t.teardown(async () => {
    stop.abort()
    await served.closed
  })
  const send = async (method: string, where: string, headers: http.OutgoingHttpHeaders, body?: string): Promise<Answer> => {
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const call = http.request(`http://127.0.0.1:${served.port}${where}`, { method, headers, agent: false }, resolve)
      call.on('error', reject)
      call.end(body)
    })
    const told = { status: answer.statusCode, headers: answer.headers }
    if (answer.headers['content-type'] === 'text/event-stream') {
      answer.destroy()
      return { ...told, text: '' }
    }
    return { ...told, text: Buffer.concat((await answer.toArray()) as Buffer[]).toString('utf8') }
  }
  const get = (where: string, headers: http.OutgoingHttpHeaders): Promise<Answer> => send('GET', where, headers)
  return { get, send, put, port: served.port, asked, patched, told, setAway: () => (away = true) }
}
