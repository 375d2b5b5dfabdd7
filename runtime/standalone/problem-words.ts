/**
 * Says what is wrong with a file that holds a GatewaySync, where the libraries that read it have words only for programmers. Pure.
 */
import type * as v from 'valibot'
import { YAMLParseError } from 'yaml'
import { printable } from '../gatewaysync/values.ts'

/** Kinds of values, as the schema names them. */
const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'a group of keys',
}

/** What people most often get wrong; the library's words are kept for the rest. */
const yamlWords: Readonly<Partial<Record<YAMLParseError['code'], string>>> = {
  MULTILINE_IMPLICIT_KEY: 'a key lacks the colon behind it, as in "ref: main"',
  BLOCK_AS_IMPLICIT_KEY: 'two keys stand on one line, or a text with ": " in it lacks quotes',
  TAB_AS_INDENT: 'a tab stands at the beginning of a line; indent with blanks',
  BAD_INDENT: 'a line is not indented as the lines beside it',
  DUPLICATE_KEY: 'a key stands twice in one group',
  MISSING_CHAR: 'a quote or bracket is not closed',
}

/** `issue.message` of the product's own checks is said as it is; what the library says of types is put into words. */
export function schemaProblem(issue: v.BaseIssue<unknown>): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message
  if (issue.input === undefined) return 'is missing'
  const { expected } = issue
  const choices = [...(expected ?? '').matchAll(/"([^"]*)"/g)].map(([, choice = '']) => choice)
  const wanted = choices.length > 0 ? choices.join(' or ') : (kinds[expected ?? ''] ?? expected ?? 'something else')
  return `must be ${wanted}, and is ${kinds[issue.received] ?? printable(issue.received)}`
}

/** Takes what the YAML library throws; says the place too. */
export function yamlProblem(error: unknown): string {
  if (!(error instanceof Error)) return 'it cannot be read'
  const [first = ''] = error.message.split('\n', 1)
  const words = error instanceof YAMLParseError ? yamlWords[error.code] : undefined
  const place = / at line \d+, column \d+/.exec(first)?.[0] ?? ''
  return words === undefined ? first.replace(/:$/, '') : `${words},${place}`
}
