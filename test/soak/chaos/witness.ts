/**
 * The actual history of the objects of a type: every revision that etcd wrote, from a watch of etcd itself. The API server restarts with
 * all its watches; etcd and this watch stay.
 */
import { linesOf } from '../../../runtime/http/lines.ts'
import { readText, startCall } from '../../../runtime/http/client.ts'
import type { ResourceType } from '../../../runtime/kube/types.ts'
import type { Change } from './versions.ts'

export type Witness = {
  /** In order of revisions. */
  happened: readonly Change[]
  /** Doubts about the history: its watch has ended, or differs from the current content of etcd. */
  caveats(): Promise<string[]>
  stop(): Promise<void>
}

type Range = { header: { revision: string }; kvs?: { key: string; mod_revision: string }[] }
type WatchLine = {
  result?: {
    canceled?: boolean
    cancel_reason?: string
    compact_revision?: string
    events?: { type?: 'PUT' | 'DELETE'; kv: { key: string; mod_revision: string } }[]
  }
  error?: { message?: string }
}

const maxBytes = 64 * 1024 * 1024

/** All namespaces without `namespace`. Keys are `namespace/name`. */
export async function startWitness(etcdUrl: string, { group, plural }: ResourceType, namespace?: string): Promise<Witness> {
  const root = `/registry/${group === '' ? '' : `${group}/`}${plural}/`
  const prefix = namespace === undefined ? root : `${root}${namespace}/`
  const span = { key: base64(prefix), range_end: base64(`${prefix.slice(0, -1)}0`) }
  const stop = new AbortController()
  const ask = (path: string, body: object) =>
    startCall(`${etcdUrl}/v3/${path}`, { method: 'POST', signal: stop.signal }, JSON.stringify(body)).answered
  const range = async (): Promise<Range> =>
    JSON.parse((await readText(await ask('kv/range', { ...span, keys_only: true }), maxBytes)) ?? '') as Range
  const keyOf = (encoded: string): string => Buffer.from(encoded, 'base64').toString('utf8').slice(root.length)

  const { header, kvs = [] } = await range()
  const happened: Change[] = kvs
    .map(({ key, mod_revision }) => ({ key: keyOf(key), revision: Number(mod_revision), isGone: false }))
    .toSorted((a, b) => a.revision - b.revision)
  let ended: string | undefined
  const response = await ask('watch', { create_request: { ...span, start_revision: String(Number(header.revision) + 1) } })
  const running = (async () => {
    for await (const line of linesOf(response, maxBytes)) {
      const { result = {}, error } = JSON.parse(line) as WatchLine
      if (error !== undefined || result.canceled === true) throw new Error(error?.message ?? `canceled: ${line}`)
      for (const { type: what, kv } of result.events ?? [])
        happened.push({ key: keyOf(kv.key), revision: Number(kv.mod_revision), isGone: what === 'DELETE' })
    }
    throw new Error('it was closed')
  })().catch((error: unknown) => {
    ended = String(error)
  })
  return {
    happened,
    async caveats() {
      if (ended !== undefined) return [`the watch of etcd over ${plural} has ended: ${ended}`]
      const now = new Map((await range()).kvs?.map(({ key, mod_revision }) => [keyOf(key), Number(mod_revision)]))
      const held = new Map<string, number>()
      for (const { key, revision, isGone } of happened) {
        if (isGone) held.delete(key)
        else held.set(key, revision)
      }
      const isSame = now.size === held.size && [...now].every(([key, revision]) => held.get(key) === revision)
      return isSame ? [] : [`the watch of etcd over ${plural} does not hold what etcd holds`]
    },
    async stop() {
      stop.abort(new Error('the soak is over'))
      await running
    },
  }
}

/** The end of a range is the first key outside it: `0` follows `/`. */
function base64(key: string): string {
  return Buffer.from(key).toString('base64')
}
