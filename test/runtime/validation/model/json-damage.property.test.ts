import fc from 'fast-check'
import t from 'tap'
import { createDamageScan, type Damage, damageOf } from '../../../../runtime/validation/model/json-damage.ts'
import { matchObject } from '../../../support/assertions.ts'

const parses = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** JSON with any indentation, which the next arbitrary damages in one place. */
const written = fc
  .tuple(fc.jsonValue(), fc.constantFrom(undefined, 2, '\t'))
  .map(([value, indent]) => JSON.stringify(value, undefined, indent))
const broken = fc
  .tuple(written, fc.nat(), fc.nat({ max: 3 }), fc.constantFrom('', ',', '}', ']', '"', '{', ':', '\\', '1', 'x', '\n', '\0', '-', '0'))
  .map(([text, at, removed, added]) => {
    const place = at % (text.length + 1)
    return text.slice(0, place) + added + text.slice(place + removed)
  })

void t.test('damage is reported exactly for JSON that cannot be parsed', async () => {
  fc.assert(
    fc.property(fc.oneof(written, broken), (text) => {
      // The scan does not check hexadecimal digits after \u; the parser does.
      fc.pre(text.isWellFormed() && !text.includes('\\u'))
      return (damageOf(Buffer.from(text)) === undefined) === parses(text)
    }),
    { numRuns: 5_000 },
  )
})

void t.test('the result does not depend on how the content is split', async () => {
  const inPieces = (bytes: Buffer, size: number): Damage | undefined => {
    const scan = createDamageScan({ keys: true })
    for (let start = 0; start < bytes.length; start += size) scan.take(bytes.subarray(start, start + size))
    return scan.end()
  }
  fc.assert(
    fc.property(fc.oneof(written, broken), fc.integer({ min: 1, max: 9 }), (text, size) => {
      const bytes = Buffer.from(text)
      return JSON.stringify(inPieces(bytes, size)) === JSON.stringify(inPieces(bytes, bytes.length + 1))
    }),
  )
})

void t.test('any bytes give a bounded damage report or none', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const damage = damageOf(bytes, { keys: true })
      return damage === undefined || (damage.line >= 1 && damage.problem.length > 0 && damage.problem.length < 200)
    }),
  )
})

void t.test('the line of the damage is reported', async (t) => {
  const rows: [string, Damage['kind'], number][] = [
    ['{\n  "a": 1,\n<<<<<<< HEAD\n  "b": 1\n}', 'merge-conflict', 3],
    ['{\n  "a": 1,\r\n  "a": 2\n}', 'duplicate-key', 3],
    ['{\n\n  "a": tru\n}', 'invalid-json', 3],
    ['{\n  "a": [\n', 'truncated-json', 3],
    ['{\n  "a": "\0"\n}', 'zero-bytes', 2],
  ]
  for (const [text, kind, line] of rows) matchObject(t, damageOf(Buffer.from(text), { keys: true }), { kind, line }, JSON.stringify(text))
})

void t.test('what is missing is placed after the value before it', async (t) => {
  const rows: [string, number, string][] = [
    ['{\n  "a": 1\n  "b": 2\n}', 2, 'a comma or closing bracket is missing at the end of line 2'],
    ['{\n  "a": true\n\n  "b": 2\n}', 2, 'a comma or closing bracket is missing at the end of line 2'],
    ['[{\n  "a": "1"\n]', 2, 'a comma or closing bracket is missing at the end of line 2'],
    ['{\n  "a": 1 "b": 2\n}', 2, 'a comma or closing bracket is missing on line 2'],
    ['{\n  "a"\n  1\n}', 3, 'a colon is missing on line 3'],
    ['{\n  "a": 1,\n  b: 2\n}', 3, 'a key is missing on line 3'],
    ['{\n  "a": 1\n  // why\n}', 3, 'there is a comment on line 3'],
  ]
  for (const [text, line, problem] of rows)
    matchObject(
      t,
      damageOf(Buffer.from(text)),
      { kind: 'invalid-json', line, problem: `is not valid JSON: ${problem}` },
      JSON.stringify(text),
    )
})

void t.test('keys with different escapes are not reported as duplicates', async (t) => {
  t.equal(damageOf(Buffer.from('{"a":1,"\\u0061":2}'), { keys: true }), undefined)
  matchObject(t, damageOf(Buffer.from('{"ä":1,"ä":2}'), { keys: true }), { problem: 'has the key "ä" twice, again on line 1' })
})

void t.test('excessively nested JSON is not scanned', async (t) => {
  t.equal(damageOf(Buffer.from('['.repeat(100_000))), undefined)
})
