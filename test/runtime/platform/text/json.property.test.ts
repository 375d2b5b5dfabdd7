/**
 * Tests that the parse cost of JSON is counted byte by byte, however the input is split.
 */
import fc from 'fast-check'
import t from 'tap'
import { type Complexity, createCounter, createScan } from '../../../../runtime/platform/text/json.ts'

/** A reference implementation that reads one byte after the other. */
function counted(text: string): Complexity {
  let [depth, deepest, keys, containers, commas] = [0, 0, 0, 0, 0]
  let [inText, escaped] = [false, false]
  for (const byte of Buffer.from(text)) {
    const sign = String.fromCharCode(byte)
    if (escaped) escaped = false
    else if (inText && sign === '\\') escaped = true
    else if (sign === '"') inText = !inText
    else if (inText) continue
    else if (sign === ':') keys += 1
    else if (sign === ',') commas += 1
    else if (sign === '{' || sign === '[') {
      depth += 1
      containers += 1
      deepest = Math.max(deepest, depth)
    } else if (sign === '}' || sign === ']') depth -= 1
  }
  return { depth: deepest, keys, containers, entries: commas + 1 }
}

const marks = fc
  .array(fc.constantFrom('"', '\\', '{', '}', '[', ']', ':', ',', 'a', 'é', ' ', 'a'.repeat(20)), { maxLength: 60 })
  .map((all) => all.join(''))
const texts = fc.oneof(
  marks,
  fc.json(),
  fc.array(fc.string()).map((all) => JSON.stringify(all)),
)

void t.test('JSON syntax is counted outside strings only, however the input is split', async () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, length) => {
      const bytes = Buffer.from(text)
      const counter = createCounter()
      for (let at = 0; at < bytes.length; at += length) counter.take(bytes.subarray(at, at + length))
      t.strictSame(counter.counted(), counted(text), JSON.stringify(text))
    }),
  )
})

void t.test('a search is started once in many bytes, whatever the strings hold', async (t) => {
  let searches = 0
  class Counted extends Uint8Array {
    override indexOf(...given: Parameters<Uint8Array['indexOf']>): number {
      searches += 1
      return super.indexOf(...given)
    }
  }
  for (const unit of ['\\"', '\\n', '"a",', '"",', '"\\\\",', `${'a'.repeat(20)}\\n`, 'é']) {
    searches = 0
    const bytes = Counted.from(Buffer.from(`["${unit.repeat(10_000)}"]`))
    createCounter().take(bytes)
    t.equal(searches <= 2 + (2 * bytes.length) / 16, true, `${searches} for ${bytes.length} bytes of ${unit}`)
  }
})

void t.test('a scan of a large piece ends once it exceeds a maximum', async (t) => {
  let read = 0
  class Counted extends Uint8Array {
    override subarray(...given: Parameters<Uint8Array['subarray']>): Uint8Array<ArrayBuffer> {
      read += 1
      return Uint8Array.from(this.slice(...given))
    }
  }
  const scan = createScan({ depth: 64, keys: 10, containers: 10, entries: 10 })
  t.equal(scan(Counted.from(Buffer.from(`[${'[],'.repeat(2 ** 20)}[]]`))), true)
  t.equal(read, 1)
})
