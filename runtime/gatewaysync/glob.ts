/**
 * What a glob of exclude patterns and patches may look like: checked where it is written and again where it is used. Pure.
 */

/** One form for a pattern that a user wrote: `./a` is `a`, and `a/` is everything below `a`. */
export function canonicalGlob(pattern: string): string {
  return pattern.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '/**')
}

/** Why a pattern could not match what its writer meant; undefined for a good one. */
export function brokenGlobRule(pattern: string): string | undefined {
  const canonical = canonicalGlob(pattern)
  if (canonical === '') return 'is empty'
  if (canonical.startsWith('/')) return 'must be relative'
  if (canonical.includes('\\')) return 'must use / and not \\'
  if (`/${canonical}/`.includes('/../')) return 'must not hold a .. segment'
  if (canonical.startsWith('!')) return 'must not begin with !; a negated pattern would match nearly everything'
  for (const [open, close] of ['[]', '{}', '()']) {
    if (count(canonical, open) !== count(canonical, close)) return `has an unbalanced ${open} or ${close}`
  }
  return undefined
}

function count(text: string, character: string | undefined): number {
  return character === undefined ? 0 : text.split(character).length - 1
}
