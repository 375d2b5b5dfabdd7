import fc from 'fast-check'
import t from 'tap'
import { findSpans, holdsMoreValues } from '../../../../runtime/sync/render/json-spans.ts'

type Location = readonly (string | number)[]

/** Every value of a document with its location, in any order. */
function valuesOf(value: unknown, at: Location = []): { at: Location; value: unknown }[] {
  const inside = typeof value === 'object' && value !== null ? Object.entries(value) : []
  const step = (name: string) => (Array.isArray(value) ? Number(name) : name)
  return [{ at, value }, ...inside.flatMap(([name, member]) => valuesOf(member, [...at, step(name)]))]
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

const text = fc.oneof(fc.string(), fc.constantFrom('"', '\\', '\\"', ',', '{', ']', 'a"b', ' '))
/** Without a backslash at the end: once such a name was parsed, JSON.parse of Node 22 and 24 takes `a\\"` for `a\\`. */
const name = text.filter((one) => !one.endsWith('\\'))
const document = fc.object({ maxDepth: 3, maxKeys: 4, key: name, values: [text, fc.integer(), fc.boolean(), fc.constant(null)] })
/** Space that JSON permits between any two tokens. */
const space = fc.constantFrom(undefined, 1, '\t', ' \n')

void t.test('the span of each location is exactly the text of its value', async (t) => {
  fc.assert(
    fc.property(document, space, fc.nat(), (value, indent, seed) => {
      const json = `${indent === undefined ? '' : '\uFEFF\r\n '}${JSON.stringify(value, undefined, indent)}`
      const all = valuesOf(JSON.parse(JSON.stringify(value)))
      const asked = all.filter((_one, index) => (seed >> (index % 30)) % 2 === 0)
      const spans = findSpans(json, [...asked.map(({ at }) => at), ['no such name', 3], [7]])
      t.strictSame(
        new Map(
          spans.map(({ location, start, end, type }) => [JSON.stringify(location), [type, JSON.parse(json.slice(start, end)) as unknown]]),
        ),
        new Map(asked.map(({ at, value: member }) => [JSON.stringify(at), [typeOf(member), member]])),
      )
      t.equal(spans.length, asked.length)
      t.equal(
        spans.every(({ start, end }) => json.slice(start, end).trim().length === end - start),
        true,
      )
    }),
    { numRuns: 100 },
  )
})

void t.test('values are found in any valid spelling', async (t) => {
  const rows: [string, Location, (string | undefined)?][] = [
    ['1', [], '1'],
    [' "x" ', [], '"x"'],
    ['"a\\"b" ', [], '"a\\"b"'],
    ['true\n', [], 'true'],
    ['[ 1 , 2 ]', [1], '2'],
    ['[1,[2 ],3]', [1, 0], '2'],
    ['[1,[2],3]', [2], '3'],
    ['{"a" : {} , "b":[ ] , "c" : -1.5e3}', ['c'], '-1.5e3'],
    ['{"a":{},"b":[]}', ['b'], '[]'],
    ['{"\\u0061":1}', ['a'], '1'],
    ['{"a":1,"a":[2]}', ['a'], '[2]'],
    ['{"a":{"b":1},"a":{"c":2}}', ['a', 'b'], undefined],
    ['{"a":{"b":1},"a":3}', ['a', 'b'], undefined],
    ['{"a":"{","b":2}', ['b'], '2'],
    ['{"a":[{"b":"]"}],"c":4}', ['c'], '4'],
    ['{"0":1}', [0], undefined],
    ['[1]', ['0'], undefined],
    ['{"a":null}', ['a', 'b'], undefined],
    ['"a"', ['a'], undefined],
  ]
  for (const [json, location, expected] of rows) {
    const [span, ...others] = findSpans(json, [location])
    t.equal(span === undefined ? undefined : json.slice(span.start, span.end), expected, `${json} ${JSON.stringify(location)}`)
    t.strictSame(others, [])
  }
  t.strictSame(findSpans('not JSON', []), [])
})

void t.test('a value and what lies inside it are found together, and a location that is asked twice once', async (t) => {
  const json = '{"a":[1,{"b":2}]}'
  const found = findSpans(json, [['a'], ['a', 1, 'b'], ['a', 0], ['a']])
  t.strictSame(
    found.toSorted((a, b) => a.start - b.start || b.end - a.end),
    [
      { location: ['a'], start: 5, end: 16, type: 'array' },
      { location: ['a', 0], start: 6, end: 7, type: 'number' },
      { location: ['a', 1, 'b'], start: 13, end: 14, type: 'number' },
    ],
  )
})

void t.test('values are counted without those in strings; an empty list or object counts as two', async (t) => {
  fc.assert(
    fc.property(document, space, (value, indent) => {
      const json = JSON.stringify(value, undefined, indent)
      const values = valuesOf(JSON.parse(json))
      const empty = values.filter((one) => typeof one.value === 'object' && one.value !== null && Object.keys(one.value).length === 0)
      const count = values.length + empty.length
      t.strictSame([holdsMoreValues(json, count - 1), holdsMoreValues(json, count)], [count > 1, false])
    }),
    { numRuns: 60 },
  )
  t.equal(holdsMoreValues('"a,b,c"', 1), false)
  t.equal(holdsMoreValues('["\\",",1]', 3), false)
  t.equal(holdsMoreValues('[[[1]]]', 3), true)
})
