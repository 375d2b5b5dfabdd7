/**
 * Tests that any log record is one line of JSON of bounded size and without URL credentials.
 */
import fc from 'fast-check'
import t from 'tap'
import { createLog, type LogFields } from '../../../../runtime/platform/log/log.ts'

/**
 * A line has up to eleven own and eleven bound fields of at most 513 characters, and a stack of at most 4,096; JSON needs at most six bytes
 * per character.
 */
const maxLineBytes = 128 * 1024

const names = ['namespace', 'name', 'pod', 'ref', 'commit', 'reason', 'message', 'requestId', 'path', 'gateway', 'component'] as const
const secret = fc.stringMatching(/^[A-Za-z0-9._~!$&'()*+,;=-]{8,40}$/).map((text) => `hush${text}`)
/** External callers can put any text of any length into a log field. */
const around = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('', ' ', '\n', '\u0000'.repeat(600), 'a'.repeat(5_000), '://', '@'),
)

type Told = { fields: LogFields; bound: LogFields; secret: string }

const told: fc.Arbitrary<Told> = secret.chain((hidden) => {
  const url = fc.constantFrom('https', 'ssh', 'http').map((scheme) => `${scheme}://user:${hidden}@git.example.com/plant.git`)
  const text = fc.tuple(around, url, around).map(([before, address, after]) => `${before} ${address} ${after}`)
  const fields = fc
    .uniqueArray(fc.constantFrom(...names), { maxLength: names.length })
    .chain((chosen) =>
      fc
        .tuple(...chosen.map(() => text))
        .map((texts) => Object.fromEntries(chosen.map((name, index) => [name, texts[index]])) as LogFields),
    )
  const error = fc
    .array(text, { minLength: 1, maxLength: 6 })
    .map((texts) => texts.reduce<Error | undefined>((cause, message) => new Error(message, { cause }), undefined))
  const thrown = fc.oneof(error, text, fc.constant(undefined))
  return fc
    .tuple(fields, fields, thrown)
    .map(([own, bound, err]) => ({ fields: { ...own, ...(err === undefined ? {} : { err }) }, bound, secret: hidden }))
})

void t.test('any log record is one bounded line of JSON without secrets', (t) => {
  fc.assert(
    fc.property(told, ({ fields, bound, secret: hidden }) => {
      const lines: string[] = []
      const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } })
      log.child(bound).warn(fields, 'told')
      const [line = '', ...others] = lines
      JSON.parse(line)
      const isOneLine = others.length === 0 && line.indexOf('\n') === line.length - 1
      return isOneLine && Buffer.byteLength(line) <= maxLineBytes && !line.includes(hidden)
    }),
    { numRuns: 500 },
  )
  t.end()
})
