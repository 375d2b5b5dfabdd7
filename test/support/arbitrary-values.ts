/**
 * Random values of an installation for every key of the schema.
 */
import fc from 'fast-check'
import { inputSchema, takesNumberOrText, type ValueSchema } from '../../infra/values/json-schema.ts'
import type { ValuesInput } from '../../infra/values.ts'

/** Texts that YAML, templates, shells or patterns may misread; each key uses those that its own pattern allows. */
const texts = [
  '',
  'a',
  'plant',
  'plant-2',
  'cluster-sync-operator',
  'p'.repeat(45) + '-plant',
  '0',
  '1.5',
  '1e3',
  '0x1f',
  'true',
  'no',
  'null',
  '~',
  '-',
  '/',
  '/push/*',
  '*.example.com',
  '10.0.0.0/8',
  '2001:db8::1',
  'example.com:5000/team/name',
  'push.example.com',
  'https://plant.example.com/fleet',
  '30s',
  '1m30s',
  '2m',
  '1d',
  'POD_NAME',
  'HTTPS_PROXY',
  'a: b # c',
  ' spaces ',
  `it's "quoted" \\ and %s %v`,
  '{{ .Values.image }} }}',
  '<html> & more',
  'two\nlines\n',
  'many words '.repeat(20),
  'größe ☃ 😀',
]
const keys = [
  'a',
  'team',
  'cpu',
  'memory',
  'grafana_dashboard',
  'runAsUser',
  'seccompProfile',
  'app.kubernetes.io/name',
  'example.com/note',
  'Example.com/Note_1',
  'true',
  '7',
  '{{ a }}',
]
const quantities = ['100m', '64Mi', '128Mi', '1Gi', '1.5Gi', '128M', '0.5', '1e9', 1, 2, 128e6, '1K', -1]
const anything: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  node: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom<unknown>(...texts, 0, 1, -3, 1.5, 3600, 1_000_000, true, false),
    fc.array(tie('node'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...keys), tie('node'), { maxKeys: 2 }),
  ),
})).node

/** At most a quarter of all keys and few quantities at a time, so that about half of the value sets can be installed. */
export const arbitraryValues = arbitrary(inputSchema()) as fc.Arbitrary<ValuesInput>

function arbitrary(schema: ValueSchema): fc.Arbitrary<unknown> {
  const { type, properties, additionalProperties, items, pattern, propertyNames } = schema
  const fits = (allowed: string | undefined) => (text: string) => allowed === undefined || new RegExp(allowed).test(text)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (takesNumberOrText(schema)) return fc.constantFrom<unknown>(...quantities)
  if (schema.oneOf !== undefined) return fc.oneof(...schema.oneOf.map(arbitrary))
  if (type === 'boolean') return fc.boolean()
  if (type === 'integer') return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 4, 65_535) })
  if (type === 'string') return fc.constantFrom(...texts.filter(fits(pattern)))
  if (type === 'array')
    return fc.array(items === undefined ? anything : arbitrary(items), { minLength: schema.minItems ?? 0, maxLength: 3 })
  if (properties !== undefined) return objectOf(properties, schema.required ?? [])
  if (typeof additionalProperties === 'object')
    return fc.dictionary(fc.constantFrom(...keys.filter(fits(propertyNames?.pattern))), arbitrary(additionalProperties), { maxKeys: 3 })
  return anything
}

function objectOf(properties: Record<string, ValueSchema>, required: readonly string[]): fc.Arbitrary<object> {
  const members = Object.entries(properties).map(([name, schema]) => {
    const value = arbitrary(schema)
    const isSection = schema.properties !== undefined && schema.default !== undefined
    const oneIn = isSection || required.includes(name) ? 1 : takesNumberOrText(schema) ? 12 : 4
    return fc.tuple(fc.nat(oneIn - 1), value).map(([chance, of]): [string, unknown][] => (chance === 0 ? [[name, of]] : []))
  })
  return fc.tuple(...members).map((entries) => Object.fromEntries(entries.flat()))
}
