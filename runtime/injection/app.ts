/**
 * Serves the admission webhook: POST /mutate. The API server sends each pod that may get an agent and receives a JSON patch; a pod is never
 * rejected.
 */
import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { Clock } from '../platform/clock.ts'
import { asFault, Fault } from '../platform/fault.ts'
import { type BodyLimits, type JsonBody, readJson, createBodyBudget } from '../http/body.ts'
import { type LimitSettings, guard } from '../http/limits.ts'
import { peerOf, remoteOf } from '../http/client-address.ts'
import { problem } from '../http/problem.ts'
import type { Log } from '../platform/log/log.ts'
import { type FoundSync, injectAgent, type InjectionSettings, namedSync, whyUnchanged, type JsonPatch } from './inject.ts'
import { type Pod, pod } from './pod.ts'

/** The path in the MutatingWebhookConfiguration. */
export const mutatePath = '/mutate'

/**
 * etcd stores objects up to 1.5 MiB, in a form shorter than JSON; a review contains the pod once on CREATE. A pod of 1,000 variables, each
 * repeated in its managed fields, has 6,000 keys and 5,000 objects.
 */
export const admissionBodies = {
  maxBytes: 2 * 1024 * 1024,
  complexity: { depth: 64, keys: 40_000, containers: 40_000, entries: 100_000 },
} as const satisfies BodyLimits

/** Enough for three of the largest bodies at the same time. Typical pods, a few KiB, are not counted. */
const maxBufferedBytes = 6 * 1024 * 1024

/** API servers send no failing calls, and no cluster starts two hundred pods per second. */
export const admissionLimits: LimitSettings = { perSecond: 400, callsPerPeer: 200, exemptCallsPerPeer: 10, failuresPerPeer: 20 }

/** An API server keeps a few connections open; a waiting pod holds one piece of 64 KiB. */
export const admissionConnections = { maxConnections: 128, readAheadBytes: 16 * 1024 } as const

/**
 * Deadline for finding the GatewaySync: the API server waits a few seconds in total, and an agent without settings is better than no
 * answer.
 */
const lookupTimeoutMs = 2_000

/** The label of the metric. */
export type AdmissionOutcome = 'injected' | 'unchanged' | 'malformed' | 'failed'

/** `peer`: the client, which need not be an API server. */
export type Lookup = { namespace: string; name: string | undefined; peer: string }

/** Collaborators of the app; the controller builds them. */
export type AdmissionDeps = {
  settings: InjectionSettings
  /** Returns why this replica does not know the GatewaySyncs yet; empty when it does. */
  notReady(): readonly string[]
  /** Returns the GatewaySync of a namespace: the named one, or without a name the only one. */
  lookup(key: Lookup, signal: AbortSignal): FoundSync | Promise<FoundSync>
  clock: Clock
  log: Log
  observe(outcome: AdmissionOutcome, durationMs: number): void
}

/** The app of the admission port. A pod is never rejected: the reason why it gets no agent becomes a warning. */
export function admissionApp(deps: AdmissionDeps): Hono {
  const { clock, log, observe } = deps
  const app = new Hono()
  const bodies = createBodyBudget(maxBufferedBytes)
  const refuse = (context: Context, status: 400 | 404 | 405 | 413 | 429, why: string): Response => {
    // The unread rest would be parsed as the next call of the connection.
    context.header('connection', 'close')
    if (status === 429) context.header('retry-after', '1')
    return problem(context, status, why)
  }
  app.use(guard(admissionLimits))
  app.post(mutatePath, async (context) => {
    const startedMs = clock.monotonicMs()
    // The API server calls another replica, or its client retries; an agent injected without its settings would keep lacking them.
    const [why] = deps.notReady()
    const count = (outcome: AdmissionOutcome): void => observe(outcome, clock.monotonicMs() - startedMs)
    if (why !== undefined) {
      count('failed')
      return problem(context, 503, why)
    }
    const peer = peerOf(remoteOf(context))
    const body = await readJson(context.req.raw, admissionBodies, bodies, peer)
    if (body.kind !== 'json') {
      count('malformed')
      const [status, why] = unreadable[body.kind]
      log.warn({ message: why }, 'admission review is invalid')
      return refuse(context, status, why)
    }
    const review: ReviewRequest = parseReview(body.value)
    if (review.kind === 'malformed') {
      count('malformed')
      log.warn({ message: review.why }, 'admission review is invalid')
      return refuse(context, 400, review.why)
    }
    if (review.kind === 'other') {
      count('malformed')
      log.warn({ message: review.why, requestId: review.uid }, 'admission review is not for a pod')
      return context.json(answer(review.uid, [], [review.why]))
    }
    const { operations, warnings } = await inject(deps, review, peer).catch((error: unknown) => {
      count('failed')
      throw error
    })
    count(operations.length === 0 ? 'unchanged' : 'injected')
    return context.json(answer(review.uid, operations, warnings))
  })
  app.all(mutatePath, (context) => {
    context.header('allow', 'POST')
    return refuse(context, 405, 'this route accepts only POST')
  })
  app.notFound((context) => refuse(context, 404, 'no such route'))
  app.onError((error, context) => {
    log.error({ reason: 'Unexpected', err: error }, 'admission failed')
    return problem(context, 500, 'admission failed')
  })
  return app
}

async function inject(
  deps: AdmissionDeps,
  review: Extract<ReviewRequest, { kind: 'pod' }>,
  peer: string,
): Promise<{ operations: Parameters<typeof answer>[1]; warnings: string[] }> {
  const { pod, namespace } = review
  if (whyUnchanged(pod) !== undefined) return { operations: [], warnings: [] }
  const sync = await find(deps, { namespace, name: namedSync(pod), peer })
  const injection = injectAgent(pod, deps.settings, sync)
  const name = pod.metadata.name ?? `${pod.metadata.generateName ?? ''}…`
  if (injection.kind === 'unchanged') {
    deps.log.warn({ namespace, pod: name, message: injection.why }, 'no agent injected')
    return { operations: [], warnings: [injection.why] }
  }
  for (const message of injection.warnings) deps.log.warn({ namespace, pod: name, message }, 'agent injected with a warning')
  deps.log.info({ namespace, pod: name, requestId: review.uid }, 'agent injected')
  return injection
}

async function find({ lookup, log, clock }: AdmissionDeps, key: Lookup): Promise<FoundSync> {
  const { namespace, name } = key
  const end = new AbortController()
  // Even a search for the GatewaySync that ignores its signal must not delay the answer.
  const late = async (): Promise<never> => {
    await clock.wait(lookupTimeoutMs, end.signal)
    throw new Fault('Timeout', `no answer within ${lookupTimeoutMs} ms`)
  }
  try {
    return await Promise.race([lookup(key, end.signal), late()])
  } catch (error) {
    const fault = asFault(error)
    log.warn({ namespace, reason: fault.reason, message: fault.message }, 'GatewaySync could not be looked up')
    return { kind: 'unknown', name, why: fault.message }
  } finally {
    end.abort()
  }
}

/** The answer to a body without a review. */
const unreadable: Record<Exclude<JsonBody['kind'], 'json'>, readonly [400 | 413 | 429, string]> = {
  malformed: [400, 'the body is not JSON in UTF-8'],
  tooComplex: [413, 'the body is nested too deeply or has too many keys or entries'],
  tooLarge: [413, `the body is larger than ${admissionBodies.maxBytes / 1024 / 1024} MiB`],
  cutOff: [400, 'the body ended early'],
  busy: [429, 'too many large pods are being processed; try again'],
}

const admission = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' } as const

const admissionReview = v.looseObject({
  apiVersion: v.literal(admission.apiVersion),
  kind: v.literal(admission.kind),
  request: v.looseObject({
    uid: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
    namespace: v.optional(v.pipe(v.string(), v.maxLength(253)), ''),
    object: v.unknown(),
  }),
})

/** `uid` is the request's, which the answer must repeat. */
type ReviewRequest =
  | { kind: 'pod'; uid: string; namespace: string; pod: Pod }
  /** A review of something other than a valid pod; it is answered with a warning. */
  | { kind: 'other'; uid: string; why: string }
  /** Not a review, so there is nothing to answer. */
  | { kind: 'malformed'; why: string }

/** Reads an AdmissionReview. Never throws. */
export function parseReview(document: unknown): ReviewRequest {
  const parsed = v.safeParse(admissionReview, document)
  if (!parsed.success) return { kind: 'malformed', why: reviewMessage(parsed.issues[0]) }
  const { uid, namespace, object } = parsed.output.request
  const inside = v.safeParse(pod, object)
  if (!inside.success) return { kind: 'other', uid, why: `the object is not a valid pod: ${reviewMessage(inside.issues[0])}` }
  return { kind: 'pod', uid, namespace, pod: inside.output }
}

/** Kubernetes shows at most 256 characters of a warning, and a line break would end the header that carries it. */
const maxWarning = 256

/** Returns the answer, always `allowed`: a gateway that could run is never rejected. */
export function answer(uid: string, operations: readonly JsonPatch[], warnings: readonly string[]): object {
  const patch = operations.length === 0 ? {} : { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
  const shown = warnings.map((warning) => `cluster-sync: ${warning}`.replace(/[^\x20-\x7e]/g, '?').slice(0, maxWarning))
  return { ...admission, response: { uid, allowed: true, ...patch, ...(shown.length === 0 ? {} : { warnings: shown }) } }
}

function reviewMessage(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue) ?? 'document'}: ${issue.message}`.slice(0, 200)
}
