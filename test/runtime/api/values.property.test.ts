import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { asFault } from '../../../runtime/platform/fault.ts'
import { isCommitHash, isRefName, isWithin, joinPath, parseRelativePath, shortRef } from '../../../runtime/api/values.ts'

function gitAccepts(ref: string): boolean {
  try {
    execFileSync('git', ['check-ref-format', '--allow-onelevel', ref], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

void t.test('git accepts every ref that validation accepts', async () => {
  const part = fc.string({
    unit: fc.constantFrom('a', 'B', '0', '.', '-', '/', '@', '{', '~', '^', ':', '?', '*', '[', '\\', ' ', '\n', 'é', '.lock'),
  })
  fc.assert(
    fc.property(part, (ref) => !isRefName(ref) || gitAccepts(ref)),
    { numRuns: 300, examples: [['a.lock/b'], ['a..b'], ['@'], ['é']] },
  )
})

void t.test('a ref that is an option, too long or not Unicode is rejected', async (t) => {
  for (const ref of ['--upload-pack=touch x', '-a', 'a'.repeat(256), 'é'.repeat(128), '\ud800', '', 'a//b', '/a', 'a/', 'a.']) {
    t.equal(isRefName(ref), false, JSON.stringify(ref))
  }
  for (const ref of ['main', 'v1.0', 'refs/heads/x', 'feature/ä', 'a'.repeat(255), 'gateway@v1']) t.equal(isRefName(ref), true, ref)
})

function reasonOf(work: () => unknown): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return asFault(error).reason
  }
}

void t.test('all spellings of a path normalize to one, and none leaves the root', async (t) => {
  for (const spelling of ['projects', 'projects/', './projects', './projects/.', 'projects//'])
    t.equal(parseRelativePath(spelling), 'projects')
  t.equal(parseRelativePath('.'), '')
  for (const bad of ['/a', '../a', 'a/../b', 'a\\b', 'a\0b', '..'])
    t.equal(
      reasonOf(() => parseRelativePath(bad)),
      'InvalidSpec',
      JSON.stringify(bad),
    )
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', '.', '', 'c d')), (segments) => {
      const text = segments.join('/')
      if (text.startsWith('/')) return true
      const path = parseRelativePath(text)
      return parseRelativePath(path) === path && (path === '' || !path.split('/').some((segment) => segment === '' || segment === '.'))
    }),
  )
})

void t.test('a joined path is within its parent', async () => {
  const path = fc.array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 3 }).map((parts) => parseRelativePath(parts.join('/')))
  fc.assert(fc.property(path, path, (parent, child) => isWithin(joinPath(parent, child), parent)))
})

void t.test('commit hashes are recognized, and short refs drop refs/heads/ and refs/tags/', async (t) => {
  t.equal(isCommitHash('a'.repeat(40)), true)
  t.equal(isCommitHash('a'.repeat(64)), true)
  for (const text of ['a'.repeat(39), 'A'.repeat(40), 'main', '']) t.equal(isCommitHash(text), false)
  t.equal(shortRef('refs/heads/a/b'), 'a/b')
  t.equal(shortRef('refs/tags/v1'), 'v1')
  t.equal(shortRef('refs/pull/1/merge'), 'refs/pull/1/merge')
})
