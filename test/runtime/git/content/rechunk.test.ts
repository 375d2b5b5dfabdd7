import { PassThrough, Readable } from 'node:stream'
import t from 'tap'
import { rechunk } from '../../../../runtime/git/content/rechunk.ts'
import { rejectsWith } from '../../../support/assertions.ts'

const sizes = async (stream: Readable, size: number): Promise<number[]> =>
  (await Array.fromAsync(rechunk(stream, size))).map(({ length }) => length)

void t.test('small chunks are merged into larger pieces, in order and completely', async (t) => {
  const chunks = Array.from({ length: 10 }, (_, index) => Buffer.alloc(3, index))
  const pieces = await Array.fromAsync(rechunk(Readable.from(chunks, { objectMode: false }), 8))
  t.strictSame(Buffer.concat(pieces), Buffer.concat(chunks))
  t.strictSame(
    pieces.map(({ length }) => length),
    [9, 9, 9, 3],
  )
})

void t.test('an empty stream gives no pieces, and one large chunk is one piece', async (t) => {
  t.strictSame(await sizes(Readable.from([], { objectMode: false }), 8), [])
  t.strictSame(await sizes(Readable.from([Buffer.alloc(100)], { objectMode: false }), 8), [100])
})

void t.test('a reader that does not take the next piece applies backpressure', async (t) => {
  const stream = new PassThrough({ highWaterMark: 4 })
  const pieces = rechunk(stream, 8)
  const first = pieces.next()
  stream.write(Buffer.alloc(8))
  t.equal((await first).value?.length, 8)
  stream.write(Buffer.alloc(8))
  t.equal(stream.write(Buffer.alloc(8)), false, 'it is told to wait')
  stream.end()
  t.strictSame(
    (await Array.fromAsync(pieces)).map(({ length }) => length).reduce((sum, length) => sum + length, 0),
    16,
  )
})

void t.test('an error of the stream is thrown, and a reader that stops destroys the stream', async (t) => {
  const broken = new PassThrough()
  const reading = Array.fromAsync(rechunk(broken, 8))
  broken.write(Buffer.alloc(3))
  broken.destroy(new Error('cut off'))
  await rejectsWith(t, reading, { message: 'cut off' })
  const left = new PassThrough()
  left.write(Buffer.alloc(8))
  for await (const piece of rechunk(left, 8)) {
    t.equal(piece.length, 8)
    break
  }
  t.ok(left.destroyed)
})
