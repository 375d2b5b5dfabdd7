/**
 * Writes trees of manifests as text of Helm templates: block YAML in which expressions and markers are actions. Pure.
 */
import { and, isSet, not, or } from './combinators.ts'
import { type Definitions, Expression, Structure, type Value } from './expression.ts'
import { Choice, Conditional, isConditionalKey, JsonText, Repeated } from './nodes.ts'
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
  return ['---', ...block(manifest, '')]
}

/** A tree in lines of its own. */
function block(tree: unknown, indent: string): string[] {
  if (tree instanceof Structure) return [`${indent}{{- toYaml ${tree.text} | nindent ${indent.length} }}`]
  if (tree instanceof Choice)
    return [
      `${indent}{{- if ${tree.condition.text} }}`,
      ...block(tree.yes, indent),
      `${indent}{{- else }}`,
      ...block(tree.no, indent),
      `${indent}{{- end }}`,
    ]
  if (!isTree(tree)) return [indent + inline(tree)]
  const parts: readonly unknown[] = Array.isArray(tree) ? tree : Object.values(tree)
  const nothing = Array.isArray(tree) ? '[]' : '{}'
  const present = anyPresent(parts)
  if (present === false) return [indent + nothing]
  const lines = Array.isArray(tree) ? tree.flatMap((element) => elementLines(element, indent)) : memberLines(tree, indent)
  const absent = not(present)
  return absent instanceof Expression ? [...conditional(absent, indent, [indent + nothing]), ...lines] : lines
}

function memberLines(tree: object, indent: string): string[] {
  return Object.entries(tree).flatMap(([key, value]: [string, unknown]) => {
    if (value === undefined) return []
    if (isConditionalKey(key)) {
      const { condition, content } = value as Conditional
      return conditional(condition, indent, memberLines(content as object, indent))
    }
    const start = `${indent}${keyText(key)}:`
    if (standsInLine(value)) return textLines(start, value, indent)
    return [start, ...block(value, `${indent}  `)]
  })
}

function elementLines(element: unknown, indent: string): string[] {
  if (element instanceof Conditional)
    return conditional(
      element.condition,
      indent,
      (element.content as unknown[]).flatMap((inner) => elementLines(inner, indent)),
    )
  if (element instanceof Repeated)
    return [
      `${indent}{{- range $${element.variable} := ${element.list.text} }}`,
      ...elementLines(element.content, indent),
      `${indent}{{- end }}`,
    ]
  if (standsInLine(element)) return textLines(`${indent}-`, element, indent)
  const [first = '', ...others] = block(element, `${indent}  `)
  // An action would take the hyphen's space along.
  return first.trimStart().startsWith('{{-') ? [`${indent}-`, first, ...others] : [`${indent}- ${first.trimStart()}`, ...others]
}

function conditional(condition: Expression<boolean>, indent: string, lines: readonly string[]): string[] {
  return [`${indent}{{- if ${condition.text} }}`, ...lines, `${indent}{{- end }}`]
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
function anyPresent(parts: readonly unknown[]): Value<boolean> {
  return or(
    ...parts.map((part) => {
      if (part instanceof Conditional) return and(part.condition, anyPresent(Object.values(part.content as object)))
      if (part instanceof Repeated) return isSet(part.list)
      return part !== undefined
    }),
  )
}

/** Every named template that a tree needs, those of trees that become JSON included. */
function definitionsIn(tree: unknown): Definitions {
  if (tree instanceof Expression) return tree.definitions
  if (typeof tree !== 'object' || tree === null) return {}
  const inner = Object.assign({}, ...Object.values(tree).map(definitionsIn)) as Definitions
  if (!(tree instanceof JsonText)) return inner
  return { ...inner, [chartTemplate(tree.name)]: block(tree.tree, '').join('\n'), [chartTemplate(memberPerLine)]: memberPerLineTemplate }
}
