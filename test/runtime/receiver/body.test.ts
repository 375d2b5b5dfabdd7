/**
 * Bodies are read whole or not at all.
 */
import fc from 'fast-check'
import t from 'tap'
import { discard, expectedBytes, maxBodyBytes, readBody } from '../../../runtime/receiver/body.ts'

/** A request whose body comes in pieces, with a length or without. */
function requestOf(pieces: readonly Uint8Array[], length?: number): Request {
  const headers: Record<string, string> = length === undefined ? {} : { 'content-length': String(length) }
  return new Request('http://localhost/', { method: 'POST', body: ReadableStream.from(pieces), headers, duplex: 'half' })
}

void t.test('a body is read as it was sent, however it is cut and whatever length it claims', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40_000, size: 'max' }), { maxLength: 12 }),
      fc.option(fc.nat(100_000)),
      async (pieces, claim) => {
        const body = await readBody(requestOf(pieces, claim ?? undefined))
        return body !== undefined && Buffer.concat(pieces).equals(body)
      },
    ),
    { numRuns: 100 },
  )
  const full = new Uint8Array(maxBodyBytes).fill(7)
  t.equal((await readBody(requestOf([full])))?.length, maxBodyBytes)
  t.equal(await readBody(requestOf([full, Uint8Array.of(1)])), undefined)
  t.equal(await readBody(requestOf([], maxBodyBytes + 1)), undefined)
  t.equal((await readBody(new Request('http://localhost/', { method: 'POST' })))?.length, 0)
})

void t.test('what is expected is never more than is read, and what is discarded is gone', async (t) => {
  t.equal(expectedBytes(requestOf([], 10)), 10)
  t.equal(expectedBytes(requestOf([])), maxBodyBytes)
  t.equal(expectedBytes(requestOf([], maxBodyBytes + 1)), 0, 'none of it is read')
  const body = await readBody(requestOf([Buffer.from('secret')]))
  if (body !== undefined) discard(body)
  t.equal(body?.length, 0)
})
