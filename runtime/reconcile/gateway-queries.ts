/**
 * Queries Prometheus about gateways that a rollout waits for or watches, concurrently with reconciles. A tenant writes the address, so the
 * rules for git hosts apply, and only whether the answer is healthy is exposed.
 */
import { type Clock, deadline, pause, unlessAborted } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import { answerOfPrometheus, type CheckQuestion } from './rollout/check-question.ts'
import { afterAnswer, type CheckAnswer, type StoredCheck } from '../api/check-record.ts'
import { FairLimiter } from '../platform/async/fair-limiter.ts'
import { causeOf } from '../http/client.ts'
import type { Log } from '../platform/log/log.ts'
import { callForJson } from '../git/credentials/api-call.ts'
import { addressesOf, type Network } from '../git/remote/network.ts'
import { proxyFor } from '../git/remote/proxy.ts'
import { requireAllowedApi } from '../git/remotes.ts'
import type { SyncKey } from './store/records.ts'

export type GatewayQueries = {
  /** Returns the known result of each gateway, by pod. */
  answers(key: SyncKey): ReadonlyMap<string, StoredCheck>
  /** Replaces the questions of a GatewaySync; each is asked repeatedly. */
  ask(key: SyncKey, questions: readonly CheckQuestion[]): void
  /** Runs until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>
}

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
const eachMs = 10_000
const pollIntervalMs = 1_000
const timeoutMs = 5_000
/** Concurrent queries: a slow server delays only the GatewaySyncs that use it. */
const limits = { total: 64, reserve: 16, perTenant: 24, perKey: 8 } as const

/** Keeps only the results of current questions; a new leader starts empty. */
export function createGatewayQueries(deps: Deps): GatewayQueries {
  const { clock, log, changed } = deps
  const asked = new Map<SyncKey, Map<string, Entry>>()
  const limiter = new FairLimiter({ ...limits, clock })
  /** Unreachable servers, with the reason. */
  const unreached = new Map<string, { why: string; untilMs: number }>()
  let wake = Promise.withResolvers<void>()

  const answered = (key: SyncKey, entry: Entry, answer: CheckAnswer): void => {
    const { pod, about } = entry.question
    // The question may have been replaced.
    if (asked.get(key)?.get(pod) !== entry) return
    const before = entry.known?.record
    const record = afterAnswer(before, answer, clock.now().epochMilliseconds)
    entry.known = { about, record }
    entry.dueMs = clock.monotonicMs() + eachMs
    if (record.state === before?.state && record.why === before.why) return
    const [namespace = '', name = ''] = key.split('/')
    log.info({ namespace, name, pod, message: record.why ?? record.state }, 'check of a gateway')
    if (record.state !== (before?.state ?? 'Unknown')) changed(key)
  }

  /** An unreachable server is tried once for all GatewaySyncs that use it. */
  const answerOf = async ({ question }: Entry, signal: AbortSignal): Promise<CheckAnswer> => {
    const known = unreached.get(question.url)
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return { kind: 'none', why: known.why }
    unreached.delete(question.url)
    try {
      return await ask(deps, question, signal)
    } catch (error) {
      signal.throwIfAborted()
      const { reason, message } = asFault(error)
      const why = reason === 'Unexpected' ? `no answer: ${causeOf(error)}` : message
      unreached.set(question.url, { why, untilMs: clock.monotonicMs() + eachMs / 2 })
      return { kind: 'none', why }
    }
  }
  const work = async (key: SyncKey, entry: Entry, signal: AbortSignal): Promise<void> => {
    entry.isUnderWay = true
    const [tenant = '', name = ''] = key.split('/')
    try {
      await limiter.run({ tenant, key: name }, signal, async (own) => {
        // The question may have become obsolete while it waited.
        if (asked.get(key)?.get(entry.question.pod) === entry) answered(key, entry, await answerOf(entry, own))
      })
    } catch (error) {
      if (!signal.aborted) log.error({ reason: asFault(error).reason, err: error }, 'gateway check failed unexpectedly')
    } finally {
      entry.isUnderWay = false
    }
  }
  const underWay = new Set<Promise<void>>()
  const beginDue = (signal: AbortSignal): void => {
    const nowMs = clock.monotonicMs()
    for (const [key, entries] of asked)
      for (const entry of entries.values()) {
        if (entry.dueMs > nowMs || entry.isUnderWay) continue
        const one: Promise<void> = work(key, entry, signal).finally(() => underWay.delete(one))
        underWay.add(one)
      }
    for (const [url, { untilMs }] of unreached) if (untilMs <= nowMs) unreached.delete(url)
  }

  return {
    answers: (key) =>
      new Map([...(asked.get(key) ?? [])].flatMap(([pod, { known }]) => (known === undefined ? [] : [[pod, known] as const]))),
    ask(key, questions) {
      const before = asked.get(key)
      const next = questions.map((question): [string, Entry] => {
        const known = before?.get(question.pod)
        return [
          question.pod,
          known?.question.about === question.about ? known : { question, known: undefined, dueMs: 0, isUnderWay: false },
        ]
      })
      if (next.length === 0) asked.delete(key)
      else asked.set(key, new Map(next))
      wake.resolve()
    },
    async run(signal) {
      while (!signal.aborted) {
        if (asked.size > 0) {
          beginDue(signal)
          await pause(clock, pollIntervalMs, signal)
          continue
        }
        wake = Promise.withResolvers()
        await unlessAborted(wake.promise, signal).catch(() => undefined)
      }
      await Promise.all(underWay)
    },
  }
}

/** One instant query (GET /api/v1/query of Prometheus' HTTP API). Throws RepositoryNotAllowed, GitHostUnknown, and what the network throws. */
async function ask({ network, allowedHosts }: Deps, { url, query }: CheckQuestion, signal: AbortSignal): Promise<CheckAnswer> {
  const server = new URL(url)
  const host = server.hostname.replaceAll(/^\[|\]$/g, '')
  const isSecure = server.protocol === 'https:'
  requireAllowedApi(host, allowedHosts)
  const proxy = proxyFor({ protocol: isSecure ? 'https' : 'http', host }, undefined, network.proxy)
  if (proxy !== undefined && !isSecure)
    return { kind: 'none', why: `${host} would be queried by http through the proxy; use https, or list it in noProxy` }
  const own = deadline(timeoutMs, signal)
  const addresses = await addressesOf(host, proxy, network, own)
  const asked = `${url.replace(/\/$/, '')}/api/v1/query?${new URLSearchParams({ query, timeout: '4s' }).toString()}`
  const call = { url: asked, method: 'GET', headers: { accept: 'application/json' } } as const
  const { status, body } = await callForJson(call, { caBundle: undefined, proxy: proxy?.url, addresses }, own)
  return answerOfPrometheus(status, body)
}
