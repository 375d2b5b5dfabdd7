/**
 * Asks Prometheus about gateways that a rollout waits for or watches, beside the reconcile passes. A tenant writes the address, so it is
 * reached by the same rules as a git host, and of the answer no more is told than whether it is the right one.
 */
import { type Clock, deadline, pause, unlessAborted } from '../clock.ts'
import { asFault } from '../fault.ts'
import { answerOfPrometheus, type CheckQuestion } from '../gatewaysync/rollout/check-question.ts'
import { afterAnswer, type CheckAnswer, type RememberedCheck } from '../gatewaysync/check-record.ts'
import { causeOf } from '../http/client.ts'
import type { Log } from '../log.ts'
import { callForJson } from '../source/credentials/api-call.ts'
import { addressesOf, type Network } from '../source/remote/network.ts'
import { proxyFor } from '../source/remote/proxy.ts'
import { requireAllowedApi } from '../source/remotes.ts'
import type { SyncKey } from './records.ts'

export type GatewayQueries = {
  /** What is known of each gateway, by pod. */
  answers(key: SyncKey): ReadonlyMap<string, RememberedCheck>
  /** From now on these are asked for a GatewaySync, each again and again, and nothing else. */
  ask(key: SyncKey, questions: readonly CheckQuestion[]): void
  /** Works until the signal. */
  run(signal: AbortSignal): Promise<void>
}

type Deps = {
  clock: Clock
  log: Log
  network: Network
  /** Empty: any host. */
  allowedHosts: readonly string[]
  /** What is known of a gateway has changed; called outside of any pass. */
  changed(key: SyncKey): void
}

type Entry = { question: CheckQuestion; known: RememberedCheck | undefined; dueMs: number }

/** An answer counts for a minute. */
const eachMs = 10_000
const lookMs = 1_000
const timeoutMs = 5_000
const atOnce = 8

/** Remembers no more than what is asked; a leader that begins asks anew. */
export function createGatewayQueries(deps: Deps): GatewayQueries {
  const { clock, log, changed } = deps
  const asked = new Map<SyncKey, Map<string, Entry>>()
  let wake = Promise.withResolvers<void>()

  const answered = (key: SyncKey, entry: Entry, answer: CheckAnswer): void => {
    const { pod, about } = entry.question
    // Another one may be asked by now.
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

  /** Asks everything that is due; a server that cannot be reached is tried once. */
  const round = async (signal: AbortSignal): Promise<void> => {
    const nowMs = clock.monotonicMs()
    const due = [...asked].flatMap(([key, entries]) =>
      [...entries.values()].filter(({ dueMs }) => dueMs <= nowMs).map((entry) => ({ key, entry })),
    )
    const unreached = new Map<string, string>()
    const left = due.values()
    const work = async (): Promise<void> => {
      for (const { key, entry } of left) {
        if (signal.aborted) return
        const { url } = entry.question
        try {
          const why = unreached.get(url)
          answered(key, entry, why === undefined ? await ask(deps, entry.question, signal) : { kind: 'none', why })
        } catch (error) {
          if (signal.aborted) return
          const { reason, message } = asFault(error)
          const why = reason === 'Unexpected' ? `no answer: ${causeOf(error)}` : message
          unreached.set(url, why)
          answered(key, entry, { kind: 'none', why })
        }
      }
    }
    await Promise.all(Array.from({ length: Math.min(atOnce, due.length) }, work))
  }

  return {
    answers: (key) =>
      new Map([...(asked.get(key) ?? [])].flatMap(([pod, { known }]) => (known === undefined ? [] : [[pod, known] as const]))),
    ask(key, questions) {
      const before = asked.get(key)
      const next = questions.map((question): [string, Entry] => {
        const known = before?.get(question.pod)
        return [question.pod, known?.question.about === question.about ? known : { question, known: undefined, dueMs: 0 }]
      })
      if (next.length === 0) asked.delete(key)
      else asked.set(key, new Map(next))
      wake.resolve()
    },
    async run(signal) {
      while (!signal.aborted) {
        if (asked.size > 0) {
          await round(signal)
          await pause(clock, lookMs, signal)
          continue
        }
        wake = Promise.withResolvers()
        await unlessAborted(wake.promise, signal).catch(() => undefined)
      }
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
    return { kind: 'none', why: `${host} would be asked by http through the proxy; use https, or name it in noProxy` }
  const own = deadline(timeoutMs, signal)
  const addresses = await addressesOf(host, proxy, network, own)
  const asked = `${url.replace(/\/$/, '')}/api/v1/query?${new URLSearchParams({ query, timeout: '4s' }).toString()}`
  const call = { url: asked, method: 'GET', headers: { accept: 'application/json' } } as const
  const { status, body } = await callForJson(call, { caBundle: undefined, proxy: proxy?.url, addresses }, own)
  return answerOfPrometheus(status, body)
}
