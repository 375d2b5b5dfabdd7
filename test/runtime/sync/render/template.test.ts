/**
 * Tests what a template cannot do: read a file, differ between two renders, access anything but its context, or exhaust time or memory.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { filters, Liquid } from 'liquidjs'
import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { TemplateContext } from '../../../../runtime/sync/render/context.ts'
import { createTemplateEngine } from '../../../../runtime/sync/render/template.ts'
import { containsText } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const context: TemplateContext = {
  gateway: { name: 'gw' },
  pod: { name: 'gw-0', ordinal: 0, labels: { site: 'north' } },
  namespace: 'plant',
  ref: 'main',
  commit: 'c'.repeat(40),
  vars: { host: 'h', list: 'a,b,c', file: '/etc/passwd', number: '3' },
}

/** Returns the rendered text, or the reason of the failure. */
function render(text: string): string {
  try {
    return createTemplateEngine().parse(text, 'test').render(context)
  } catch (error) {
    if (error instanceof Fault && error.reason === 'TemplateFailed') return 'TemplateFailed'
    throw error
  }
}

const tags = Object.keys(new Liquid().tags)

void t.test('no tag and no filter reads /etc/passwd, the service account token or any other file', async (t) => {
  const folder = temporaryFolder(t, 'template')
  const secret = 'root:x:0:0'
  mkdirSync(path.join(folder, 'serviceaccount'))
  const token = path.join(folder, 'serviceaccount/token')
  writeFileSync(token, secret)
  writeFileSync(path.join(folder, 'partial.liquid'), secret)
  const names = [token, path.relative(process.cwd(), token), path.join(folder, 'partial'), '/etc/passwd', '../../../../etc/passwd']
  names.push('/var/run/secrets/kubernetes.io/serviceaccount/token', 'package.json', `file://${token}`)
  const uses = [
    ...tags.flatMap((tag) => [
      (name: string) => `{% ${tag} "${name}" %}`,
      (name: string) => `{% ${tag} ${name} %}`,
      (name: string) => `{% ${tag} "${name}" %}{% end${tag} %}`,
      () => `{% ${tag} vars.file %}{% end${tag} %}`,
      (name: string) => `{% ${tag} x = "${name}" %}{{ x }}`,
      (name: string) => `{% ${tag} "${name}" with vars as v %}`,
      (name: string) => `{% ${tag} x in "${name}" %}{{ x }}{% end${tag} %}`,
      (name: string) => `{% liquid ${tag} "${name}" %}`,
    ]),
    ...Object.keys(filters).flatMap((filter) => [
      (name: string) => `{{ "${name}" | ${filter} }}`,
      (name: string) => `{{ "${name}" | ${filter}: "${name}" }}`,
      (name: string) => `{{ "${name}" | split: "," | ${filter}: "x", "${name}" }}`,
    ]),
  ]
  for (const use of uses) {
    for (const name of names) {
      const made = render(use(name))
      if (made.includes(secret) || made.includes('"dependencies"')) t.fail(`${use(name)} reads a file`)
    }
  }
  for (const tag of ['include', 'render', 'layout', 'block']) t.equal(render(`{% ${tag} "a" %}{% end${tag} %}`), 'TemplateFailed', tag)
  t.ok(uses.length > 300, `${uses.length} uses of ${names.length} files`)
})

void t.test('two renders never differ, for any time and random values', async (t) => {
  const values = [
    '""',
    '"now"',
    '"today"',
    '" NOW "',
    'vars.list',
    'vars.number',
    '0',
    '-1',
    'nil',
    'pod',
    '"2026-01-15"',
    '"10:00"',
    '"0"',
    'empty',
    'blank',
  ]
  const rest = ['', ': "%Y-%m-%dT%H:%M:%S.%L %s %N"', ': "x"', ': 1', ': "x", "y"', ': "%c", "Europe/Vienna"']
  const templates = Object.keys(filters).flatMap((filter) =>
    values.flatMap((value) => [
      ...rest.map((text) => `{{ ${value} | ${filter}${text} }}`),
      `{{ vars.list | split: "," | ${filter}: ${value} }}`,
    ]),
  )
  templates.push(
    '{{ now }}',
    '{{ today }}',
    '{% cycle "a", "b" %}',
    '{% increment x %}',
    '{{ "now" | append: "" | date: "%s" }}',
    '{{ "no" | append: "w" | date: "%s" }}',
  )
  templates.push('{% assign n = "n" | append: "ow" %}{{ n | date: "%s" }}', '{% capture n %}now{% endcapture %}{{ n | date: "%s" }}')
  const first = templates.map(render)
  const RealDate = Date
  const { random } = Math
  const later = 1_000_000_007_000
  class LaterDate extends RealDate {
    constructor(...args: [] | [string | number | Date]) {
      if (args.length === 0) super(RealDate.now() + later)
      else super(...args)
    }
    static override now(): number {
      return RealDate.now() + later
    }
  }
  Object.assign(globalThis, { Date: LaterDate })
  Math.random = () => 0.987654321
  try {
    const second = templates.map(render)
    for (const [index, template] of templates.entries())
      if (first[index] !== second[index]) t.fail(`${template}: ${first[index]} and ${second[index]}`)
  } finally {
    Object.assign(globalThis, { Date: RealDate })
    Math.random = random
  }
  t.ok(
    first.some((text) => text !== 'TemplateFailed' && text !== ''),
    `${templates.length} templates`,
  )
})

void t.test('only existing values of the context can be read', async (t) => {
  for (const name of [
    'process',
    'global',
    'globalThis',
    'require',
    'constructor',
    'vars.constructor',
    'vars.__proto__',
    'vars["__proto__"]',
    'vars.toString',
    'gateway.name.constructor',
    'pod.labels.missing',
    'vars.missing',
    'env',
    'this',
    'page',
    'vars.hasOwnProperty',
  ]) {
    t.equal(render(`{{ ${name} }}`), 'TemplateFailed', name)
  }
  t.equal(render('{{ gateway.name }} {{ pod.ordinal }} {{ pod.labels.site }} {{ vars.host }}'), 'gw 0 north h')
})

void t.test('tags at the limits of their number and length are rendered, and one more is refused with the limit', async (t) => {
  const tag = (length: number): string => `{{'${'x'.repeat(length - 4)}'}}`
  const messageOf = (text: string): string => {
    try {
      return `${createTemplateEngine().parse(text, 'test').render(context).length}`
    } catch (error) {
      return error instanceof Fault ? error.message : String(error)
    }
  }
  const longest = 16 * 1024
  t.equal(messageOf(tag(longest)), `${longest - 4}`)
  t.equal(messageOf(tag(longest + 1)), `test: a tag has ${longest + 1} characters; at most ${longest}`)
  t.equal(messageOf(`{%comment%}${'x'.repeat(longest)}{%endcomment%}`), '0', 'text between tags')
  t.equal(messageOf('{{1}}'.repeat(20_000)), '20000')
  t.equal(messageOf('{{1}}'.repeat(20_001)), 'test: there are more than 20000 tags')
  t.equal(messageOf(tag(longest).repeat(64)), `${64 * (longest - 4)}`)
  t.equal(messageOf(`${tag(longest).repeat(64)}{%if 1%}{%endif%}`), 'test: all tags have more than 1048576 characters')
  t.equal(messageOf(`${'x'.repeat(longest)}{{ x`), 'test: output "{{ x" not closed, line:1, col:16385')
})

void t.test('a refused tag or filter is named with its reason', (t) => {
  const messageOf = (text: string): string => {
    try {
      return createTemplateEngine().parse(text, 'test').render(context)
    } catch (error) {
      return String(error)
    }
  }
  for (const [text, expected] of [
    ['{{ vars.list | split: "," | sample }}', 'the filter "sample" is not available: its result differs between two renders'],
    ['{% include "partial" %}', 'the tag "include" is not available: templates cannot read other files'],
    ['{{ "now" | date: "%s" }}', '"now" is not available: it differs between two renders'],
    ['{{ " TODAY " | date_to_string }}', '" TODAY " is not available'],
  ] as const)
    containsText(t, messageOf(text), expected)
  t.equal(messageOf(`{% ${'x'.repeat(400)} %}`).length, 'Fault: test: '.length + 300, 'a message has at most 300 characters')
  t.equal(messageOf('{{ "2026-01-02" | date: "%Y" }}'), '2026')
  t.end()
})

void t.test('a template uses each variable that it names, and all variables below a computed name', (t) => {
  const usesOf = (text: string) => createTemplateEngine().parse(text, 'test').uses
  t.strictSame(usesOf('text'), [])
  t.strictSame(usesOf('{{ vars.list[1] }}'), [['vars', 'list', '1']])
  t.strictSame(usesOf('{{ vars.host }} {{ pod.ordinal }} {{ vars.host }}'), [
    ['pod', 'ordinal'],
    ['vars', 'host'],
  ])
  t.strictSame(usesOf('{{ vars["host"] }} {{ pod.labels[vars.number] }}'), [
    ['pod', 'labels'],
    ['vars', 'host'],
    ['vars', 'number'],
  ])
  t.end()
})
