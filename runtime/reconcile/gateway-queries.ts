/**
 * Queries Prometheus about gateways that a rollout waits for or watches, concurrently with reconciles. A tenant writes the address, so the
 * rules for git hosts apply, and only whether the answer is healthy is exposed.
 */
import { type Clock, deadline, pause, unlessAborted } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import { answerOfPrometheus, type CheckQuestion, filledQuery } from './rollout/check-question.ts'
import { afterAnswer, type CheckAnswer, type StoredCheck } from '../api/check-record.ts'
import { FairLimiter } from '../platform/async/fair-limiter.ts'
import { causeOf } from '../http/client.ts'
import type { Log } from '../platform/log/log.ts'
import { callForJson } from '../git/credentials/api-call.ts'
import { addressesOf, type Network } from '../git/remote/network.ts'
import { proxyFor } from '../git/remote/proxy.ts'
import { requireAllowedApi } from '../git/remotes.ts'
import { parseSyncKey, type SyncKey } from './store/records.ts'

type Deps = {
  clock: Clock
  log: Log
  network: Network
  /** Empty: any host. */
  allowedHosts: readonly string[]
  /** Called outside any reconcile when a result changes. */
  changed(key: SyncKey): void
}

type Entry = { question: CheckQuestion; known: StoredCheck | undefined; dueMs: number; isUnderWay: boolean }

/** Each query runs this often; an answer is valid for a minute. */
const intervalMs = 10_000
const pollIntervalMs = 1_000
const timeoutMs = 5_000
/** Concurrent queries: a slow server delays only the GatewaySyncs that use it. */
const limits = { total: 64, reserve: 16, perTenant: 24, perKey: 8 } as const
/** Maximum running and waiting queries of a namespace; the others begin when these end. */
const maxBegun = 400

/** Keeps only the results of current questions; a new leader starts empty. */
export class GatewayQueries {
  readonly #deps: Deps
  readonly #limiter: FairLimiter
  readonly #entries = new Map<SyncKey, Map<string, Entry>>()
  /** Servers that a namespace cannot reach, with the reason. */
  readonly #unreached = new Map<string, { why: string; untilMs: number }>()
  readonly #underWay = new Set<Promise<void>>()
  /** Running and waiting queries by namespace. */
  readonly #begun = new Map<string, number>()
  #wake = Promise.withResolvers<void>()

  constructor(deps: Deps) {
    this.#deps = deps
    this.#limiter = new FairLimiter({ ...limits, clock: deps.clock })
  }

  /** Returns the known result of each gateway, by pod. */
  answers(key: SyncKey): ReadonlyMap<string, StoredCheck> {
    const entries = [...(this.#entries.get(key) ?? [])]
    return new Map(entries.flatMap(([pod, { known }]) => (known === undefined ? [] : [[pod, known] as const])))
  }

  /** Replaces the questions of a GatewaySync; each is queried repeatedly. */
  setQueries(key: SyncKey, questions: readonly CheckQuestion[]): void {
    const before = this.#entries.get(key)
    const next = questions.map((question): [string, Entry] => {
      const known = before?.get(question.pod)
      return [question.pod, known?.question.about === question.about ? known : { question, known: undefined, dueMs: 0, isUnderWay: false }]
    })
    if (next.length === 0) this.#entries.delete(key)
    else this.#entries.set(key, new Map(next))
    this.#wake.resolve()
  }

  /** Runs until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#entries.size > 0) {
        this.#beginDue(signal)
        await pause(this.#deps.clock, pollIntervalMs, signal)
        continue
      }
      this.#wake = Promise.withResolvers()
      await unlessAborted(this.#wake.promise, signal).catch(() => undefined)
    }
    await Promise.all(this.#underWay)
  }

  #beginDue(signal: AbortSignal): void {
    const nowMs = this.#deps.clock.monotonicMs()
    for (const [key, entries] of this.#entries)
      for (const [pod, entry] of entries) {
        if (entry.dueMs > nowMs || entry.isUnderWay) continue
        const { namespace } = parseSyncKey(key)
        const begun = this.#begun.get(namespace) ?? 0
        if (begun >= maxBegun) break
        this.#begun.set(namespace, begun + 1)
        // The last from now on, so that every gateway and GatewaySync has its turn.
        entries.delete(pod)
        entries.set(pod, entry)
        this.#entries.delete(key)
        this.#entries.set(key, entries)
        const one: Promise<void> = this.#query(key, entry, signal).finally(() => {
          this.#underWay.delete(one)
          const left = (this.#begun.get(namespace) ?? 1) - 1
          if (left > 0) this.#begun.set(namespace, left)
          else this.#begun.delete(namespace)
        })
        this.#underWay.add(one)
      }
    for (const [server, { untilMs }] of this.#unreached) if (untilMs <= nowMs) this.#unreached.delete(server)
  }

  async #query(key: SyncKey, entry: Entry, signal: AbortSignal): Promise<void> {
    entry.isUnderWay = true
    const { namespace: tenant, name } = parseSyncKey(key)
    try {
      await this.#limiter.run({ tenant, key: name }, signal, async (own) => {
        if (this.#isCurrent(key, entry)) this.#keep(key, entry, await this.#answerOf(tenant, entry, own))
      })
    } catch (error) {
      if (!signal.aborted) this.#deps.log.error({ reason: asFault(error).reason, err: error }, 'gateway check failed unexpectedly')
    } finally {
      entry.isUnderWay = false
    }
  }

  /** Whether the question was neither replaced nor dropped. */
  #isCurrent(key: SyncKey, entry: Entry): boolean {
    return this.#entries.get(key)?.get(entry.question.pod) === entry
  }

  /** An unreachable server is tried once for all GatewaySyncs of a namespace that use it; another namespace's query may be quicker. */
  async #answerOf(tenant: string, { question }: Entry, signal: AbortSignal): Promise<CheckAnswer> {
    const { clock } = this.#deps
    const server = `${tenant} ${question.url}`
    const known = this.#unreached.get(server)
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return { kind: 'none', why: known.why }
    this.#unreached.delete(server)
    try {
      return await queryPrometheus(this.#deps, question, signal)
    } catch (error) {
      signal.throwIfAborted()
      const { reason, message } = asFault(error)
      const why = reason === 'Unexpected' ? `no answer: ${causeOf(error)}` : message
      this.#unreached.set(server, { why, untilMs: clock.monotonicMs() + intervalMs / 2 })
      return { kind: 'none', why }
    }
  }

  #keep(key: SyncKey, entry: Entry, answer: CheckAnswer): void {
    if (!this.#isCurrent(key, entry)) return
    const { clock, log, changed } = this.#deps
    const { pod, about } = entry.question
    const before = entry.known?.record
    const record = afterAnswer(before, answer, clock.now().epochMilliseconds)
    entry.known = { about, record }
    entry.dueMs = clock.monotonicMs() + intervalMs
    if (record.state === before?.state && record.why === before.why) return
    const { namespace, name } = parseSyncKey(key)
    log.info({ namespace, name, pod, message: record.why ?? record.state }, 'gateway check result changed')
    if (record.state !== (before?.state ?? 'Unknown')) changed(key)
  }
}

/** One instant query (GET /api/v1/query of Prometheus' HTTP API). Throws RepositoryNotAllowed, GitHostUnknown, and what the network throws. */
async function queryPrometheus(
  { network, allowedHosts }: Deps,
  { url, ...question }: CheckQuestion,
  signal: AbortSignal,
): Promise<CheckAnswer> {
  const server = new URL(url)
  const host = server.hostname.replaceAll(/^\[|\]$/g, '')
  const isSecure = server.protocol === 'https:'
  requireAllowedApi(host, allowedHosts)
  const proxy = proxyFor({ protocol: isSecure ? 'https' : 'http', host }, undefined, network.proxy)
  if (proxy !== undefined && !isSecure)
    return { kind: 'none', why: `${host} would be queried over http through the proxy; use https, or list it in noProxy` }
  const own = deadline(timeoutMs, signal)
  const addresses = await addressesOf(host, proxy, network, own)
  const target = `${url.replace(/\/$/, '')}/api/v1/query?${new URLSearchParams({ query: filledQuery(question), timeout: '4s' }).toString()}`
  const call = { url: target, method: 'GET', headers: { accept: 'application/json' } } as const
  const { status, body } = await callForJson(call, { caBundle: undefined, proxy: proxy?.url, addresses }, own)
  return answerOfPrometheus(status, body)
}
