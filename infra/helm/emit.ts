/**
 * Writes trees of manifests as text of Helm templates: block YAML in which expressions and markers are actions. Pure.
 */
import { and, isSet, not, or } from './combinators.ts'
import { type Definitions, Expression, Structure, textOf, type Value } from './expression.ts'
import { Choice, Conditional, JsonText, Repeated } from './nodes.ts'
import { escaped, keyText, scalarText } from './scalars.ts'
import { chartTemplate, memberPerLine, memberPerLineTemplate } from './templates.ts'

/** The text of a template file, and the named templates that it calls. */
export type Emitted = { text: string; definitions: Definitions }

/** One file of documents; conditional ones begin inside their condition, so that nothing is left of them. */
export function emitDocuments(manifests: readonly unknown[]): Emitted {
  const lines = manifests.flatMap((manifest) => documents(manifest))
  return { text: lines.join('\n') + '\n', definitions: definitionsIn(manifests) }
}

function documents(manifest: unknown): string[] {
  if (manifest instanceof Conditional) return conditional(manifest.condition, '', (manifest.content as unknown[]).flatMap(documents))
  if (manifest instanceof Repeated) return [rangeOver(manifest), ...documents(manifest.content), '{{- end }}']
  return ['---', ...block(manifest, '')]
}

/** A template that renders nothing, and refuses to when there is a message; one a line. */
export function emitRefusal(messages: readonly unknown[]): Emitted {
  return withMessages(messages, ['{{- if $messages }}', '{{- fail (join "\\n" $messages) }}', '{{- end }}'])
}

/** What Helm prints after a release, and each warning. */
export function emitNotes(lines: readonly Value<string>[], warnings: readonly unknown[]): Emitted {
  const printed = lines.map((line) => (line instanceof Expression ? `{{ ${bare(line)} }}` : escaped(line)))
  const emitted = withMessages(warnings, ['{{- range $messages }}', 'warning: {{ . }}', '{{- end }}'])
  return { text: [...printed, emitted.text].join('\n'), definitions: { ...definitionsIn(lines), ...emitted.definitions } }
}

function withMessages(messages: readonly unknown[], then: readonly string[]): Emitted {
  const lines = ['{{- $messages := list }}', ...messages.flatMap(messageLines), ...then]
  return { text: lines.join('\n') + '\n', definitions: definitionsIn(messages) }
}

function messageLines(message: unknown): string[] {
  if (Array.isArray(message)) return message.flatMap(messageLines)
  if (message instanceof Conditional) return conditional(message.condition, '', messageLines(message.content))
  if (message instanceof Repeated) return [rangeOver(message), ...messageLines(message.content), '{{- end }}']
  return [`{{- $messages = append $messages ${textOf(message)} }}`]
}

/** A tree in lines of its own. */
function block(tree: unknown, indent: string): string[] {
  if (tree instanceof Structure) return [`${indent}{{- toYaml ${tree.text} | nindent ${indent.length} }}`]
  if (tree instanceof Choice)
    return [
      `${indent}{{- if ${bare(tree.condition)} }}`,
      ...block(tree.yes, indent),
      `${indent}{{- else }}`,
      ...block(tree.no, indent),
      `${indent}{{- end }}`,
    ]
  if (!isTree(tree)) return [indent + inline(tree)]
  const nothing = Array.isArray(tree) ? '[]' : '{}'
  const present = anyPresent(tree)
  if (present === false) return [indent + nothing]
  const lines = Array.isArray(tree) ? tree.flatMap((element) => elementLines(element, indent)) : memberLines(tree, indent)
  const absent = not(present)
  return absent instanceof Expression ? [...conditional(absent, indent, [indent + nothing]), ...lines] : lines
}

function memberLines(tree: object, indent: string): string[] {
  return grouped(Object.entries(tree)).flatMap(({ condition, entries }) => {
    const lines = entries.flatMap(([key, value]) => memberLine(key, value, indent))
    return condition === undefined ? lines : conditional(condition, indent, lines)
  })
}

type Entry = [key: string, value: unknown]
type Group = { condition: Expression<boolean> | undefined; entries: Entry[] }

/** Members that stand together and depend on the same condition, which is then asked once. */
function grouped(entries: readonly Entry[]): Group[] {
  const groups: Group[] = []
  for (const [key, value] of entries) {
    const { condition, content } = value instanceof Conditional ? value : { condition: undefined, content: value }
    const last = groups.at(-1)
    if (last !== undefined && last.condition?.text === condition?.text) last.entries.push([key, content])
    else groups.push({ condition, entries: [[key, content]] })
  }
  return groups
}

function memberLine(key: string, value: unknown, indent: string): string[] {
  if (value === undefined) return []
  if (value instanceof Conditional) return memberLines({ [key]: value }, indent)
  const start = `${indent}${keyText(key)}:`
  if (standsInLine(value)) return textLines(start, value, indent)
  return [start, ...block(value, `${indent}  `)]
}

function elementLines(element: unknown, indent: string): string[] {
  if (element instanceof Conditional)
    return conditional(
      element.condition,
      indent,
      (element.content as unknown[]).flatMap((inner) => elementLines(inner, indent)),
    )
  if (element instanceof Repeated)
    return [`${indent}${rangeOver(element)}`, ...elementLines(element.content, indent), `${indent}{{- end }}`]
  if (standsInLine(element)) return textLines(`${indent}-`, element, indent)
  const [first = '', ...others] = block(element, `${indent}  `)
  return [`${indent}- ${first.trimStart()}`, ...others]
}

/** The action that begins a repetition. */
function rangeOver({ variable, list }: Repeated): string {
  return `{{- range $${variable}Key, $${variable} := ${list.text} }}`
}

function conditional(condition: Expression<boolean>, indent: string, lines: readonly string[]): string[] {
  return [`${indent}{{- if ${bare(condition)} }}`, ...lines, `${indent}{{- end }}`]
}

/** Texts of several lines stay readable in a literal block. */
function textLines(start: string, value: unknown, indent: string): string[] {
  if (value instanceof JsonText) {
    // Read back as YAML, the tree becomes JSON with its keys in order.
    const tree = `(include "${chartTemplate(value.name)}" $ | fromYaml)`
    return [`${start} |-`, `${indent}  {{- include "${chartTemplate(memberPerLine)}" ${tree} | nindent ${indent.length + 2} }}`]
  }
  if (typeof value !== 'string' || !/^[^\s][^]*[^\s]\n?$/.test(value) || !value.includes('\n')) return [`${start} ${inline(value)}`]
  const ends = value.endsWith('\n')
  const lines = (ends ? value.slice(0, -1) : value).split('\n')
  return [`${start} ${ends ? '|' : '|-'}`, ...lines.map((line) => (line === '' ? '' : `${indent}  ${escaped(line)}`))]
}

/** An expression as a whole action, which needs no parentheses around it. */
function bare({ text }: Expression<unknown>): string {
  return text.startsWith('(') ? text.slice(1, -1) : text
}

function inline(value: unknown): string {
  if (value instanceof Expression) return `{{ toRawJson ${value.text} }}`
  if (Array.isArray(value)) return '[]'
  if (typeof value === 'object' && value !== null) return '{}'
  return scalarText(value)
}

function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Expression) && !(value instanceof JsonText)
}

function standsInLine(value: unknown): boolean {
  if (value instanceof Structure) return false
  return !isTree(value) || (!(value instanceof Choice) && Object.keys(value).length === 0)
}

/** Whether a list or an object has anything in it; known unless all of it depends on values. */
function anyPresent(tree: object): Value<boolean> {
  return or(...(Array.isArray(tree) ? tree.map(isElementPresent) : Object.values(tree).map(isMemberPresent)))
}

function isElementPresent(element: unknown): Value<boolean> {
  if (element instanceof Conditional) return and(element.condition, anyPresent(element.content as unknown[]))
  return element instanceof Repeated ? isSet(element.list) : element !== undefined
}

function isMemberPresent(value: unknown): Value<boolean> {
  return value instanceof Conditional ? and(value.condition, isMemberPresent(value.content)) : value !== undefined
}

/** Every named template that a tree needs, those of trees that become JSON included. */
function definitionsIn(tree: unknown): Definitions {
  if (tree instanceof Expression) return tree.definitions
  if (typeof tree !== 'object' || tree === null) return {}
  const inner = Object.assign({}, ...Object.values(tree).map(definitionsIn)) as Definitions
  if (!(tree instanceof JsonText)) return inner
  return { ...inner, [chartTemplate(tree.name)]: block(tree.tree, '').join('\n'), [chartTemplate(memberPerLine)]: memberPerLineTemplate }
}
