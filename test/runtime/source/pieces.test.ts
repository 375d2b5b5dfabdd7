import { PassThrough, Readable } from 'node:stream'
import t from 'tap'
import { inPieces } from '../../../runtime/source/content/pieces.ts'

const sizes = async (stream: Readable, size: number): Promise<number[]> =>
  (await Array.fromAsync(inPieces(stream, size))).map(({ length }) => length)

void t.test('small chunks come as pieces of some size, in their order and to the last byte', async (t) => {
  const chunks = Array.from({ length: 10 }, (_, index) => Buffer.alloc(3, index))
  const pieces = await Array.fromAsync(inPieces(Readable.from(chunks, { objectMode: false }), 8))
  t.same(Buffer.concat(pieces), Buffer.concat(chunks))
  t.same(
    pieces.map(({ length }) => length),
    [9, 9, 9, 3],
  )
})

void t.test('a stream of nothing gives nothing, one large chunk is one piece', async (t) => {
  t.same(await sizes(Readable.from([], { objectMode: false }), 8), [])
  t.same(await sizes(Readable.from([Buffer.alloc(100)], { objectMode: false }), 8), [100])
})

void t.test('who does not take the next piece holds the program up', async (t) => {
  const stream = new PassThrough({ highWaterMark: 4 })
  const pieces = inPieces(stream, 8)
  const first = pieces.next()
  stream.write(Buffer.alloc(8))
  t.equal((await first).value?.length, 8)
  stream.write(Buffer.alloc(8))
  t.equal(stream.write(Buffer.alloc(8)), false, 'it is told to wait')
  stream.end()
  t.same(
    (await Array.fromAsync(pieces)).map(({ length }) => length).reduce((sum, length) => sum + length, 0),
    16,
  )
})

void t.test('what goes wrong is thrown, and who leaves ends the stream', async (t) => {
  const broken = new PassThrough()
  const reading = Array.fromAsync(inPieces(broken, 8))
  broken.write(Buffer.alloc(3))
  broken.destroy(new Error('cut off'))
  await t.rejects(reading, { message: 'cut off' })
  const left = new PassThrough()
  left.write(Buffer.alloc(8))
  for await (const piece of inPieces(left, 8)) {
    t.equal(piece.length, 8)
    break
  }
  t.ok(left.destroyed)
})
