/**
 * Tests that members are removed from JSON while it arrives, and everything else stays unchanged.
 */
import fc from 'fast-check'
import t from 'tap'
import { JsonFilter } from '../../../runtime/receiver/json-filter.ts'

const isLeftOut = (name: string, level: number): boolean => name === 'added' || (name === 'commits' && level === 1)

/** Splits the bytes into pieces of the given lengths, in rotation. */
function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const length = lengths[turn % lengths.length] ?? 1
    pieces.push(bytes.subarray(at, at + length))
    at += length
  }
  return pieces
}

function filtered(text: string, lengths: readonly number[]): string {
  const filter = new JsonFilter(isLeftOut)
  return Buffer.concat(cut(Buffer.from(text), lengths).flatMap((piece) => filter.take(piece))).toString()
}

function expected(value: unknown, level = 1): unknown {
  if (Array.isArray(value)) return value.map((entry) => expected(entry, level + 1))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, isLeftOut(name, level) ? null : expected(member, level + 1)]),
  )
}

const name = fc.oneof(
  fc.constantFrom('added', 'commits', 'ref', 'a"dded', 'commits\\', 'added,', 'x'.repeat(40)),
  fc.string({ unit: 'binary', maxLength: 4 }),
)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -1.5e9),
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('{"added":1}', '\\"', ']', ',')),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((members) => Object.fromEntries(members)),
  ),
}))
const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })
const spaces = fc.constantFrom('', ' ', '\n\t')

void t.test('each filtered member becomes null, however the text is split and spaced', async () => {
  fc.assert(
    fc.property(value, lengths, spaces, (json, pieces, space) => {
      const text = JSON.stringify(json, undefined, space)
      return JSON.stringify(JSON.parse(filtered(text, pieces))) === JSON.stringify(expected(JSON.parse(text)))
    }),
    { numRuns: 400 },
  )
})

void t.test('invalid JSON neither throws nor grows by more than a null for each colon', async () => {
  const noise = fc.array(fc.constantFrom('{', '}', '[', ']', '"', '\\', ':', ',', '"added"', '"commits"', ' ', 'x'), { maxLength: 60 })
  fc.assert(
    fc.property(noise, lengths, (parts, pieces) => {
      const text = parts.join('')
      return filtered(text, pieces).length <= text.length + 4 * text.split(':').length
    }),
    { numRuns: 400 },
  )
})

void t.test('commits are filtered at the top level only, and a name written with an escape stays', async (t) => {
  t.equal(filtered('{"commits":[{"id":"a"}],"freight":{"commits":[1]}}', [3]), '{"commits":null,"freight":{"commits":[1]}}')
  t.equal(filtered('{"\\u0061dded":[1],"added" : "x" ,"ref":"added"}', [64]), '{"\\u0061dded":[1],"added" :null ,"ref":"added"}')
})
