import t from 'tap'
import fc from 'fast-check'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { applySettings } from '../../../../runtime/sync/render/patch.ts'

function applied(text: string, settings: Readonly<Record<string, string>>): string {
  try {
    const list = Object.entries(settings).map(([path, value]) => ({ path, value }))
    const result = applySettings(text, list, 'test')
    return result.unmatched.length === 0 ? result.text : `unmatched: ${result.unmatched.join(', ')}`
  } catch (error) {
    return error instanceof Fault ? error.reason : String(error)
  }
}

void t.test('a setting replaces the matched value, keeps its type, and leaves every other byte', async (t) => {
  const text = '{ "a" : 1,\r\n\t"b":{"c":[true, null ,"x"]},"a b":"y", "n":12345678901234567890, "d":"1", "d":"2" }'
  const rows: [Readonly<Record<string, string>>, string][] = [
    [{ a: '2' }, text.replace('1,', '2,')],
    [{ '$.a': '-1.50e3' }, text.replace('1,', '-1.50e3,')],
    [{ a: 'two' }, 'TemplateFailed'],
    [{ a: '01' }, 'TemplateFailed'],
    [{ 'b.c[0]': 'false' }, text.replace('true', 'false')],
    [{ 'b.c[0]': '1' }, 'TemplateFailed'],
    [{ '$.b.c[2]': 'a "quoted"\n' }, text.replace('"x"', '"a \\"quoted\\"\\n"')],
    [{ '$.b.c[1]': '7' }, text.replace('null', '7')],
    [{ '$.b.c[1]': 'text' }, text.replace('null', '"text"')],
    [{ "$['a b']": '1' }, text.replace('"y"', '"1"')],
    [{ '$.b': '[]' }, 'TemplateFailed'],
    [{ '$.b': '{"new":1}' }, text.replace('{"c":[true, null ,"x"]}', '{"new":1}')],
    [{ '$.b.c': '[1]' }, text.replace('[true, null ,"x"]', '[1]')],
    [{ d: '3' }, text.replace('"d":"2"', '"d":"3"')],
    [{ nope: '1' }, 'unmatched: nope'],
    [{ '$..[?@ == "x"]': 'z' }, text.replace('"x"', '"z"')],
    [{ '$[': '1' }, 'TemplateFailed'],
  ]
  for (const [settings, expected] of rows) t.equal(applied(text, settings), expected, JSON.stringify(settings))
  t.equal(applied('{"a":{"a":{"a":"x"}}}', { '$..a': '{}' }), '{"a":{}}', 'what lies in a value that is replaced is not replaced too')
  t.equal(applied('\uFEFF{"a":1}', { a: '2' }), '\uFEFF{"a":2}')
  t.equal(applied('a: 1', { a: '2' }), 'TemplateFailed')
})

void t.test('what a path may not hold is permitted in a quoted name', async (t) => {
  for (const name of ['a..b..c', '$x', 'x$', "it's $", 'say "$"', 'match(', 'a\\$', "..'..'.."]) {
    const document = JSON.stringify({ [name]: 1, other: 2 })
    t.equal(applied(document, { [`$[${JSON.stringify(name)}]`]: '3' }), document.replace('1', '3'), name)
    const quoted = `'${name.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
    t.equal(applied(document, { [`$[${quoted}]`]: '3' }), document.replace('1', '3'), quoted)
  }
  t.equal(applied('{"a":1}', { $: '{"b":2}' }), '{"b":2}', 'the whole document')
  t.equal(applied('{"a":1}', { "$['a','a']": '2' }), '{"a":2}', 'one value by two names')
  t.equal(applied(`{"${'a'.repeat(510)}":1}`, { [`$.${'a'.repeat(510)}`]: '2' }), `{"${'a'.repeat(510)}":2}`, 'the longest path')
  t.equal(applied('[{"a":1}]', { '$[?match (@.a, "b")]': '2' }), 'TemplateFailed')
})

void t.test('a path may begin with its root, a bracket or a name, and an error names the file, the path and the cause', (t) => {
  for (const path of ['$.a', 'a', "['a']", '$["a"]']) t.equal(applied('{"a":1}', { [path]: '2' }), '{"a":2}', path)
  const messageOf = (settings: Readonly<Record<string, string>>, text = '{"a":1}'): string => {
    try {
      const list = Object.entries(settings).map(([path, value]) => ({ path, value }))
      return applySettings(text, list, 'patch of "x"').text
    } catch (error) {
      return error instanceof Fault ? error.message : String(error)
    }
  }
  for (const [path, message] of [
    ['a..b..c', 'patch of "x": "a..b..c" must not contain .. more than once'],
    ['$[?@.a == $.b]', 'patch of "x": "$[?@.a == $.b]" must not name $ within a filter'],
    ['$[?match(@.a, "b")]', 'patch of "x": "$[?match(@.a, "b")]" must not use match() or search(): compare with == instead'],
    ['a'.repeat(513), `patch of "x": "${'a'.repeat(513)}" is longer than 512 characters`],
  ] as const)
    t.equal(messageOf({ [path]: '1' }), message)
  t.equal(messageOf({ a: '2' }, 'a: 1'), 'patch of "x": the file is not JSON, so nothing can be set in it')
  t.match(messageOf({ '$[': '1' }), /^patch of "x": "\$\[" is not a JSONPath: ./)
  t.match(messageOf({ a: 'two' }), /^patch of "x": a: ./)
  t.end()
})

void t.test('for any document a set string is read back as JSON, and nothing else changes', async (t) => {
  const document = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 })
  fc.assert(
    fc.property(document, fc.string(), fc.nat(), (value, text, indent) => {
      const desired = { ...value, target: text }
      const made = applied(JSON.stringify({ ...value, target: 'old' }, undefined, indent % 4), { '$.target': text })
      t.strictSame(JSON.parse(made), JSON.parse(JSON.stringify(desired)))
    }),
    { numRuns: 100 },
  )
})

/** Returns the location of every string in a document. */
function textsOf(value: unknown, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value === 'string') return [at]
  if (Array.isArray(value)) return value.flatMap((item: unknown, index) => textsOf(item, [...at, index]))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) => textsOf(member, [...at, name]))
}

function withText(value: unknown, [step, ...rest]: readonly (string | number)[], text: string): unknown {
  if (step === undefined) return text
  if (Array.isArray(value)) return value.map((item: unknown, index) => (index === step ? withText(item, rest, text) : item))
  const entries = Object.entries(value as object)
  return Object.fromEntries(entries.map(([name, member]) => [name, name === step ? withText(member, rest, text) : member]))
}

void t.test('any string of any document can be set, alone and after all others', async () => {
  const document = fc.object({ maxDepth: 4, maxKeys: 5, values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)] })
  const inWords = (location: readonly (string | number)[]): string =>
    `$${location.map((step) => `[${typeof step === 'number' ? String(step) : JSON.stringify(step)}]`).join('')}`
  fc.assert(
    fc.property(document, fc.string(), fc.nat(3), (value, set, indent) => {
      const text = JSON.stringify(value, undefined, indent)
      let expected: unknown = JSON.parse(text)
      let made = text
      for (const location of textsOf(expected)) {
        made = applySettings(made, [{ path: inWords(location), value: set }], 'test').text
        expected = withText(expected, location, set)
        if (made !== JSON.stringify(expected, undefined, indent)) throw new Error(`${inWords(location)}: ${made}`)
      }
    }),
    { numRuns: 200 },
  )
})
