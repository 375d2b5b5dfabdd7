/**
 * Reads a body as bytes, bounded, and parses it only after a scan has shown that parsing is cheap.
 */

export const maxBodyBytes = 1024 * 1024
/** What a body without a length begins with. */
const firstBytes = 16 * 1024
const maxDepth = 64
const maxKeys = 20_000

/** The whole body, or undefined as soon as it proves longer; the rest is never read. Rejects when the sender goes away. */
export async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  if (declared > maxBodyBytes) return undefined
  if (request.body === null) return new Uint8Array()
  // Copied at once into one buffer, each piece is garbage as soon as it is read.
  let body = Buffer.allocUnsafeSlow(declared > 0 ? declared : firstBytes)
  let size = 0
  for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
    if (size + chunk.byteLength > maxBodyBytes) return undefined
    body = withRoomFor(body, size, chunk.byteLength)
    body.set(chunk, size)
    size += chunk.byteLength
  }
  return body.subarray(0, size)
}

function withRoomFor(body: Buffer<ArrayBuffer>, size: number, more: number): Buffer<ArrayBuffer> {
  if (size + more <= body.length) return body
  const larger = Buffer.allocUnsafeSlow(Math.min(maxBodyBytes, Math.max(size + more, body.length * 2)))
  larger.set(body.subarray(0, size))
  return larger
}

/** Gives the memory back at once: the collector would let a hundred megabytes gather. The body is empty from then on. */
export function discard(body: Uint8Array<ArrayBuffer>): void {
  body.buffer.transfer(0)
}

/** How much memory a body may need: what it says of itself, or the limit when it says nothing. None is read that says too much. */
export function expectedBytes(request: Request): number {
  if (request.body === null) return 0
  const declared = request.headers.get('content-length')
  if (declared === null) return maxBodyBytes
  return Number(declared) > maxBodyBytes ? 0 : Number(declared)
}

export type Parsed = { kind: 'json'; value: unknown } | { kind: 'malformed'; why: string } | { kind: 'tooComplex' }

export function parseBody(bytes: Uint8Array): Parsed {
  if (isTooComplex(bytes)) return { kind: 'tooComplex' }
  try {
    return { kind: 'json', value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch (error) {
    return { kind: 'malformed', why: error instanceof TypeError ? 'the body is not UTF-8' : 'the body is not JSON' }
  }
}

const [quote, backslash, colon, openBrace, closeBrace, openBracket, closeBracket] = [0x22, 0x5c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d]

/** Deep nesting and many keys are what makes a small body cost a hundred times its size once it is parsed. */
function isTooComplex(bytes: Uint8Array): boolean {
  let depth = 0
  let keys = 0
  let inText = false
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]
    if (inText) {
      if (byte === backslash) at += 1
      else if (byte === quote) inText = false
    } else if (byte === quote) inText = true
    else if (byte === openBrace || byte === openBracket) depth += 1
    else if (byte === closeBrace || byte === closeBracket) depth -= 1
    else if (byte === colon) keys += 1
    if (depth > maxDepth || keys > maxKeys) return true
  }
  return false
}
