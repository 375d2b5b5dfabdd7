/**
 * Trees are compared as git compares them: random commits whose file names sort in unusual ways.
 */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { parseCommitHash, parseRelativePath, type RelativePath } from '../../../../runtime/api/values.ts'
import { compareTrees, type FileDifference, noCachedTrees, type ReadTrees } from '../../../../runtime/git/content/compare-trees.ts'
import { openObjectReader } from '../../../../runtime/git/command/object-reader.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { gitEnvironment, makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }
const signal = AbortSignal.timeout(290_000)
const runs = 40

type File = { path: string; mode: string; content: string }

const name = fc.constantFrom('a', 'a-', 'a.b', 'a0', 'A', 'ab', 'é', 'z')
const file = fc.record({
  path: fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/')),
  mode: fc.constantFrom('100644', '100644', '100755', '120000', '160000'),
  content: fc.constantFrom('1', '2', '3'),
})
const files = fc.array(file, { maxLength: 20 })
/** A second tree that shares much with the first one, and roots. */
const pair = fc.record({
  before: files,
  kept: fc.func(fc.integer({ min: 0, max: 4 })),
  more: fc.array(file, { maxLength: 5 }),
  many: fc.integer({ min: 0, max: 200 }),
  roots: fc.constantFrom(['' as RelativePath], ['a', 'z/a'].map(parseRelativePath), ['a/a.b'].map(parseRelativePath), []),
})

/** Random pairs rarely share a tree that is large enough to be cached. */
const large = { before: [], kept: () => 1, more: [], many: 200, roots: ['' as RelativePath] }

/** The input for fast-import: a later path replaces a folder or file at the same place. */
function imported(ref: string, all: readonly File[], many: number): string {
  const beside = Array.from({ length: many }, (_, index): File => ({ path: `m/${index}.txt`, mode: '100644', content: String(index) }))
  const lines = [...beside, ...all].map(({ path: at, mode, content }) =>
    mode === '160000' ? `M 160000 ${content.repeat(40)} "${at}"` : `M ${mode} inline "${at}"\ndata ${content.length}\n${content}`,
  )
  return `commit refs/heads/${ref}\ncommitter Plant <plant@example.com> 1768464000 +0000\ndata 0\ndeleteall\n${lines.map((line) => `${line}\n`).join('')}`
}

for (const format of ['sha1', 'sha256'] as const) {
  void t.test(`random trees differ as git says, ${format}`, async (t) => {
    if (!requires(t, 'git')) return
    const repository = makeRepository(temporaryFolder(t, 'compare-trees'), format)
    const folder = path.join(repository.folder, '.git')
    const objects = openObjectReader(systemClock)
    t.teardown(objects.end)
    const length = format === 'sha1' ? 1 : 64 / 40
    const samples = [...fc.sample(pair, runs), large]
    const texts = samples.map(({ before, kept, more, many }, index) => {
      const after = before.filter((each) => kept(each.path) > 0).map((each) => (kept(each.path) > 1 ? each : { ...each, content: '4' }))
      const all = imported(`before${index}`, before, many) + imported(`after${index}`, [...after, ...more], Math.max(0, many - 1))
      return length === 1 ? all : all.replaceAll(/(?<=M 160000 )(\d)\d*/g, (_, digit: string) => digit.repeat(64))
    })
    execFileSync('git', ['-C', repository.folder, 'fast-import', '--quiet'], { env: gitEnvironment, input: texts.join('') })
    const hashes = new Map(
      repository
        .git('for-each-ref', '--format=%(refname:short) %(objectname)')
        .toString()
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    )
    let found = 0
    const known = noCachedTrees()
    const compare = async (from: string, to: string, roots: readonly RelativePath[]): Promise<void> => {
      const read: ReadTrees = async (question) => await objects.read({ folder, limits }, question, signal)
      const told = (await Array.fromAsync(compareTrees(read, parseCommitHash(from), parseCommitHash(to), roots, known))).flat()
      const paths = roots.includes('' as RelativePath) ? [] : ['--', ...roots]
      const raw =
        roots.length === 0 ? '' : repository.git('diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to, ...paths)
      found += told.length
      t.strictSame(told.map(record).toSorted(), records(raw.toString('utf8')).toSorted(), `${from} ${to} ${roots.join(' ')}`)
    }
    let last: string | undefined
    let knew = 0
    for (const [index, { roots }] of samples.entries()) {
      const [before = '', after = ''] = [hashes.get(`before${index}`), hashes.get(`after${index}`)]
      if (last !== undefined) await compare(last, before, roots)
      await compare(before, after, roots)
      knew += known.trees.size
      last = after
    }
    t.ok(knew > 0, 'some trees are kept from one comparison to the next')
    t.ok(found > runs, 'most pairs differ')
  })
}

void t.test('a file mode of old commits is read as that of an ordinary file', async (t) => {
  if (!requires(t, 'git')) return
  const repository = makeRepository(temporaryFolder(t, 'compare-trees'))
  const folder = path.join(repository.folder, '.git')
  const objects = openObjectReader(systemClock)
  t.teardown(objects.end)
  const git = (input: string, ...args: string[]): string =>
    execFileSync('git', ['-C', repository.folder, ...args], { env: gitEnvironment, input })
      .toString()
      .trim()
  const blob = git('1', 'hash-object', '-w', '--stdin')
  const commitOf = (mode: string): string => git('', 'commit-tree', '-m', 'Old', git(`${mode} blob ${blob}\ta\n`, 'mktree'))
  const [from, same, other] = [commitOf('100664'), commitOf('100644'), commitOf('100775')].map(parseCommitHash)
  if (from === undefined || same === undefined || other === undefined) return
  const read: ReadTrees = async (question) => await objects.read({ folder, limits }, question, signal)
  const roots = [parseRelativePath('')]
  t.strictSame(await Array.fromAsync(compareTrees(read, from, same, roots)), [])
  const [before, after] = [
    { mode: '100644', id: blob },
    { mode: '100755', id: blob },
  ]
  t.strictSame(await Array.fromAsync(compareTrees(read, from, other, roots)), [[{ path: 'a', before, after }]])
})

function record({ path: at, before, after }: FileDifference): string {
  const none = '0'.repeat((before ?? after)?.id.length ?? 0)
  return [before?.mode ?? '000000', after?.mode ?? '000000', before?.id ?? none, after?.id ?? none, at].join(' ')
}

/** Parses git's raw format: `:<mode> <mode> <id> <id> <status>`, then the path, each terminated by a zero byte. */
function records(raw: string): string[] {
  const fields = raw.split('\0')
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, index) =>
    [...(fields[2 * index] ?? '').slice(1).split(' ').slice(0, 4), fields[2 * index + 1]].join(' '),
  )
}

void t.test('too many changed files are refused before they are buffered, and a large new folder before it is read', async (t) => {
  if (!requires(t, 'git')) return
  const repository = makeRepository(temporaryFolder(t, 'compare-trees'))
  const folder = path.join(repository.folder, '.git')
  const objects = openObjectReader(systemClock)
  t.teardown(objects.end)
  const texts = ['none', 'one', 'many'].map((ref, index) => imported(ref, [], [0, 1, 5_002][index] ?? 0))
  execFileSync('git', ['-C', repository.folder, 'fast-import', '--quiet'], { env: gitEnvironment, input: texts.join('') })
  const read: ReadTrees = async (question) => await objects.read({ folder, limits }, question, signal)
  const compared = async (from: string, root: string) => {
    const [before, after] = [from, 'many'].map((ref) => parseCommitHash(repository.git('rev-parse', ref).toString().trim()))
    if (before === undefined || after === undefined) return []
    return await Array.fromAsync(compareTrees(read, before, after, [parseRelativePath(root)]))
  }
  await rejectsWith(t, compared('one', ''), { reason: 'RepositoryTooLarge', message: /5000 files or folders/ })
  await rejectsWith(t, compared('none', ''), {
    reason: 'RepositoryTooLarge',
    message: 'a folder of the commit takes more than 131072 bytes',
  })
  t.strictSame(await compared('one', 'n'), [], 'and outside the roots it is none')
})
