/**
 * Describes what a schema does not accept, for users. Pure.
 */
import type * as v from 'valibot'
import { printable } from '../values.ts'

/** A condition and an event hold at least as many. */
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
  const { expected } = issue
  const choices = [...(expected ?? '').matchAll(/"([^"]*)"/g)].map(([, choice = '']) => choice)
  const desired = choices.length > 0 ? choices.join(' or ') : (kinds[expected ?? ''] ?? expected ?? 'something else')
  return `must be ${desired}, and is ${kinds[issue.received] ?? printable(issue.received)}`
}

/** Kinds of values, as the schema names them. */
const kinds: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  boolean: 'true or false',
  Array: 'a list',
  Object: 'a group of keys',
}
