/**
 * Reads one call: authenticates its body and checks its size and depth while it arrives, then parses its payload.
 */
import type { Context } from 'hono'
import type { Clock } from '../platform/clock.ts'
import { type Body, discard, parseBody, type Parsed, parseScanned, readBody } from '../http/body.ts'
import { JsonFilter } from './json-filter.ts'
import { cutOff, failed, notAuthenticated, type Observer, problem, tooComplex, tooLarge } from './answers.ts'
import { bodyLimits, hashLimits, isLeftOut, maxHeldOfBody } from './limits.ts'
import type { Payload } from './payload/parts.ts'
import { readPayload } from './payload/payload.ts'
import { beginAuthentication, type Keys, type Authentication, type Authenticator } from './authenticate.ts'
import { createScan } from '../platform/text/json.ts'

/** A call authenticated by some of the keys, or without keys; `authentications` has the result of each. */
export type Call = { kind: 'call'; authentications: readonly Authentication[]; payload: UsablePayload }

/** The answer to a call that is not processed. `isAuthenticated`: the caller was authenticated, so it does not count as a failure. */
export type Answered = { kind: 'answered'; answer: Response; isAuthenticated: boolean }

export type UsablePayload = Extract<Payload, { kind: 'ref' | 'ping' | 'ignored' }>
/** A payload that requests a ref. */
export type RefPayload = Extract<Payload, { kind: 'ref' }>

/** Collaborators of reading a call. */
export type ReadCallDeps = Observer & {
  clock: Clock
  /** Called when a call was rejected while a configured key cannot be read. */
  keyUnreadable(): void
}

/**
 * Reads the body of a POST, within `bodyLimits`, and authenticates it with all keys while reading. How much of it is read does not depend
 * on the keys: a 413 in place of a 401 would reveal which GatewaySyncs exist. A body that has not
 * ended when `signal` aborts is cut off. Never rejects because of the caller's input.
 */
export async function readCall(
  deps: ReadCallDeps,
  context: Context,
  keys: readonly Keys[],
  signal?: AbortSignal,
): Promise<Call | Answered> {
  const headers = context.req.header()
  const authenticators = keys.map((one) => beginAuthentication(headers, one))
  const media = mediaOf(headers)
  const filter = media === 'json' ? new JsonFilter(isLeftOut) : undefined
  const isTooComplex = media === 'json' ? createScan(bodyLimits.complexity) : () => media === 'other'
  let isUseless = false
  const hash = boundHashing(authenticators, deps)
  const keep = (piece: Uint8Array): readonly Uint8Array[] | false => {
    hash(piece)
    if (isUseless) return false
    const kept = filter?.take(piece) ?? [piece]
    isUseless = kept.some(isTooComplex)
    return !isUseless && kept
  }
  const body = await readBody(context.req.raw, bodyLimits.maxBytes, keep, maxHeldOfBody, signal)
  if (body.kind === 'tooLarge') return answered(tooLarge(context), false)
  if (body.kind === 'cutOff') return answered(cutOff(context), false)
  try {
    const authentications = authenticators.map((one) => one.end(deps.clock.now()))
    if (authentications.every(({ kind }) => kind === 'refused')) return refused(deps, context, keys)
    const isAuthenticated = authentications.some(({ kind }) => kind === 'authenticated')
    const payload = payloadIn(context, headers, media, body)
    if (!(payload instanceof Response)) return { kind: 'call', authentications, payload }
    if (isAuthenticated) deps.observe('malformed')
    return answered(payload, isAuthenticated)
  } finally {
    if (body.kind === 'whole') discard(body.bytes)
  }
}

/**
 * Hashes each piece, within `hashLimits`. A body above them has no valid signature: a signature of the hashed beginning belongs to another
 * body.
 */
function boundHashing(authenticators: readonly Authenticator[], { log }: ReadCallDeps): (piece: Uint8Array) => void {
  const hashes = authenticators.reduce((sum, one) => sum + one.hashes, 0)
  const maxBytes = hashes > hashLimits.maxHashesOfLarge ? hashLimits.maxBytes : Number.POSITIVE_INFINITY
  let bytes = 0
  return (piece) => {
    const isFirstBeyond = bytes <= maxBytes && bytes + piece.byteLength > maxBytes
    bytes += piece.byteLength
    if (isFirstBeyond) {
      log.info(
        { count: hashes },
        'a body above 1 MiB cannot be authenticated by its signature with this many keys; use fewer keys, or a token',
      )
      for (const one of authenticators) one.dropHashes()
    }
    if (bytes <= maxBytes) for (const one of authenticators) one.update(piece)
  }
}

function answered(answer: Response, isAuthenticated: boolean): Answered {
  return { kind: 'answered', answer, isAuthenticated }
}

/**
 * The call may be valid for an unreadable key. Callers see that a key is missing only if it is the installation's: that does not reveal
 * which GatewaySyncs exist.
 */
function refused(deps: ReadCallDeps, context: Context, keys: readonly Keys[]): Answered {
  if (keys.some(({ fault }) => fault !== undefined)) deps.keyUnreadable()
  const installationFault = keys.find((one) => one.installationFault !== undefined)?.installationFault
  if (installationFault === undefined) return answered(notAuthenticated(context), false)
  return answered(failed(deps, context, installationFault, context.req.param()), false)
}

type Media = 'json' | 'form' | 'other'

/** GitHub can send a form, whose field `payload` is the JSON. */
function mediaOf(headers: Record<string, string>): Media {
  const type = (headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/x-www-form-urlencoded') return 'form'
  return type === 'application/json' || type.endsWith('+json') ? 'json' : 'other'
}

/** Parses the payload of a body, or returns the answer to an invalid one. */
function payloadIn(
  context: Context,
  headers: Record<string, string>,
  media: Media,
  body: Extract<Body, { kind: 'whole' | 'dropped' }>,
): UsablePayload | Response {
  if (media === 'other') return problem(context, 'UnsupportedMediaType', 'the content type must be application/json')
  if (body.kind === 'dropped') return tooComplex(context)
  const parsed = media === 'form' ? parseForm(body.bytes) : parseScanned(body.bytes)
  if (parsed.kind === 'malformed') return problem(context, 'PayloadMalformed', isGzip(body.bytes) ? compressedBody : parsed.why)
  if (parsed.kind === 'tooComplex') return tooComplex(context)
  const payload = readPayload(headers, parsed.value)
  if (payload.kind === 'invalidRef') return problem(context, 'InvalidRef', 'the ref is not a name that git accepts')
  if (payload.kind === 'unrecognized') return problem(context, 'PayloadUnrecognized', 'no known payload format matches the body')
  return payload
}

const compressedBody = 'the body is compressed with gzip; send it uncompressed, without Content-Encoding'

function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b
}

/**
 * Parses the field `payload` of a form without other fields. The content type is not signed: signed JSON with `&payload=` in some text
 * must not become another call when resent as a form.
 */
function parseForm(bytes: Uint8Array): Parsed {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  if (!text.startsWith('payload=') || text.includes('&')) return { kind: 'malformed', why: 'a form must contain only the field payload' }
  return parseBody(Buffer.from(new URLSearchParams(text).get('payload') ?? ''), bodyLimits.complexity)
}
