import fc from 'fast-check'
import t from 'tap'
import { lineDiff } from '../../../../runtime/sync/plan/shown-diff.ts'
import { maskSecrets } from '../../../../runtime/sync/plan/mask.ts'

/** The diff of a change as a plan shows it. */
function shown(before: string | undefined, after: string): string | undefined {
  const sides = maskSecrets(before === undefined ? undefined : Buffer.from(before), Buffer.from(after))
  return sides === undefined ? undefined : lineDiff(sides.before, sides.after)
}

const pretty = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`

void t.test('secrets in JSON files are hidden anywhere, and a changed one is marked as changed', async (t) => {
  const connection = (password: unknown, more: object = {}) => pretty({ username: 'sa', password, ...more })
  t.equal(shown(undefined, connection('hunter2')), '+{\n+  "username": "sa",\n+  "password": "(hidden)"\n+}')
  t.equal(shown(connection('hunter2'), connection('hunter3')), '-  "password": "(hidden)"\n+  "password": "(hidden, changed)"')
  t.equal(shown(connection('hunter2'), connection('hunter2', { port: 1 }))?.includes('changed'), false)
  const nested = shown(undefined, connection({ type: 'Embedded', data: { ciphertext: 'hunter2', iv: 'hunter2' } }))
  t.equal(nested, '+{\n+  "username": "sa",\n+  "password": "(hidden)"\n+}')
  const texts = shown(undefined, pretty({ url: 'jdbc:x://h/db;user=sa;password=hunter2', repo: 'https://me:hunter2@git.example/a' }))
  t.equal(texts, '+{\n+  "url": "(hidden)",\n+  "repo": "(hidden)"\n+}')
  t.equal(shown(undefined, '{\n"password":\n"hunter2",\n"password":\n"other"\n}'), undefined, 'a name that stands twice')
})

void t.test('secrets in one line of JSON are hidden with their whole value, and nothing else is', async (t) => {
  const after = (value: unknown): string => shown(undefined, `${JSON.stringify(value)}\n`)?.slice(1) ?? ''
  t.equal(after({ list: [{ token: ['hunter2'], name: 'a' }, 1] }), '{"list":[{"token":"(hidden)","name":"a"},1]}')
  t.equal(after({ urls: ['https://me:hunter2@git.example/a', 'https://git.example/b'] }), '{"urls":["(hidden)","https://git.example/b"]}')
  t.equal(after({ a: { b: 1, c: null }, d: 'password' }), '{"a":{"b":1,"c":null},"d":"password"}')
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}{"a":1}${']'.repeat(depth)}`)
  t.equal(after(nested(63)), JSON.stringify(nested(63)))
  t.equal(after(nested(64)), `${'['.repeat(64)}{"a":"(hidden)"}${']'.repeat(64)}`, 'a value that is too deep')
})

void t.test('other text is masked line by line, and text that cannot be parsed safely is not shown', async (t) => {
  const properties = shown('a=1\n', 'a=2\ndb.password = hunter2\nurl=x?token=hunter2&b=1\n')
  t.equal(properties, '-a=1\n+a=2\n+db.password = (hidden)\n+(hidden)')
  t.equal(shown(undefined, 'connect(user="sa", password="hunter2")\nelse\n'), '+(hidden)\n+else', 'the argument of a call')
  t.equal(shown(undefined, 'a: 1\npassword: |\n  hunter2\nb: 2\n'), '+a: 1\n+password: (hidden)\n+(hidden)\n+b: 2', 'a block of YAML')
  t.equal(shown(undefined, '<password>hunter2</password>\n'), '+(hidden)')
  t.equal(shown(undefined, '{"password": {\n"data": "hunter2"'), undefined, 'half a document')
  t.equal(shown(undefined, '-----BEGIN RSA PRIVATE KEY-----\nhunter2\n'), undefined)
  t.equal(shown('one\n', 'two\n'), '-one\n+two')
})

void t.test('a secret under a name that an object repeats is hidden', async (t) => {
  t.equal(shown(undefined, '{"a":{"token":"hunter2"},"a":5}\n'), '+{"a":{"token":"(hidden)"},"a":5}')
  t.equal(shown(undefined, '{"a":{"token":"hunter2"},"a":{"token":1}}\n'), undefined)
})

void t.test('a long name above many secrets is read once, not for each of them', async (t) => {
  const list = Array.from({ length: 1_700 }, () => ({ token: 'hunter2' }))
  const cpuMs = (value: unknown): number => {
    const { user, system } = process.cpuUsage()
    t.notMatch(shown(pretty(value), pretty(value)), /hunter/)
    const after = process.cpuUsage()
    return (after.user + after.system - user - system) / 1000
  }
  const name = 'k'.repeat(20_000)
  const [above, beside] = [{ [name]: list }, { [name]: 1, list }]
  const [slow, usual] = [above, beside].map((value) => Math.min(...Array.from({ length: 3 }, () => cpuMs(value))))
  t.equal((slow ?? 0) < 5 * (usual ?? 0), true, `${slow} ms, and ${usual} ms with the name beside them`)
})

void t.test('JSON that takes many times its size in memory is not shown', async (t) => {
  const lists = (count: number): string => `{"a":[${Array.from({ length: count }, () => '[]').join(',')}]}`
  t.equal(shown(undefined, lists(110_000)), undefined)
  t.equal(shown(undefined, lists(10_000))?.length, lists(10_000).length + '+'.length + '\n+\\ No newline at end of file'.length)
})

void t.test('thousands of secrets are hidden in a single scan', async (t) => {
  const document = (value: string) =>
    pretty(Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`password${index}`, `${value} ${'x'.repeat(100)}`])))
  const sides = [document('hunter2'), document('hunter3')] as const
  const startedMs = performance.now()
  const text = shown(...sides)
  // One scan per secret would take half a minute.
  t.ok(performance.now() - startedMs < 5_000)
  t.match(text, /"password4999": "\(hidden, changed\)"/)
  t.notMatch(text, /hunter/)
})

void t.test('the value of a secret key is never shown', async (t) => {
  const secret = fc.constantFrom('hunter2', ['hunter2'], { data: 'hunter2' }, { 'a b': [{ x: 'hunter2' }] })
  const key = fc.constantFrom('password', 'dbPassword', 'apiKey', 'api_key', 'clientSecret', 'token', 'privateKey')
  const document = fc.tuple(key, secret, fc.integer({ min: 0, max: 4 })).map(([name, value, indent]) => {
    const inner = { [name]: value, after: 1 }
    return JSON.stringify({ before: 'x', list: [inner], inner }, undefined, indent)
  })
  const property = fc.property(fc.option(document, { nil: undefined }), document, (before, after) => {
    return !(shown(before, after) ?? '').includes('hunter2')
  })
  fc.assert(property)
  t.pass('none was')
})
