/**
 * The ref or tag selector that `spec.git` follows, and the newest tag that a selector selects.
 */
import fc from 'fast-check'
import t from 'tap'
import {
  commonPrefix,
  describeFollowed,
  followedRef,
  isFollowedRef,
  isVersionRange,
  membersFor,
  newestTag,
  selects,
  type TagSelector,
} from '../../../runtime/api/followed-ref.ts'

void t.test('a followed ref is a string without spaces that converts back to the fields of the spec', async (t) => {
  const none = { ref: null, semver: null, tagPattern: null }
  const rows = [
    [{}, 'HEAD', { ...none, ref: 'HEAD' }],
    [{ ref: 'refs/heads/main' }, 'refs/heads/main', { ...none, ref: 'refs/heads/main' }],
    [{ semver: '>=1.2 <2' }, 'semver:>=1.2,<2', { ...none, semver: '>=1.2,<2' }],
    [{ semver: ' >=1.2, <2 ' }, 'semver:>=1.2,<2', { ...none, semver: '>=1.2,<2' }],
    [{ tagPattern: 'plant-*' }, 'tagPattern:plant-*', { ...none, tagPattern: 'plant-*' }],
  ] as const
  for (const [members, text, back] of rows) {
    t.equal(followedRef(members), text)
    t.strictSame(membersFor(text), back)
    t.equal(isFollowedRef(text), true, text)
  }
  for (const text of ['no ref', 'semver:>=1.2 <2', `semver:${'1'.repeat(249)}`]) t.equal(isFollowedRef(text), false, text)
})

void t.test('the newest tag is the highest version in the range, or the highest name that matches the pattern', async (t) => {
  const rows: [TagSelector, string[], string | undefined][] = [
    ['semver:>=1.2,<2', ['v1.9.0', 'v1.10.0', 'v2.0.0', 'latest'], 'v1.10.0'],
    ['semver:>=1.2,<2', ['1.2.0', 'v1.2.1-rc.1', 'v1.1.9'], '1.2.0'],
    ['semver:>=1.2.0-0,<2', ['1.2.0', 'v1.3.0-rc.1', 'v2.0.0-rc.1'], 'v1.3.0-rc.1'],
    ['semver:1.x,||,3.x', ['v1.2.0', 'v2.0.0', 'v3.0.0'], 'v3.0.0'],
    ['semver:1.2,-,1.4', ['v1.2.0', 'v1.4.7', 'v1.5.0'], 'v1.4.7'],
    ['semver:*', ['v2', 'v2.1', 'v1.9.9'], 'v2.1'],
    ['semver:*', ['v1.0.0+build.2', 'v1.0.0+build.10'], 'v1.0.0+build.10'],
    ['semver:>=1.2.0-0,<2', ['v1.4', 'v1.4.0-rc.1', 'v1.04.1', 'v1.4.0.1', '1.5', `v1.6.0+${'b'.repeat(300)}`], '1.5'],
    ['semver:>=3', ['v2.0.0'], undefined],
    ['semver:no range', ['v2.0.0'], undefined],
    ['tagPattern:plant-*', ['plant-9', 'plant-10', 'other-11', 'plant-10/x'], 'plant-10'],
    ['tagPattern:v*', ['v1.10', 'v1.9', 'v1.10-rc1'], 'v1.10'],
    ['tagPattern:2026-*', ['2026-11-30', '2026-12-01', '2025-12-31'], '2026-12-01'],
    ['tagPattern:[', ['['], undefined],
  ]
  for (const [selector, tags, newest] of rows)
    for (const order of [tags, tags.toReversed()]) {
      t.equal(newestTag(selector, order), newest, `${selector} of ${order.join(', ')}`)
      const full = order.map((tag) => `refs/tags/${tag}`)
      t.equal(newestTag(selector, full), newest === undefined ? undefined : `refs/tags/${newest}`)
    }
})

void t.test('the newest tag does not depend on the order in which a host lists the tags', async () => {
  const version = fc.tuple(fc.nat(3), fc.nat(12), fc.nat(3), fc.constantFrom('', '-rc.1', '+b'))
  const tag = fc.oneof(
    version.map(([major, minor, patch, rest]) => `v${major}.${minor}.${patch}${rest}`),
    fc.stringMatching(/^[a-z0-9.-]{1,6}$/),
  )
  const listed = fc
    .uniqueArray(tag, { maxLength: 8 })
    .chain((tags) => fc.tuple(fc.constant(tags), fc.shuffledSubarray(tags, { minLength: tags.length })))
  const selector = fc.constantFrom<TagSelector>('semver:*', 'semver:>=1.2.0-0,<3', 'tagPattern:v*', 'tagPattern:**')
  fc.assert(
    fc.property(selector, listed, (of, [one, other]) => newestTag(of, one) === newestTag(of, other)),
    { numRuns: 300 },
  )
})

void t.test('all tags that a selector selects start with its common prefix', async (t) => {
  const rows = [
    ['semver:>=1.2', ''],
    ['tagPattern:plant-*', 'plant-'],
    ['tagPattern:*', ''],
    ['tagPattern:release/v[12].*', 'release/v'],
    ['tagPattern:{a,b}-*', ''],
    ['tagPattern:v1.0', 'v1.0'],
  ] as const
  for (const [selector, prefix] of rows) t.equal(commonPrefix(selector), prefix, selector)
  const part = fc.constantFrom('a', 'b', '-', '/', '*', '?', '[a]', '[!b]', '{a,b}', '{a,}', '\\*', '+', '(a|b)')
  const texts = fc.tuple(fc.array(part, { minLength: 1, maxLength: 5 }), fc.stringMatching(/^[ab/*+()|-]{0,6}$/))
  fc.assert(
    fc.property(texts, ([parts, tag]) => {
      const selector = `tagPattern:${parts.join('')}` as const
      return !selects(selector, tag) || tag.startsWith(commonPrefix(selector))
    }),
    { numRuns: 2_000 },
  )
})

void t.test('only tags are selected', async (t) => {
  t.equal(selects('semver:*', 'refs/tags/v1.0.0'), true)
  t.equal(selects('semver:*', 'v1.0.0'), true)
  t.equal(selects('semver:*', 'refs/heads/v1.0.0'), false)
  t.equal(selects('tagPattern:v*', 'refs/tags/w1'), false)
})

void t.test('a range is a node-semver range in which commas count as spaces', async (t) => {
  for (const range of ['>=1.2 <2', '>=1.2, <2', '~1.4', '1.x || 3.x', '*']) t.equal(isVersionRange(range), true, range)
  for (const text of ['one', '>=1.2 <two', 'v1..2']) t.equal(isVersionRange(text), false, text)
  const alternatives = (count: number): string => Array.from({ length: count }, (_, index) => `${index}.x`).join(' || ')
  t.equal(isVersionRange(alternatives(9)), true)
  t.equal(isVersionRange(alternatives(10)), false, 'each one costs time with every tag')
  t.equal(newestTag(`semver:${alternatives(10).replaceAll(' ', ',')}`, ['v1.0.0']), undefined, 'nor does a request have it tested')
})

void t.test('a description names the ref and the selector', async (t) => {
  const rows = [
    ['main', 'refs/heads/main', 'main'],
    ['HEAD', undefined, 'HEAD'],
    ['HEAD', 'refs/heads/main', 'main, the default branch,'],
    ['semver:>=1.2,<2', 'refs/tags/v1.4.0', 'v1.4.0, the newest tag that matches semver ">=1.2 <2",'],
    ['tagPattern:v*', 'refs/tags/v9', 'v9, the newest tag that matches tagPattern "v*",'],
  ] as const
  for (const [followed, resolved, text] of rows) t.equal(describeFollowed(followed, resolved), text)
})
