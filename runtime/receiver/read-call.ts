/**
 * Reads one call: its body is authenticated, and checked for size and depth, while it arrives; then its payload is parsed.
 */
import type { Context } from 'hono'
import type { Clock } from '../clock.ts'
import { type Body, discard, parseBody, readBody } from '../http/body.ts'
import { createScan } from '../json-scan.ts'
import { cutOff, failed, notAuthenticated, type Observer, problem, tooComplex, tooLarge } from './answers.ts'
import { bodyLimits } from './limits.ts'
import type { Payload } from './payload/parts.ts'
import { readPayload } from './payload/payload.ts'
import { beginProving, type Keys } from './prove/authenticate.ts'

/** A call that is authenticated, by which method (`open`: no key is configured), and what it asks for. */
export type Call = { kind: 'call'; method: 'hmac' | 'token' | 'open'; payload: UsablePayload }

/** The answer to a call that cannot be acted on. `proved`: it was authenticated, so it does not count as a failure of its caller. */
export type Answered = { kind: 'answered'; answer: Response; proved: boolean }

type UsablePayload = Extract<Payload, { kind: 'ref' | 'ping' | 'ignored' }>

/** What reading a call works with. */
export type ReadCallDeps = Observer & {
  clock: Clock
  /** Called when a call was refused while a configured key cannot be read. */
  keyMissing(): void
}

/** Reads the body of a POST, within `bodyLimits`. Never rejects because of what a caller sends. */
export async function readCall(deps: ReadCallDeps, context: Context<object, '/:namespace/:name'>, keys: Keys): Promise<Call | Answered> {
  const headers = context.req.header()
  const proving = beginProving(headers, keys)
  const media = mediaOf(headers)
  const isUseless = media === 'json' ? createScan(bodyLimits.complexity) : () => media === 'other'
  const body = await readBody(context.req.raw, bodyLimits.maxBytes, (piece) => {
    proving.update(piece)
    return !isUseless(piece)
  })
  if (body.kind === 'tooLarge') return answered(tooLarge(context), false)
  if (body.kind === 'cutOff') return answered(cutOff(context), false)
  try {
    const proof = proving.end(deps.clock.now())
    if (proof.kind === 'refused') return refused(deps, context, keys)
    const method = proof.kind === 'open' ? 'open' : proof.method
    const payload = payloadIn(context, headers, media, body)
    if (!(payload instanceof Response)) return { kind: 'call', method, payload }
    if (method !== 'open') deps.observe('malformed')
    return answered(payload, method !== 'open')
  } finally {
    if (body.kind === 'whole') discard(body.bytes)
  }
}

function answered(answer: Response, proved: boolean): Answered {
  return { kind: 'answered', answer, proved }
}

/**
 * The call may be valid for a key that cannot be read. Callers learn of a missing key only if it is the installation's: that reveals nothing
 * about which GatewaySyncs exist.
 */
function refused(deps: ReadCallDeps, context: Context<object, '/:namespace/:name'>, keys: Keys): Answered {
  const { namespace, name } = context.req.param()
  if (keys.fault !== undefined) deps.keyMissing()
  if (keys.installationFault === undefined) return answered(notAuthenticated(context), false)
  return answered(failed(deps, context, keys.installationFault, namespace, name), false)
}

type Media = 'json' | 'form' | 'other'

/** GitHub can send a form, whose field `payload` is the JSON. */
function mediaOf(headers: Record<string, string>): Media {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/x-www-form-urlencoded') return 'form'
  return type === 'application/json' || type.endsWith('+json') ? 'json' : 'other'
}

/** The payload of a body, or the answer to one that cannot be acted on. */
function payloadIn(
  context: Context,
  headers: Record<string, string>,
  media: Media,
  body: Extract<Body, { kind: 'whole' | 'dropped' }>,
): UsablePayload | Response {
  if (media === 'other') return problem(context, 'UnsupportedMediaType', 'the content type must be application/json')
  if (body.kind === 'dropped') return tooComplex(context)
  const bytes = media === 'form' ? formField(body.bytes) : body.bytes
  const parsed = bytes === undefined ? notOnlyPayload : parseBody(bytes, bodyLimits.complexity)
  if (parsed.kind === 'malformed') return problem(context, 'PayloadMalformed', parsed.why)
  if (parsed.kind === 'tooComplex') return tooComplex(context)
  const payload = readPayload(headers, parsed.value)
  if (payload.kind === 'invalidRef') return problem(context, 'InvalidRef', 'the ref is not a name that git accepts')
  if (payload.kind === 'unrecognised') return problem(context, 'PayloadUnrecognised', 'no known payload format matches the body')
  return payload
}

const notOnlyPayload = { kind: 'malformed', why: 'a form must consist of the field payload alone' } as const

/**
 * The field `payload` of a form that holds nothing else. The content type is not signed: signed JSON with `&payload=` in some text must not
 * become another call when somebody sends it again as a form.
 */
function formField(bytes: Uint8Array): Uint8Array | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  if (!text.startsWith('payload=') || text.includes('&')) return undefined
  return Buffer.from(new URLSearchParams(text).get('payload') ?? '')
}
