/**
 * A commit created in the mirror of a real repository: it differs from its parent only in its edits, and no clean-up removes it before it
 * is pushed.
 */
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { type CommitHash, parseCommitHash } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import type { Edit } from '../../../../runtime/git/content/make-commit.ts'
import { treeChanges } from '../../../../runtime/git/content/tree-changes.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(120_000)
const message = { author: { name: 'Ada', email: 'ada@localhost.invalid' }, text: 'Keep it', at: 1_768_464_000 }
const put = (source: string, text: string, exec = false): Edit => ({ source, content: Buffer.from(text), exec })
const take = (source: string): Edit => ({ source, content: undefined, exec: false })

async function setUp(t: Test) {
  const repository = makeRepository(path.join(temporaryFolder(t, 'commits'), 'plant'))
  repository.commit({ 'a/one': '1', 'a/two': '2', 'a/deep/three': '3', b: 'b' })
  symlinkSync('b', path.join(repository.folder, 'link'))
  repository.git('add', 'link')
  repository.git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`)
  repository.git('commit', '-q', '-m', 'link and module')
  const parent = parseCommitHash(repository.git('rev-parse', 'HEAD').toString('utf8').trim())
  const mirrors = createMirrors({
    folder: path.join(temporaryFolder(t, 'commits-mirror'), 'mirrors'),
    clock: systemClock,
    log: silentLog,
    needed: () => new Set(),
  })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  await mirror.ensure(parent, signal)
  const commit = async (...edits: Edit[]): Promise<CommitHash> => await mirror.commit(parent, edits, message, signal)
  return { repository, mirror, parent, commit }
}

void t.test('a commit differs from its parent in its edits', async (t) => {
  if (!requires(t, 'git')) return
  const { mirror, parent, commit } = await setUp(t)
  const made = await commit(put('a/one', 'new'), put('a/new', 'x', true), take('b'))
  t.strictSame(await mirror.readBy(made, (repository) => treeChanges(repository, { from: parent, to: made }, signal), signal), [
    { path: 'a/new', before: '000000', after: '100755' },
    { path: 'a/one', before: '100644', after: '100644' },
    { path: 'b', before: '100644', after: '000000' },
  ])
})

void t.test('an edit that would remove anything else is refused by name', async (t) => {
  if (!requires(t, 'git')) return
  const { commit } = await setUp(t)
  const rows: readonly [string, Edit, RegExp][] = [
    ['a file in place of a folder', put('a', 'x'), /^Error: a would take the place of "a\/deep\/three" in commit/],
    ['a file below a file', put('b/c', 'x'), /^Error: b\/c would take the place of "b" in commit/],
    ['a file below a submodule', put('module/c', 'x'), /^Error: module\/c would take the place of "module" in commit/],
    ['a file in place of a submodule', put('module', 'x'), /^Error: module is a link or a submodule in commit/],
    ['a file in place of a link', put('link', 'x'), /^Error: link is a link or a submodule in commit/],
    ['a link that goes', take('link'), /^Error: link is a link or a submodule in commit/],
  ]
  for (const [name, edit, expected] of rows) {
    const said: unknown = await commit(put('a/one', 'too'), edit).catch((error: unknown) => error)
    matchObject(t, said, { reason: 'PayloadMalformed' }, name)
    containsText(t, String(said).replace(/^Fault/, 'Error'), expected, name)
  }
})

void t.test('a clean-up between commit and push keeps the commit', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, commit } = await setUp(t)
  const made = await commit(put('a/one', 'kept'))
  // No status needs the commit, so the clean-up keeps only the commits returned to callers since the last clean-up.
  t.equal(await mirror.tenant.tidyIfIdle(signal), true)
  await mirror.push({ commit: made, branch: 'captured/gw' }, signal)
  t.equal(repository.git('show', 'captured/gw:a/one').toString('utf8'), 'kept')
})

void t.test('commits made during fetches and clean-ups of the same mirror are complete', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, mirror, parent } = await setUp(t)
  const rounds = Array.from({ length: 4 }, (_, round) => round)
  const made = await Promise.all(
    rounds.map(async (round) => {
      const [commit] = await Promise.all([
        mirror.commit(parent, [put(`a/round-${round}`, 'x')], message, signal),
        mirror.resolve('refs/heads/main', { fresh: true }, signal),
        mirror.tenant.tidyIfIdle(signal),
      ])
      await mirror.push({ commit, branch: `captured/${round}` }, signal)
      return commit
    }),
  )
  repository.git('fsck', '--strict')
  for (const [round, commit] of made.entries()) t.equal(repository.git('rev-parse', `captured/${round}`).toString('utf8').trim(), commit)
})
