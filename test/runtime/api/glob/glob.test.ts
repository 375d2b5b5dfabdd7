import t from 'tap'
import * as v from 'valibot'
import { glob } from '../../../../runtime/api/schema/fields.ts'
import { brokenGlobRule, brokenRefGlobRule, createExcluder, createMatcher, requireGlob } from '../../../../runtime/api/glob/glob.ts'

void t.test('a glob that cannot match as intended is rejected in the GatewaySync, with the reason', async (t) => {
  const rows: [string, string | undefined][] = [
    ['**/*.bak', undefined],
    ['./a/b', undefined],
    ['a/', undefined],
    ['.hidden', undefined],
    ['[ab]{c,d}/[(]e[)]', undefined],
    ['{a,{b,c}*}/[]]', undefined],
    ['a..b/..c', undefined],
    ['', 'is empty'],
    ['./', 'is empty'],
    ['/a', 'must be relative'],
    ['.//a', 'must be relative'],
    ['a\\b', 'must use / and not \\; write [*] for a literal *'],
    ['../a', 'must not contain a .. segment'],
    ['a/../b', 'must not contain a .. segment'],
    ['a/..', 'must not contain a .. segment'],
    ['!a', 'must not begin with !; a negated pattern would match nearly everything'],
    ['[a', 'has an unbalanced [ or ]'],
    ['{a,b', 'has an unbalanced { or }'],
    ['*foo*bar*', undefined],
    ['**/a/**/*.{png,jpg}', undefined],
    ['a}{b', 'has an unbalanced { or }'],
    ['a]', 'has an unbalanced [ or ]'],
    ['[z-a]', 'contains a range in [] whose end comes before its beginning'],
    ['[a/b]', 'must not contain / in []'],
    ['*a*b*c', undefined],
    ['x/**/y/**/z/**/b', undefined],
    ['{a,aa}{a,aa}{a,aa}{a,aa}', undefined],
    ['(a)', 'must not contain parentheses: write {a,b} for alternatives, and ? or [(] for a literal parenthesis'],
    ['a|b', 'must not contain |: write {a,b} for alternatives, and ? or [|] for a literal |'],
    ['a"b', 'must not contain a quotation mark: write ? instead'],
    ['{1..3}', 'must not contain a range in {}: write [1-3] or {1,2,3}'],
    ['[a]+b', 'must not repeat a group with +; write [+] for a literal +'],
    ['a/**.bak', 'must contain ** only as a whole name between slashes: write **/*.bak for all files with that ending'],
    ['a**/b', 'must contain ** only as a whole name between slashes: write **/*.bak for all files with that ending'],
    ['***', 'must contain ** only as a whole name between slashes: write **/*.bak for all files with that ending'],
  ]
  for (const [pattern, expected] of rows) {
    t.equal(brokenGlobRule(pattern), expected, pattern)
    t.equal(v.safeParse(glob, pattern).success, expected === undefined, `${pattern}, in a GatewaySync`)
    t[expected === undefined ? 'doesNotThrow' : 'throws'](() => requireGlob(pattern, 'excludePatterns'), pattern)
  }
})

void t.test('a glob is relative to the source, and a match of a folder includes everything below it', async (t) => {
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
    ['?', ['😀', 'a/b'], ['', 'ab']],
    ['[!a]b', ['bb', 'üb'], ['ab', 'a/b']],
    ['[a-c][+]', ['b+'], ['b', 'bb']],
    ['pump[1]', ['pump[1]', 'pump1'], ['pump']],
    ['{a,b{c,d}}.txt', ['a.txt', 'bd.txt'], ['b.txt', 'ac.txt']],
    ['{a}', ['{a}'], ['a']],
    ['{**/x,y}/z', ['a/x/z', 'x/z', 'y/z'], ['a/y/z']],
  ]
  for (const [pattern, matching, others] of rows) {
    const matches = createExcluder([requireGlob(pattern, 'excludePatterns')])
    for (const file of matching) t.ok(matches(file), `${pattern} leaves ${file} out`)
    for (const file of others) t.notOk(matches(file), `${pattern} leaves ${file} in`)
  }
})

void t.test('in ref patterns ** matches across slashes anywhere, and parentheses and | are literal', async (t) => {
  const rows: [string, readonly string[], readonly string[]][] = [
    ['v**', ['v1', 'v1/x'], ['w']],
    ['**/x', ['a/x', 'a/b/x'], ['x']],
    ['v*', ['v1'], ['v1/x']],
    ['release/{1,2}.[0-9]', ['release/1.0'], ['release/3.0', 'release/1.x']],
    ['a(b)|c', ['a(b)|c'], ['ab', 'c']],
  ]
  for (const [pattern, matching, others] of rows) {
    const matches = createMatcher([pattern], 'ref')
    for (const ref of matching) t.ok(matches(ref), `${pattern} matches ${ref}`)
    for (const ref of others) t.notOk(matches(ref), `${pattern} does not match ${ref}`)
  }
  t.equal(brokenRefGlobRule('v[1'), 'has an unbalanced [ or ]')
  t.equal(brokenRefGlobRule(''), 'is empty')
})
