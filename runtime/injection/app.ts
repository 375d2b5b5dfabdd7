/**
 * Flow D: POST /mutate. The API server asks about each pod that is to get an agent and gets a JSON patch; the answer is always yes.
 */
import { Hono } from 'hono'
import { problem, readText } from '../body.ts'
import type { Clock } from '../clock.ts'
import { asFault, Fault } from '../fault.ts'
import type { Log } from '../log.ts'
import { type FoundSync, injectAgent, type InjectionSettings, namedSync, whyUnchanged } from './inject.ts'
import { type Asked, answer, parseReview } from './review.ts'

export const mutatePath = '/mutate'

/** etcd keeps objects up to 1.5 MiB; a review holds the pod once on CREATE, and some room for the rest. */
const maxBodyBytes = 3 * 1024 * 1024

/** The API server waits a few seconds in all; an agent without its GatewaySync is better than no answer. */
const lookupTimeoutMs = 2_000

export type AdmissionOutcome = 'injected' | 'unchanged' | 'malformed'

export type AdmissionDeps = {
  settings: InjectionSettings
  /** The GatewaySync of a namespace: the named one, or without a name the only one. */
  lookup(namespace: string, name: string | undefined, signal: AbortSignal): FoundSync | Promise<FoundSync>
  clock: Clock
  log: Log
  observe(outcome: AdmissionOutcome, durationMs: number): void
}

export function admissionApp(deps: AdmissionDeps): Hono {
  const { clock, log, observe } = deps
  const app = new Hono()
  app.post(mutatePath, async (context) => {
    const startedMs = clock.monotonicMs()
    const body = await readText(context.req.raw, maxBodyBytes)
    const asked: Asked = body === undefined ? { kind: 'malformed', why: 'the body is larger than 3 MiB' } : parseReview(parseJson(body))
    const done = (outcome: AdmissionOutcome): void => observe(outcome, clock.monotonicMs() - startedMs)
    if (asked.kind === 'malformed') {
      done('malformed')
      log.warn({ message: asked.why }, 'admission review cannot be understood')
      return problem(context, body === undefined ? 413 : 400, asked.why)
    }
    if (asked.kind === 'other') {
      done('malformed')
      log.warn({ message: asked.why, requestId: asked.uid }, 'admission review is about no pod')
      return context.json(answer(asked.uid, [], [asked.why]))
    }
    const { operations, warnings } = await inject(deps, asked)
    done(operations.length === 0 ? 'unchanged' : 'injected')
    return context.json(answer(asked.uid, operations, warnings))
  })
  app.all(mutatePath, (context) => {
    context.header('allow', 'POST')
    return problem(context, 405, 'this route takes POST')
  })
  app.notFound((context) => problem(context, 404, 'there is no such route'))
  app.onError((error, context) => {
    log.error({ reason: 'Unexpected', err: error }, 'admission failed')
    return problem(context, 500, 'admission failed')
  })
  return app
}

async function inject(
  deps: AdmissionDeps,
  asked: Extract<Asked, { kind: 'pod' }>,
): Promise<{ operations: Parameters<typeof answer>[1]; warnings: string[] }> {
  const { pod, namespace } = asked
  if (whyUnchanged(pod) !== undefined) return { operations: [], warnings: [] }
  const sync = await find(deps, namespace, namedSync(pod))
  const injection = injectAgent(pod, deps.settings, sync)
  if (injection.kind === 'unchanged') return { operations: [], warnings: [] }
  const name = pod.metadata.name ?? `${pod.metadata.generateName ?? ''}…`
  for (const message of injection.warnings) deps.log.warn({ namespace, pod: name, message }, 'agent injected with a warning')
  deps.log.info({ namespace, pod: name, requestId: asked.uid }, 'agent injected')
  return injection
}

async function find({ lookup, log, clock }: AdmissionDeps, namespace: string, name: string | undefined): Promise<FoundSync> {
  const end = new AbortController()
  // A lookup that heeds no signal must not hold the answer back either.
  const late = async (): Promise<never> => {
    await clock.wait(lookupTimeoutMs, end.signal)
    throw new Fault('Timeout', `no answer within ${lookupTimeoutMs} ms`)
  }
  try {
    return await Promise.race([lookup(namespace, name, end.signal), late()])
  } catch (error) {
    const fault = asFault(error)
    log.warn({ namespace, reason: fault.reason, message: fault.message }, 'GatewaySync could not be looked up')
    return { kind: 'unknown', name, why: fault.message }
  } finally {
    end.abort()
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
