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
  return costlyGlobRule(canonical)
}

/**
 * Why matching a pattern could take for ever: whoever writes it and the files may be another than who runs the matching, and each further
 * wildcard multiplies the ways in which a long name can be tried.
 */
export function costlyGlobRule(pattern: string): string | undefined {
  if (/[*+]\(/.test(pattern)) return 'must not repeat a group with *( or +('
  const names = pattern.split('/')
  if (names.slice(0, -1).filter((name) => name === '**').length > 2) return 'must not hold more than two **/'
  for (const name of names.filter((each) => each !== '**')) {
    // A star at the end takes the rest at once.
    const stars = count(name.replace(/\*+$/, ''), '*')
    const groups = count(name, '{') + count(name, '(')
    if (stars > 2) return 'must not hold more than two * before the end of a name'
    if (stars + groups > 3) return 'must not hold more than three of *, {} and () in one name'
  }
  return undefined
}

/** No disk takes such a name, and globs would try it in too many ways. */
export function hasLongName(path: string): boolean {
  return path.length > longestName && /[^/]{256}/.test(path)
}

const longestName = 255

function count(text: string, character: string | undefined): number {
  return character === undefined ? 0 : text.split(character).length - 1
}
