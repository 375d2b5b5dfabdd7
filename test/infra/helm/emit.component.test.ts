/**
 * Each combinator and marker means the same at once and in a template: a tree of known values equals what the real Helm renders of the
 * tree of expressions, for values that YAML, templates or Go read in ways of their own.
 */
import t, { type Test } from 'tap'
import {
  amount,
  and,
  asText,
  asTexts,
  base64,
  contains,
  cut,
  earlier,
  either,
  equals,
  greater,
  hasKey,
  includes,
  isSet,
  less,
  lookup,
  matches,
  merged,
  milliseconds,
  named,
  not,
  or,
  plucked,
  quoted,
  sameNumber,
  sizeOf,
  text,
  together,
  withoutEmpty,
} from '../../../infra/helm/combinators.ts'
import { emitDocuments } from '../../../infra/helm/emit.ts'
import { Expression, Structure, type Value } from '../../../infra/helm/expression.ts'
import { choose, each, eachMember, field, given, json, unlessEmpty, when } from '../../../infra/helm/nodes.ts'
import { canRunHelm, helm, rendered } from '../../support/helm.ts'

const known = {
  yes: true as boolean,
  no: false as boolean,
  empty: '',
  name: 'plant',
  odd: `yes: "no" #1 {{ .Values }} %s <&>\\ größe ☃\ttab`,
  lines: 'one\n  two\n\nthree\n',
  count: 3,
  large: 2_147_483_648,
  fraction: 0.5,
  quantities: ['1', '100m', '1.5Gi', '128M', '128e6', '1E3', '2E', '.5', '7.', '3n'],
  numbers: [1, 128e6, 0.1, 1e-7, 3e9],
  durations: ['', '0', '30s', '1m30s', '2w1d', '1h5ms', '1y'],
  none: [] as string[],
  bare: {} as Record<string, string>,
  list: ['b', 'a', 'b', 'true', '7', ''],
  labels: { a: '1', 'app.kubernetes.io/name': 'x', off: '', y: 'no', '1': 'one' } as Record<string, string>,
  mixed: { cpu: 1, memory: '64Mi', other: 1e9 } as Record<string, string | number>,
  deep: { a: [{ b: null, c: [1, 'two', { d: false }] }], e: {}, long: 'many words: '.repeat(20), lines: 'a\n\n  b\n' } as Record<
    string,
    unknown
  >,
  hosts: [
    { host: 'a.example.com', paths: ['/', '/push'] },
    { host: 'b.example.com', paths: [] as string[] },
  ],
}
type Known = { [Name in keyof typeof known]: Value<(typeof known)[Name]> }

const live = Object.fromEntries(
  Object.entries(known).map(([name, value]) => {
    const expression = `$.Values.${name}`
    return [name, typeof value === 'object' ? new Structure(expression) : new Expression(expression)]
  }),
) as Known

/** Both ways of one tree. */
async function same(t: Test, tree: (values: Known) => object): Promise<void> {
  if (!canRunHelm(t)) return
  const manifest = (content: object): object => ({ apiVersion: 'v1', kind: 'Tree', metadata: { name: 'tree' }, content })
  const { text, definitions } = emitDocuments([manifest(tree(live))])
  const helpers = Object.entries(definitions).map(([name, body]) => `{{- define "${name}" }}\n${body}\n{{- end }}\n`)
  const real = await helm(t, [
    { path: 'Chart.yaml', content: 'apiVersion: v2\nname: tree\nversion: 1.0.0\n' },
    { path: 'templates/tree.yaml', content: text },
    { path: 'templates/_helpers.tpl', content: helpers.join('\n') },
  ])
  const answer = await rendered(real, { name: 'tree', namespace: 'tree' }, known)
  if (typeof answer === 'string') t.fail(`${answer}\n${text}`)
  else t.strictSame(answer.manifests, [JSON.parse(JSON.stringify(manifest(tree(known))))])
}

void t.test('values are written as they are', async (t) => same(t, (values) => ({ ...values })))

void t.test('conditions hold where they hold of known values', async (t) =>
  same(t, ({ yes, no, empty, name, none, list, bare, labels, count, fraction, odd }) => ({
    not: [not(yes), not(no), not(not(yes)), not(and(yes, no))],
    and: [and(yes, yes), and(yes, no), and(yes, true), and(no, false), and(), and(yes, not(no), isSet(name))],
    or: [or(no, no), or(no, yes), or(no, true), or(no, false), or()],
    isSet: [empty, name, none, list, bare, labels].map(isSet),
    equals: [equals(name, 'plant'), equals(name, empty), equals(odd, odd)],
    numbers: [sameNumber(count, 3), greater(count, 3), greater(count, fraction), greater(fraction, count), greater(4, count)],
    matches: [matches(/^[a-z]+$/, name), matches(/^[a-z]+$/, odd), matches(/^$/, empty)],
    contains: [contains(name, 'lan'), contains(name, empty), contains(empty, name)],
    keys: [hasKey(labels, 'a'), hasKey(labels, 'b'), hasKey(labels, name)],
    sizes: [list, none].map(sizeOf),
    includes: [includes(list, 'a'), includes(list, name), includes(none, name)],
  })),
)

void t.test('texts are put together as known ones are', async (t) =>
  same(t, ({ name, odd, empty, count, large, fraction, lines, yes, no }) => {
    const long = text`${name}-${'p'.repeat(20)}-${name}`
    return {
      text: [text`100%s {{ "${name}" }} ${odd}`, text`${empty}`, text`${lines}-`],
      nested: text`(${text`[${name}]%`})`,
      together: [together(', ', [name, 'b%', odd]), together(',', [])],
      asText: [count, large, fraction, name].map(asText),
      quoted: [quoted(name), quoted(odd)],
      base64: [name, odd, empty, lines].map(base64),
      cut: [cut(long, 6), cut(long, 7), cut(name, 63), cut(text`${name}---`, 7)],
      either: [either(yes, name, odd), either<string | number>(no, name, count), either(isSet(empty), empty, 'other')],
      named: named('name', text`${name}!`),
    }
  }),
)

void t.test('quantities and durations are the same numbers', async (t) =>
  same(t, ({ quantities, durations, numbers, count }) => ({
    amounts: each('quantity', quantities, (quantity) => amount(quantity)),
    milliseconds: each('duration', durations, (duration) => milliseconds(duration)),
    texts: each('number', numbers, (number) => asText(number)),
    less: less(count, 1),
  })),
)

void t.test('lists and objects are merged, looked up and cut as known ones are', async (t) =>
  same(t, ({ labels, bare, mixed, list, hosts, name, none, count }) => ({
    merged: [
      merged({ a: '0', b: name }, labels, { 'app.kubernetes.io/name': name }),
      merged(bare, { off: '' }),
      merged({ off: '1' }, labels),
      merged(bare, bare),
    ],
    withoutEmpty: [withoutEmpty(labels), withoutEmpty(bare)],
    asTexts: [asTexts(mixed), asTexts(bare)],
    lookup: lookup(labels, 'a'),
    earlier: [earlier(list, 2), earlier(list, count)],
    ofNone: includes(earlier(none, 0), name),
    plucked: plucked(hosts, 'host'),
  })),
)

void t.test('what depends on a condition is there when it holds', async (t) =>
  same(t, ({ yes, no, empty, name, labels, bare, none, list, hosts, count }) => ({
    elements: ['first', ...when<unknown>(yes, ['second', ...when<string>(no, ['third']), name]), ...when<object>(no, [{ a: 1 }])],
    onlyConditional: [...when<string>(no, ['a']), ...when<string>(no, [...when<string>(yes, ['b'])])],
    outerHolds: [...when<string>(yes, [...when<string>(no, ['a'])])],
    members: {
      first: 1,
      second: given<number>(yes, 2),
      inner: given<object>(yes, { third: given<number>(no, 3) }),
      fourth: given<number>(no, 4),
    },
    together: { a: given<number>(yes, 1), b: given<Value<string>>(yes, name), c: given<number>(no, 2), d: given<number>(no, 3), e: 4 },
    onlyMembers: [{ a: given<number>(no, 1) }, { a: given<object>(yes, { b: name }) }],
    none: { a: given<number>(no, 1), b: given<number>(not(yes), 2) },
    nestedMembers: { a: given<unknown>(yes, given<number>(no, 1)), b: given<unknown>(yes, given<number>(yes, 1)) },
    unlessEmpty: { name: unlessEmpty(name), empty: unlessEmpty(empty), labels: unlessEmpty(labels), bare: unlessEmpty(bare) },
    choose: [choose<unknown>(yes, { a: name }, ['b']), choose<unknown>(no, { a: name }, 'b'), { inner: choose<unknown>(no, 1, {}) }],
    each: each('element', list, (element, index) => ({ element, index })),
    nothing: each('element', none, (element) => ({ element })),
    pairs: eachMember('label', labels, (key, value) => text`${key}=${value}`),
    nested: each('host', hosts, (host) => ({
      host: field(host, 'host'),
      paths: each('path', field(host, 'paths'), (path) => ({ path, last: greater(count, 2) })),
    })),
  })),
)

void t.test('known texts are not for Helm, however they look', async (t) =>
  same(t, () => ({
    '{{ key }}': '{{ .Values.name }} }} {{',
    yes: 'no',
    '1': ['on', '~', '0x1f', '1e3', '', ' a', 'a ', '-', '- a', 'a: b', '# a', '2020-01-01', 'null'],
    lines: '{\n  "a": "{{ state }}",\n\n  "b": 1\n}',
    ends: 'one\ntwo\n',
    blank: 'one\n\n\n',
    indented: '  one\ntwo',
  })),
)

void t.test('an object as JSON has one line a member, with keys in order', async (t) =>
  same(t, ({ name, odd, count, large, no, labels, deep, hosts, list }) => ({
    env: [{ name: 'A', value: json('known', { b: 1, a: 2 }) }],
    value: json('settings', { b: name, a: { odd, count, large }, labels, deep, hosts, list, never: given<number>(no, 1) }),
  })),
)
