/**
 * Reads a body as bytes, within a bound and a budget of all large bodies, and parses it only after a scan has shown that parsing is cheap.
 * Keeps only what is needed.
 */
import { unlessAborted, systemClock } from '../platform/clock.ts'
import { FairLimiter } from '../platform/async/fair-limiter.ts'
import { type Complexity, createScan } from '../platform/text/json.ts'

/** Bounds of a body. Parsed, each entry takes at least 16 bytes of memory, a list or an object 60. */
export type BodyLimits = {
  maxBytes: number
  /** Levels of nesting; keys; lists and objects; entries of all lists and objects. */
  complexity: Complexity
}

/** Initial buffer for a body without a Content-Length. */
const firstBytes = 16 * 1024

/** The result of reading a body. */
export type Body =
  | { kind: 'whole'; bytes: Uint8Array<ArrayBuffer> }
  /** Read to its end but not kept, because `select` returned false. */
  | { kind: 'dropped' }
  /** The rest is never read. */
  | { kind: 'tooLarge' }
  /** The sender disconnected or was too slow. */
  | { kind: 'cutOff' }

/**
 * Reads a body to its end, or until it exceeds `maxBytes`, or its kept part `maxKept`. `select` gets each piece as it arrives, and must not
 * keep it. It returns whether to keep the piece, or which parts of it; once it returns false, nothing of the body is kept. A body that has not
 * ended when `signal` aborts is cut off. Never rejects.
 */
export async function readBody(
  request: Request,
  maxBytes: number,
  select: (piece: Uint8Array) => boolean | readonly Uint8Array[] = () => true,
  maxKept = maxBytes,
  signal?: AbortSignal,
): Promise<Body> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBytes) return { kind: 'tooLarge' }
  // Each piece is immediately copied into one buffer, so that its memory can be released.
  let kept: Buffer<ArrayBuffer> | undefined = Buffer.allocUnsafeSlow(declared > 0 ? Math.min(declared, maxKept) : firstBytes)
  let [read, size] = [0, 0]
  for await (const piece of readPieces(request, signal)) {
    if (piece === 'cutOff') return { kind: 'cutOff' }
    read += piece.byteLength
    if (read > maxBytes) return { kind: 'tooLarge' }
    const parts = select(piece)
    if (parts === false && kept !== undefined) {
      discard(kept)
      kept = undefined
    }
    for (const part of parts === true ? [piece] : parts === false ? [] : parts) {
      if (kept === undefined) break
      if (size + part.byteLength > maxKept) return { kind: 'tooLarge' }
      kept = withSpaceFor(kept, size, part.byteLength, maxKept)
      kept.set(part, size)
      size += part.byteLength
    }
    releasePiece(piece)
  }
  return kept === undefined ? { kind: 'dropped' } : { kind: 'whole', bytes: kept.subarray(0, size) }
}

async function* readPieces(request: Request, signal?: AbortSignal): AsyncGenerator<Uint8Array | 'cutOff'> {
  if (request.body === null) return
  try {
    yield* (signal === undefined ? request.body : piecesUntil(request.body, signal)) as AsyncIterable<Uint8Array>
  } catch {
    yield 'cutOff'
  }
}

/** Throws the signal's reason. */
async function* piecesUntil(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await unlessAborted(reader.read(), signal)
      if (done) return
      yield value
    }
  } finally {
    // Nothing happens when the body has ended.
    reader.cancel().catch(() => undefined)
  }
}

function withSpaceFor(body: Buffer<ArrayBuffer>, size: number, more: number, maxBytes: number): Buffer<ArrayBuffer> {
  if (size + more <= body.length) return body
  const larger = Buffer.allocUnsafeSlow(Math.min(maxBytes, Math.max(size + more, body.length * 2)))
  larger.set(body.subarray(0, size))
  discard(body)
  return larger
}

/**
 * Releases the memory immediately, because the garbage collector would let a hundred megabytes accumulate. The body is empty afterwards.
 */
export function discard(body: Uint8Array<ArrayBuffer>): void {
  body.buffer.transfer(0)
}

/** Releases a piece, unless it shares its memory with others. */
export function releasePiece({ buffer, byteLength }: Uint8Array): void {
  if (byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/**
 * Returns how much memory a body may need: its Content-Length, or the limit if it has none. 0 for one that is declared too large, which is
 * never read. Uses only the headers, because accessing the body makes it flow.
 */
export function expectedBytes({ headers }: Request, maxBytes: number): number {
  const declared = headers.get('content-length')
  if (declared === null) return headers.has('transfer-encoding') ? maxBytes : 0
  return Number(declared) > maxBytes ? 0 : Number(declared)
}

/** The result of parsing a body. */
export type Parsed = { kind: 'json'; value: unknown } | { kind: 'malformed'; why: string } | { kind: 'tooComplex' }

/** Parses JSON in UTF-8. Never throws. */
export function parseBody(bytes: Uint8Array, complexity: BodyLimits['complexity']): Parsed {
  return createScan(complexity)(bytes) ? { kind: 'tooComplex' } : parseScanned(bytes)
}

/** Parses JSON in UTF-8 that a scan has found within limits. Never throws. */
export function parseScanned(bytes: Uint8Array): Parsed {
  try {
    return { kind: 'json', value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch (error) {
    return { kind: 'malformed', why: error instanceof TypeError ? 'the body is not UTF-8' : 'the body is not JSON' }
  }
}

/** `busy`: too many other large bodies are being read. */
export type JsonBody = Parsed | { kind: 'tooLarge' } | { kind: 'cutOff' } | { kind: 'busy' }

/**
 * Reads and parses a body that is not used for authentication; one over `limits.complexity` is read to its end but not kept. Never rejects.
 */
export async function readJson(request: Request, limits: BodyLimits, { hold }: BodyBudget, peer: string): Promise<JsonBody> {
  const read = async (signal?: AbortSignal): Promise<JsonBody> => {
    const isTooComplex = createScan(limits.complexity)
    const body = await readBody(request, limits.maxBytes, (piece) => !isTooComplex(piece), limits.maxBytes, signal)
    if (body.kind === 'dropped') return { kind: 'tooComplex' }
    if (body.kind !== 'whole') return body
    try {
      return parseScanned(body.bytes)
    } finally {
      discard(body.bytes)
    }
  }
  return (await hold({ bytes: expectedBytes(request, limits.maxBytes), peer }, read)) ?? { kind: 'busy' }
}

/** Bodies up to this size are not counted: Node reads as much of each connection before the app reads the body. */
export const smallBytes = 64 * 1024
/** With this bound, 100 concurrent bodies of a megabyte keep the whole controller below 128 MiB. */
export const maxBufferedBytes = 8 * 1024 * 1024
/** How long a body waits for the budget: shorter than the request deadline, so that the answer still arrives. */
export const patienceMs = 5_000
/** The maximum share of one client, so that its slow bodies leave memory for others. */
export const peerShare = 0.75
/** The share left to clients that hold nothing or were quick the last time. A body in it is cut off after `slowAfterMs`. */
const reserveShare = 0.25
/** Shorter than `patienceMs`, so that a body that waits gets the place of a slow one. */
export const slowAfterMs = 3_000

/**
 * Bounds how many bytes of large bodies are in memory, in total and per client. A body beyond the budget waits in a queue. A part of the
 * budget is never used by slow bodies, regardless of how many clients send them. One per port.
 */
export type BodyBudget = {
  /**
   * Runs `work` while `bytes` are reserved; undefined: the budget was not available in time. `signal`: aborted when the body is too slow for
   * its part of the budget. Rejects with what `work` rejects with.
   */
  hold<Result>(body: { bytes: number; peer: string }, work: (signal?: AbortSignal) => Promise<Result>): Promise<Result | undefined>
}

/**
 * `collect` runs the garbage collector each time half of `maxBytes` has been read: otherwise V8 lets a hundred megabytes accumulate, which
 * is all that a small container has. Undefined unless the process was started with `--expose-gc`, as it is in the image.
 */
export function createBodyBudget(
  maxBytes = maxBufferedBytes,
  waitMs = patienceMs,
  collect: (() => unknown) | undefined = globalThis.gc,
): BodyBudget {
  const [reserve, perKey] = [maxBytes * reserveShare, maxBytes * peerShare]
  const limiter = new FairLimiter({ total: maxBytes, reserve, perKey, waitMs, slowAfterMs, clock: systemClock })
  let left = 0

  return {
    async hold({ bytes, peer }, work) {
      if (Math.min(bytes, maxBytes) <= smallBytes) return await work()
      const reservation = await limiter.acquire({ tenant: peer, amount: Math.min(bytes, maxBytes) })
      if (reservation === undefined) return undefined
      const [tooSlow, over] = [new AbortController(), new AbortController()]
      if (reservation.isReserve)
        systemClock.wait(slowAfterMs, over.signal).then(
          () => tooSlow.abort(new Error('too slow')),
          () => undefined,
        )
      try {
        return await work(reservation.isReserve ? tooSlow.signal : undefined)
      } finally {
        over.abort()
        left += Math.min(bytes, maxBytes)
        if (left >= maxBytes / 2) {
          left = 0
          collect?.()
        }
        reservation.release()
      }
    },
  }
}
