/**
 * Encoding of changes on the wire: encoded changes decode unchanged for any split of the stream.
 */
import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { changesReader, encodeChanges, encodeEnd } from '../../../../runtime/content/protocol/frames.ts'
import type { Change } from '../../../../runtime/content/protocol/protocol.ts'
import { isRelativePath, parseCommitHash } from '../../../../runtime/api/values.ts'

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).map(parseCommitHash)
const path = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter(isRelativePath)
const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ op: fc.constant('delete' as const), path }),
  fc.record({
    op: fc.constant('put' as const),
    path,
    mode: fc.constantFrom('100644' as const, '100755' as const, '120000' as const, '160000' as const),
    id: fc.oneof(hex(40), hex(64)),
    size: fc.maxSafeNat(),
  }),
)

void t.test('changes decode as they were encoded, for any paths and any split of the text', (t) => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), fc.integer({ min: 1, max: 200 }), (changes, length) => {
      const text = encodeChanges(changes) + encodeEnd(changes.length)
      const reader = changesReader()
      const read: Change[] = []
      for (let at = 0; at < text.length; at += length) read.push(...reader.take(text.slice(at, at + length)))
      reader.finish()
      deepStrictEqual(
        read,
        changes.map((change) => ({ ...change })),
      )
    }),
  )
  t.end()
})
