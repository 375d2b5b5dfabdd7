import type { Test } from 'tap'

/**
 * Strict assertions on a part of a value. `t.match`, `t.throws` and `t.rejects` are not strict: tap accepts a text that contains the
 * expected one, and an array that begins with the expected one.
 */

/**
 * The value has the members that `pattern` names, and may have others. A regular expression matches text, everything else is compared
 * strictly, and arrays have the same length.
 */
export function matchObject(t: Test, value: unknown, pattern: object | undefined, message = 'should have these members'): boolean {
  t.currentAssert = matchObject
  return t.strictSame(partOf(value, pattern), pattern, message)
}

/** The function throws an error with the members of `pattern`, or with its name and message if the pattern is an error. */
export function throwsError(t: Test, fn: () => unknown, pattern: object, message = 'should throw this error'): boolean {
  t.currentAssert = throwsError
  try {
    fn()
  } catch (error) {
    return matchObject(t, error, membersOf(pattern), message)
  }
  return t.fail(message)
}

/** Like `throwsError`, for a promise that rejects. */
export async function rejectsWith(
  t: Test,
  promise: Promise<unknown>,
  pattern: object,
  message = 'should reject with this error',
): Promise<boolean> {
  try {
    await promise
  } catch (error) {
    return matchObject(t, error, membersOf(pattern), message)
  }
  return t.fail(message)
}

/** The text contains the part or matches the expression. */
export function containsText(
  t: Test,
  text: string | null | undefined,
  part: string | RegExp,
  message = 'should contain the text',
): boolean {
  t.currentAssert = containsText
  const isFound = part !== '' && typeof text === 'string' && (part instanceof RegExp ? text.search(part) !== -1 : text.includes(part))
  return isFound ? t.pass(message) : t.fail(message, { found: text, wanted: part })
}

/** The text does not contain the part. */
export function lacksText(t: Test, text: string, part: string, message = 'should not contain the text'): boolean {
  t.currentAssert = lacksText
  const isFound = part === '' || text.includes(part)
  return isFound ? t.fail(message, { found: text, doNotWant: part }) : t.pass(message)
}

/** The part of the value that the pattern names; where a regular expression matches, the expression itself. */
export function partOf(value: unknown, pattern: unknown): unknown {
  if (pattern instanceof RegExp) return typeof value === 'string' && value.search(pattern) !== -1 ? pattern : value
  if (Array.isArray(pattern)) return Array.isArray(value) ? value.map((item, index) => partOf(item, pattern[index])) : value
  if (!isPlain(pattern) || typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = value as Record<string, unknown>
  return Object.fromEntries(Object.entries(pattern).map(([key, part]) => [key, partOf(members[key], part)]))
}

function membersOf(pattern: object): object {
  return pattern instanceof Error ? Object.assign({ name: pattern.name, message: pattern.message }, pattern) : pattern
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
