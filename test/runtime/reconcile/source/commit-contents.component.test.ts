/**
 * Tests the commit details shown to users: messages and changes from a real mirror, without secrets, without files that gateways do not
 * get, and within limits.
 */
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createCommitContents } from '../../../../runtime/reconcile/source/commit-contents.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { containsText, lacksText, rejectsWith } from '../../../support/assertions.ts'
import { specWith } from '../../../support/gatewaysync.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { eachHost, type HostMode, startGitHost } from '../../../support/git-host.ts'
import { requires } from '../../../support/requires.ts'

const signal = new AbortController().signal

async function opened(t: Test, mode: HostMode = 'v2') {
  const folder = temporaryFolder(t, 'commit-contents')
  const host = await startGitHost(path.join(folder, 'git'), { mode })
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  let opens = 0
  const contents = createCommitContents({
    mirrors: {
      async serving() {
        opens += 1
        return mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
      },
    },
    clock: systemClock,
    timeoutMs: 60_000,
  })
  const sync = { namespace: 'plant', name: 'line', spec: specWith() }
  const changes = async (from: string, commit: string) => await contents.changes(sync, { from, commit }, signal)
  return { repository, contents, sync, changes, opens: () => opens }
}

eachHost(t, 'the changes of a commit are shown file by file, limited to delivered files and without secrets', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, contents, sync, changes, opens } = await opened(t, mode)
  const from = repository.commit({ 'projects/a.txt': 'one\n', 'projects/gone.txt': 'x\n', 'ci/build.sh': 'a\n' })
  const commit = repository.commit(
    {
      'projects/a.txt': 'two\n',
      'projects/gone.txt': null,
      'projects/db.json': '{"password": "hunter2", "host": "db"}\n',
      'projects/picture.bin': 'a\0b',
      'ci/build.sh': 'b\n',
    },
    'Change the line\n\nbecause',
  )
  const { total, files } = await changes(from, commit)
  t.equal(total, 4, 'what lies outside the mapped folders is not counted')
  t.strictSame(
    files.map(({ op, path }) => `${op} ${path}`),
    ['change projects/a.txt', 'add projects/db.json', 'remove projects/gone.txt', 'add projects/picture.bin'],
  )
  t.equal(files[0]?.diff, '-one\n+two')
  containsText(t, files[1]?.diff, 'db')
  lacksText(t, JSON.stringify(files), 'hunter2')
  t.equal(files[2]?.diff, '-x')
  t.equal(files[3]?.diff, undefined, 'a binary is only named')
  t.strictSame(await contents.summary(sync, commit, signal), { subject: 'Change the line', author: 'Plant' })
  const before = opens()
  await changes(from, commit)
  await contents.summary(sync, commit, signal)
  t.equal(opens(), before, 'a commit never changes: it is read once')
})

eachHost(t, 'files that profiles exclude or that only a template can name are not shown', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, contents, sync } = await opened(t, mode)
  const from = repository.commit({ 'projects/a.txt': 'one\n' })
  const commit = repository.commit({
    'projects/a.txt': 'two\n',
    'projects/notes/private.txt': 'x\n',
    'plants/north/a.txt': 'x\n',
    'ci/build.sh': 'b\n',
  })
  const mappings = ['projects', '{{ vars.plant }}/a', 'plants/{{ gateway.name }}'].map((source) => ({ source, destination: 'projects' }))
  const spec = specWith({ sync: { defaults: { excludePatterns: ['notes/**'] }, profiles: { default: { mappings } } } })
  const { total, files } = await contents.changes({ ...sync, spec }, { from, commit }, signal)
  t.strictSame([total, ...files.map((file) => file.path)], [1, 'projects/a.txt'])
})

eachHost(t, 'a large change is shown up to a limit, and the rest is counted', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, changes } = await opened(t, mode)
  const from = repository.commit({ 'projects/big.txt': 'x\n' })
  const many = Object.fromEntries(Array.from({ length: 700 }, (_, index) => [`projects/n/${index}.txt`, `${index}\n`]))
  const commit = repository.commit({
    ...many,
    'projects/big.txt': `${'y'.repeat(200_000)}\n`,
    'projects/long.txt': 'line\n'.repeat(15_000),
  })
  const { total, files } = await changes(from, commit)
  t.equal(total, 702)
  t.equal(files.length, 500)
  t.equal(files.find(({ path }) => path === 'projects/big.txt')?.diff, undefined)
  const long = files.find(({ path }) => path === 'projects/long.txt')?.diff ?? ''
  t.ok(long.length < 10_000 && long.endsWith('\n…'))
  t.ok(files.filter(({ diff }) => diff !== undefined).length <= 60)
  t.ok(JSON.stringify(files).length < 200_000)
})

eachHost(t, 'an unknown commit has no message, and its changes are a fault with a reason', async (t, mode) => {
  if (!requires(t, 'git')) return
  const { repository, contents, sync, changes } = await opened(t, mode)
  const commit = repository.commit({ 'projects/a.txt': 'one\n' })
  const unknown = 'ab'.repeat(20)
  t.equal(await contents.summary(sync, unknown, signal), undefined)
  const reason = mode === 'v0, tips only' ? 'CommitNotServed' : 'CommitGone'
  await rejectsWith(t, changes(commit, unknown), { reason })
  t.strictSame((await changes(commit, commit)).total, 0, 'and the others are read as before')
})

void t.test('a namespace with many reads displaces its own changes, not those of another namespace', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, contents, sync, changes, opens } = await opened(t)
  const from = repository.commit({ 'projects/a.txt': 'one' })
  const commits = Array.from({ length: 13 }, (_, index) => repository.commit({ 'projects/a.txt': `${index}` }))
  await changes(from, commits[0] ?? '')
  for (const commit of commits) await contents.changes({ ...sync, namespace: 'loud' }, { from, commit }, signal)
  const before = opens()
  await changes(from, commits[0] ?? '')
  t.equal(opens(), before)
})

void t.test('concurrent reads are serialized, and too many are refused', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, changes } = await opened(t)
  const commits = Array.from({ length: 12 }, (_, index) => repository.commit({ 'projects/a.txt': `${index}\n` }))
  const looks = await Promise.allSettled(commits.slice(1).map(async (commit, index) => changes(commits[index] ?? '', commit)))
  const refused = looks.filter((poll) => poll.status === 'rejected')
  // A slow machine refuses more, because slow work counts against the share of the namespace.
  t.ok(refused.length >= 3 && refused.length < looks.length, `${refused.length} refused`)
  t.ok(refused.every(({ reason }) => (reason as { reason: string }).reason === 'TooManyRequests'))
})
