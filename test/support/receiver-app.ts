/**
 * The receiver on a real socket, with keys, a target and writes that the test chooses.
 */
import type { Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import type { ReceiverOutcome } from '../../runtime/receiver/answers.ts'
import { receiverApp } from '../../runtime/receiver/app.ts'
import type { ReceiverDeps, ReceiverNotice } from '../../runtime/receiver/receiver-deps.ts'
import type { Keys } from '../../runtime/receiver/authenticate.ts'
import type { ReceiverTarget } from '../../runtime/receiver/request/choose-ref.ts'
import { type IndexedSync, SyncIndex } from '../../runtime/receiver/request/sync-index.ts'
import { type ConnectionBounds, serve } from '../../runtime/http/serve.ts'

/** An index of GatewaySyncs, by default each with keys of its own and any repository. */
export function indexOf(names: readonly string[], syncOf: (name: string) => Partial<IndexedSync> = () => ({})): SyncIndex {
  const index = new SyncIndex()
  for (const name of names) index.set(name, { keySource: name, ...syncOf(name) })
  return index
}

type SetUp = {
  bounds?: Partial<ConnectionBounds>
  keys?: Keys
  target?: Partial<ReceiverTarget>
  request?: () => Promise<void>
  more?: Partial<ReceiverDeps>
}

export async function serveReceiver(
  t: Pick<Test, 'teardown'>,
  { keys = { hmac: ['key'], tokens: ['token'] }, target = {}, request, more = {}, bounds = {} }: SetUp = {},
) {
  const requests: Record<string, string>[] = []
  const outcomes: ReceiverOutcome[] = []
  const notices: ReceiverNotice[] = []
  const app = receiverApp({
    lookup: (_namespace, name) =>
      name === 'plant' ? { specRef: 'main', desiredRef: 'main', allowedRefs: undefined, ...target } : undefined,
    syncs: (namespace) => indexOf(namespace === 'default' ? ['plant'] : []),
    keys: async () => keys,
    async request(_namespace, _name, annotations) {
      await request?.()
      requests.push(annotations)
    },
    notify: (_namespace, _name, notice) => notices.push(notice),
    observe: (outcome) => outcomes.push(outcome),
    clock: systemClock,
    log: silentLog,
    ...more,
  })
  const stop = new AbortController()
  const served = await serve({ app, port: 0, host: '127.0.0.1', bounds, log: silentLog }, stop.signal)
  t.teardown(async () => {
    stop.abort()
    await served.closed
  })
  const post = async (
    body: string,
    headers: Record<string, string> = {},
    path = '/webhook/default/plant',
  ): Promise<{ status: number; retryAfter: string | null; body: Record<string, unknown> }> => {
    const answer = await fetch(served.url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', connection: 'close', ...headers },
    })
    const text = await answer.text()
    return {
      status: answer.status,
      retryAfter: answer.headers.get('retry-after'),
      body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
    }
  }
  const bearer = { authorization: 'Bearer token' }
  return { served, requests, outcomes, notices, post, bearer }
}
