/**
 * Splitting a stream into lines.
 */
import fc from 'fast-check'
import t from 'tap'
import { linesOf } from '../../../runtime/http/lines.ts'
import { rejectsWith } from '../../support/assertions.ts'

async function* pieces(text: string, sizes: readonly number[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text)
  for (let start = 0, index = 0; start < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1
    yield bytes.subarray(start, start + size)
    start += size
  }
}

async function all(lines: AsyncIterable<string>): Promise<string[]> {
  const read: string[] = []
  for await (const line of lines) read.push(line)
  return read
}

const line = fc.string({ unit: fc.constantFrom('a', 'é', '😀', ' ', '\r'), maxLength: 20 })

void t.test('lines are read completely for any split into pieces', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 }), async (lines, sizes) => {
      const text = lines.map((each) => `${each}\n`).join('')
      const read = await all(linesOf(pieces(text, sizes), 1_000))
      return JSON.stringify(read) === JSON.stringify(lines)
    }),
  )
})

void t.test('a last line without a newline counts', async (t) => {
  t.strictSame(await all(linesOf(pieces('one\ntwo', [2]), 1_000)), ['one', 'two'])
})

void t.test('a line beyond the limit ends the reading before it is complete', async (t) => {
  let taken = 0
  const endless = async function* (): AsyncGenerator<Buffer> {
    for (;;) {
      taken += 1
      yield Buffer.alloc(100, 'x')
    }
  }
  await rejectsWith(t, all(linesOf(endless(), 1_000)), { message: 'a line is longer than 1000 bytes' })
  t.equal(taken, 11)
  t.strictSame(await all(linesOf(pieces(`${'x'.repeat(1_000)}\n`, [999]), 1_000)), ['x'.repeat(1_000)], 'as long as the bound')
})
