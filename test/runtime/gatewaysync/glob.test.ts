import t from 'tap'
import * as v from 'valibot'
import { glob } from '../../../runtime/gatewaysync/fields.ts'
import { brokenGlobRule } from '../../../runtime/gatewaysync/glob.ts'
import { createMatcher, parseGlob } from '../../../runtime/sync/globs.ts'

void t.test('a glob that cannot match what is meant is refused where it is written, with the reason', async (t) => {
  const rows: [string, string | undefined][] = [
    ['**/*.bak', undefined],
    ['./a/b', undefined],
    ['a/', undefined],
    ['.hidden', undefined],
    ['[ab]{c,d}/(e)', undefined],
    ['a..b/..c', undefined],
    ['', 'is empty'],
    ['./', 'is empty'],
    ['/a', 'must be relative'],
    ['.//a', 'must be relative'],
    ['a\\b', 'must use / and not \\'],
    ['../a', 'must not hold a .. segment'],
    ['a/../b', 'must not hold a .. segment'],
    ['a/..', 'must not hold a .. segment'],
    ['!a', 'must not begin with !; a negated pattern would match nearly everything'],
    ['[a', 'has an unbalanced [ or ]'],
    ['{a,b', 'has an unbalanced { or }'],
    ['*foo*bar*', undefined],
    ['**/a/**/*.{png,jpg}', undefined],
    ['*a*b*c', 'must not hold more than two * before the end of a name'],
    ['x/**/y/**/z/**/b', 'must not hold more than two **/'],
    ['*(a)b', 'must not repeat a group with *( or +('],
    ['+(a|aa)b', 'must not repeat a group with *( or +('],
    ['{a,aa}{a,aa}{a,aa}{a,aa}', 'must not hold more than three of *, {} and () in one name'],
  ]
  for (const [pattern, expected] of rows) {
    t.equal(brokenGlobRule(pattern), expected, pattern)
    t.equal(v.safeParse(glob, pattern).success, expected === undefined, `${pattern}, in a GatewaySync`)
    t[expected === undefined ? 'doesNotThrow' : 'throws'](() => parseGlob(pattern, 'excludePatterns'), pattern)
  }
})

void t.test('a glob is relative to the source, and what matches a folder stands for everything below it', async (t) => {
  const rows: [string, readonly string[], readonly string[]][] = [
    ['a', ['a', 'a/b', 'a/b/c'], ['b/a', 'ab']],
    ['a/', ['a/b', 'a/b/c'], ['a', 'b/a/c']],
    ['./a', ['a'], ['b/a']],
    ['*.txt', ['x.txt', '.txt', 'folder.txt/x'], ['a/x.txt']],
    ['**/*.txt', ['x.txt', 'a/b/x.txt', 'a.txt/b'], ['x.text']],
    ['**/.git*', ['.gitkeep', 'a/.gitignore'], ['a/git']],
    ['a/*/c', ['a/b/c', 'a/b/c/d'], ['a/c', 'a/b/b/c']],
    ['a/**', ['a/b', 'a/.b/c'], ['b']],
    ['{a,b}/[xy]', ['a/x', 'b/y/z'], ['a/z']],
    ['ü', ['ü'], ['u']],
  ]
  for (const [pattern, matching, others] of rows) {
    const matches = createMatcher([parseGlob(pattern, 'excludePatterns')])
    for (const file of matching) t.ok(matches(file), `${pattern} leaves ${file} out`)
    for (const file of others) t.notOk(matches(file), `${pattern} leaves ${file} in`)
  }
})
