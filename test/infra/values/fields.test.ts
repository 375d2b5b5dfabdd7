/**
 * Which texts and numbers each kind of value accepts.
 */
import * as v from 'valibot'
import t from 'tap'
import * as fields from '../../../infra/values/fields.ts'

type Schema = v.GenericSchema
const label63 = 'a'.repeat(63)
const about = 'what it is'

/** What a value of each kind may be and may not be; the message of the refusal, if all have one. */
const rows: Record<string, [schema: Schema, accepted: readonly unknown[], refused: readonly unknown[], message?: string]> = {
  text: [fields.text(about, ''), ['', 'a b'], [1]],
  'bearer token': [
    fields.bearerToken(about),
    ['', '!', '~', 'a.b_C-9'],
    ['a b', ' a', 'a ', 'é'],
    'must contain only visible ASCII characters, without spaces',
  ],
  'part of a name': [
    fields.namePart(about),
    ['', 'a', 'a-b9', label63],
    ['1a', 'a-', '-a', 'A', 'a.b', `${label63}a`, 'a b'],
    'must be a DNS label: lower-case letters, digits and "-", at most 63 characters, beginning with a letter',
  ],
  namespace: [fields.namespace, ['a', '1', '1-b', label63], ['', 'a-', '-a', 'A', 'a.b', `${label63}a`]],
  'notification receiver': [fields.notificationReceiver, ['team-a'], ['Team']],
  'optional namespace': [fields.optionalNamespace(about), ['', 'a', '1-b', label63], ['a-', '-a', 'A', 'a.b', `${label63}a`]],
  'object name': [
    fields.objectName,
    ['a', '1', 'a.b-c', 'a'.repeat(253)],
    ['', 'a.', '.a', 'a..b', 'a-.b', 'a.-b', 'A', 'a/b', 'a'.repeat(254)],
  ],
  'optional object name': [
    fields.optionalObjectName(about),
    ['', 'a.b-c'],
    ['a.', '.a', 'A', 'a b'],
    'must be the name of an object: lower-case letters, digits, "-" and "."',
  ],
  'key of a Secret': [
    fields.dataKey(about, 'key'),
    ['a', '-._Z9', 'k'.repeat(253)],
    ['', 'a b', 'a/b', 'k'.repeat(254)],
    'must be a key of a Secret: letters, digits, "-", "_" and "."',
  ],
  header: [
    fields.header(about, 'X-User'),
    ['X-User', '9', 'h'.repeat(100)],
    ['', 'X User', 'X_User', 'h'.repeat(101)],
    'must be the name of a header: letters, digits and "-"',
  ],
  'address of a provider': [
    fields.issuerAddress(about),
    ['', 'https://login.example.com/realms/a'],
    ['http://login.example.com', 'https://', 'https://a?b', 'https://a#b', 'https://a b', 'xhttps://a'],
    'must be a URL that begins with https://, without "?" or "#"',
  ],
  origin: [
    fields.originAddress(about),
    ['', 'https://a.example.com:8443'],
    ['http://a', 'https://', 'https://a/', 'https://a?b', 'https://a#b', 'https://a b', 'xhttps://a'],
    'must be https:// and a host, optionally with a port, without a path',
  ],
  session: [
    fields.sessionDuration(about, '8h'),
    ['1m', '999m', '1h', '99h'],
    ['', '0m', '1000m', '0h', '100h', '1d', 'm', 'h', '1.5h', '1h ', ' 1h', '30m8h'],
    'must be minutes or hours such as 30m or 8h, at most 99h',
  ],
  scopes: [
    fields.oauthScopes(about, []),
    [[], ['openid', '!', '#', '[', ']', '~', 'a:b/c']],
    [[''], ['a b'], ['"'], ['\\'], [' a'], ['a ']],
  ],
  'required text': [fields.requiredText(about, 'a'), ['a', 'a-b'], ['', ' ', 'a b', ' a', 'a '], 'must be a string without white space'],
  'address of a page': [
    fields.pageAddress(about, ''),
    ['', 'http://a', 'https://a.example.com/b?c=d'],
    ['ftp://a', 'https://', 'https://a#b', 'https://a b', 'xhttps://a', 'https:/a', 'a'],
    'must be empty or an http or https URL, without white space or "#"',
  ],
  'host of an Ingress': [
    fields.ingressHost,
    ['', 'a', 'a.example.com', '*.example.com'],
    ['*', '*a', '*.', 'a.*.b', '**.a', 'A', 'a:80', 'https://a', 'a.', 'a'.repeat(254)],
  ],
  flag: [fields.flag(about, true), [true, false], ['true', 1]],
  count: [fields.count(about, 2, 1, 3), [1, 2, 3], [0, 4, 1.5, '2']],
  port: [fields.port(about, 80), [1, 65_535], [0, 65_536, 1.5, '80']],
  ports: [fields.portList(about, [80]), [[1], [1, 65_535]], [[], [0], [65_536]]],
  annotations: [
    fields.annotations(about),
    [{}, { a: '' }, { 'Example.com/A_b.c-9': 'any text' }, { [label63]: '' }],
    [{ '': '' }, { 'a/b/c': '' }, { '/a': '' }, { 'a/': '' }, { '-a': '' }, { 'a-': '' }, { [`${label63}a`]: '' }, { 'a b': '' }, { a: 1 }],
  ],
  labels: [
    fields.labels(about),
    [{}, { a: '' }, { 'example.com/A': 'B_c.d-9' }, { a: label63 }],
    [{ 'Example.com/a': '' }, { a: '-' }, { a: 'b-' }, { a: '-b' }, { a: 'b c' }, { a: `${label63}a` }, { a: 1 }],
  ],
  'members of an object': [
    fields.objectWith(['one', 'two'], about),
    [{}, { one: 1, two: {} }],
    [{ three: 1 }, { xone: 1 }, { onex: 1 }],
    'must be one of one, two',
  ],
  'any object': [fields.anything(about), [{}, { a: [1] }], ['a', 1]],
  'list of objects': [fields.items(about), [[], [{ a: 1 }]], [['a'], {}]],
  references: [fields.references(about), [[], [{ name: 'a.b' }]], [[{ name: 'A' }], [{}], [{ name: 'a', more: 1 }], ['a']]],
  quantity: [
    fields.quantity(about, '1'),
    ['1', 1, 0.5, '100m', '1.5Gi', '1e3'],
    ['', '1GB', '-1', -1, '1 Gi', null],
    'must be a quantity such as 100m or 128Mi',
  ],
  quantities: [
    fields.quantities('Limit', about, { cpu: '1' }),
    [{}, { cpu: null }, { memory: null }, { cpu: 2, memory: '1Gi', 'ephemeral-storage': 1, 'hugepages-2Mi': 1, 'example.com/Device_1': 1 }],
    [
      { cpus: 1 },
      { xcpu: 1 },
      { 'hugepages-Mi': 1 },
      { 'hugepages-2M': 1 },
      { '/device': 1 },
      { 'example.com/': 1 },
      { cpu: 'a' },
      { memory: 'a' },
    ],
  ],
  duration: [fields.duration(about), ['', '0', '30s', '1m30s', '1y2w3d4h5m6s7ms'], ['30', '30s1m', '1.5s', ' 1s', '1s ', 's']],
  'required duration': [
    fields.requiredDuration(about, '1m'),
    ['0', '30s'],
    ['', '15', '1s1s'],
    'must be a Prometheus duration such as 30s, 1m30s or 1d',
  ],
  volumes: [fields.podVolumes(about), [[], [{ name: 'a', emptyDir: {} }]], [[{ name: 'A' }], [{}]]],
  mounts: [
    fields.podVolumeMounts(about),
    [[], [{ name: 'a', mountPath: '/a', subPath: 'b', readOnly: true }]],
    [
      [{ name: 'a', mountPath: 'a' }],
      [{ name: 'a', mountPath: '/' }],
      [{ name: 'a', mountPath: '/a:b' }],
      [{ name: 'a', mountPath: 'x/a' }],
      [{ name: 'a' }],
    ],
  ],
  variables: [
    fields.environment(about),
    [[], [{ name: 'A_1', value: '' }], [{ name: '_', valueFrom: {} }]],
    [[{ name: '1A' }], [{ name: '' }], [{ name: 'A-B' }], [{ name: 'A ' }], [{ name: ' A' }], [{ name: 'A', value: 1 }]],
  ],
}

for (const [name, [schema, accepted, refused, message]] of Object.entries(rows)) {
  void t.test(name, async (t) => {
    for (const value of accepted) t.equal(v.is(schema, value), true, `${JSON.stringify(value)} is accepted`)
    for (const value of refused) {
      const { issues = [] } = v.safeParse(schema, value)
      t.equal(issues.length > 0, true, `${JSON.stringify(value)} is refused`)
      if (message !== undefined) t.equal(issues.at(-1)?.message, message, JSON.stringify(value))
    }
  })
}

void t.test('a default holds where nothing is written, and null removes one', async (t) => {
  t.equal(v.parse(fields.text(about, 'a'), undefined), 'a')
  t.strictSame(v.parse(fields.quantities('Limit', about, { cpu: '1' }), undefined), { cpu: '1' })
  t.strictSame(v.parse(fields.quantities('Limit', about, { cpu: '1' }), { cpu: null, memory: 2 }), { memory: 2 })
  t.strictSame(v.parse(fields.peers('it', 'all'), undefined), { from: [] })
})

void t.test('a resource that no container may request is named by its path, in the schema too', async (t) => {
  const schema = fields.quantities('Limit', about)
  const { issues = [] } = v.safeParse(schema, { cpus: 1 })
  t.strictSame(
    issues.map((issue) => [v.getDotPath(issue), issue.message]),
    [['cpus', 'must be cpu, memory, ephemeral-storage, hugepages-… or a name with a domain such as example.com/device']],
  )
  const { propertyNames } = v.getMetadata(schema.wrapped) as { propertyNames?: { pattern: string } }
  const pattern = new RegExp(propertyNames?.pattern ?? '')
  t.strictSame([pattern.test('cpu'), pattern.test('cpus')], [true, false])
})

void t.test('a selector compares with values where its operator takes some', async (t) => {
  const { matchExpressions, matchLabels } = fields.selectorValues('pods')
  const is = (value: object) => v.is(matchExpressions, [value])
  for (const operator of ['In', 'NotIn']) {
    t.equal(is({ key: 'a', operator, values: ['b'] }), true, operator)
    t.strictSame(
      [is({ key: 'a', operator, values: [] }), is({ key: 'a', operator }), is({ key: '-', operator, values: ['b'] })],
      [false, false, false],
    )
  }
  for (const operator of ['Exists', 'DoesNotExist'])
    t.strictSame([is({ key: 'a', operator }), is({ key: 'a', operator, values: ['b'] })], [true, false], operator)
  t.equal(is({ key: 'a', operator: 'Is' }), false)
  t.strictSame([v.parse(matchExpressions, undefined), v.parse(matchLabels, undefined)], [[], {}])
})

void t.test('names of Services and namespaces are labels, of which the former begin with a letter', async (t) => {
  const names = ['a', '1', 'a-b', 'A', 'a-', 'a.b', '', label63, `${label63}a`]
  t.strictSame(names.map(fields.isServiceLabel), [true, false, true, false, false, false, false, true, false])
  t.strictSame(names.map(fields.isNamespaceName), [true, true, true, false, false, false, false, true, false])
})
