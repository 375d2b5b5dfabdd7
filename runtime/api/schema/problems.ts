/**
 * Describes what a schema does not accept, for users. Pure.
 */
import type * as v from 'valibot'
import { printable } from '../values.ts'

/** A condition and an event have space for at least as many. */
const maxListed = 8

/** All problems in one text; of many, the first ones and the number of the others. */
export function listed(problems: readonly string[]): string {
  const more = problems.length - maxListed
  return [...problems.slice(0, maxListed), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}

/** Messages of the product's own checks are kept; the library's messages about types are rewritten. */
export function schemaProblem(issue: v.BaseIssue<unknown>): string {
  if (!issue.message.startsWith('Invalid ')) return issue.message
  if (issue.input === undefined) return 'is missing'
  return `must be ${desiredBy(issue)}, not ${kinds[issue.received] ?? printable(issue.received)}`
}

function desiredBy({ type, expected, input }: v.BaseIssue<unknown>): string {
  if (type === 'integer') return 'a whole number'
  const choices = [...(expected ?? '').matchAll(/"([^"]*)"/g)].map(([, choice = '']) => choice || '""')
  if (choices.length > 0) return choices.join(', ').replace(/, ([^,]*)$/, ' or $1')
  const [, bound, limit] = /^([<>])=(.*)$/.exec(expected ?? '') ?? []
  if (bound === undefined) return kinds[expected ?? ''] ?? expected ?? 'valid'
  return `${bound === '<' ? 'at most' : 'at least'} ${limit}${type.endsWith('_length') ? ` ${Array.isArray(input) ? 'items' : 'characters'} long` : ''}`
}

/** Kinds of values, as the schema names them. */
const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'an object',
}
