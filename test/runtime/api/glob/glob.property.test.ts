/**
 * Globs match as in picomatch wherever both accept a pattern. The comparison leaves out `[!a]`, which is a negation in shells but not in
 * picomatch, and braces after a slash that may be empty, which match without the slash in picomatch.
 */
import fc from 'fast-check'
import picomatch from 'picomatch'
import t from 'tap'
import { brokenGlobRule, canonicalGlob, createExcluder, createMatcher } from '../../../../runtime/api/glob/glob.ts'

const unit = fc.constantFrom('a', 'b', '.', '-', '+', '1', ' ', 'ü', '[', ']', '{', '}', ',', '!', '@', '^')
const word = fc.string({ unit, minLength: 1, maxLength: 4 }).filter((name) => name !== '.' && name !== '..')
const plainPath = fc
  .array(fc.string({ unit: fc.constantFrom('a', 'b', '.b', '+'), minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
  .map((names) => names.join('/'))
const path = fc.array(word, { minLength: 1, maxLength: 4 }).map((names) => names.join('/'))

const plain = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-', '1', 'ü', '@'), maxLength: 3 })
const letters = fc.constantFrom('[ab]', '[^ab]', '[a-c]', '[1]', '[^1]', '[.]', '[+]', '[(]', '[{]', '[]a]')
const star = fc.constantFrom('*', '*', '?')
const piece = fc.oneof(plain, letters, star, fc.array(fc.oneof(plain, letters, star), { minLength: 2, maxLength: 3 }).map(braces))
const segment = fc.oneof(
  { weight: 3, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')) },
  fc.constant('**'),
)
const pattern = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'))

function braces(choices: readonly string[]): string {
  return `{${choices.join(',')}}`
}

/** Pairs of a pattern and a path that share segments more often than chance would give. */
const pair = fc.oneof(
  fc.tuple(pattern, path),
  fc.tuple(pattern, plainPath),
  fc.tuple(pattern, plainPath).map(([glob, file]): [string, string] => [`${glob}/${file.split('/').at(-1) ?? ''}`, file]),
  fc.tuple(pattern, plainPath).map(([glob, file]): [string, string] => [`${file.split('/')[0] ?? ''}/${glob}`, file]),
  fc
    .tuple(fc.constantFrom('*', '**', '?', '[ab]', '{a,b}'), plainPath)
    .map(([glob, file]): [string, string] => [file.replace(/[ab]/, glob), file]),
)

void t.test('a pattern matches the same paths as in picomatch', async (t) => {
  let [compared, matching] = [0, 0]
  fc.assert(
    fc.property(pair, ([glob, file]) => {
      if (brokenGlobRule(glob) !== undefined || glob.includes('/{')) return
      const canonical = canonicalGlob(glob)
      const theirs = picomatch(canonical, { dot: true, strictSlashes: true })(file)
      const ours = createMatcher([canonical])(file)
      if (ours !== theirs) throw new Error(`${glob} on ${file}: ${ours}, in picomatch ${theirs}`)
      compared += 1
      if (ours) matching += 1
    }),
    { numRuns: 5_000 },
  )
  t.ok(compared > 3_000 && matching > 500, `${compared} compared, of them ${matching} match`)
})

void t.test('a list of patterns matches what any one of them matches, including parent folders', async () => {
  fc.assert(
    fc.property(fc.array(pattern, { maxLength: 5 }), path, (globs, file) => {
      const good = globs.filter((glob) => brokenGlobRule(glob) === undefined).map(canonicalGlob)
      const folders = file.split('/').map((_name, index, names) => names.slice(0, index + 1).join('/'))
      const expected = good.some((glob) => folders.some((folder) => createMatcher([glob])(folder)))
      if (createExcluder(good)(file) !== expected) throw new Error(`${JSON.stringify(good)} on ${file}`)
    }),
    { numRuns: 1_000 },
  )
})

void t.test('any string is a valid pattern or is rejected, and a valid pattern matches itself', async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), pattern), (text) => {
      if (brokenGlobRule(text) !== undefined) return
      const glob = canonicalGlob(text)
      if (!createMatcher([glob])(glob)) throw new Error(text)
    }),
    { numRuns: 2_000 },
  )
})
