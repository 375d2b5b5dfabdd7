/**
 * The contract of every `Source`; runs against a local mirror and against a content server over TLS.
 */
import type { Test } from 'tap'
import type { BlobId, Change, FileSink, Source } from '../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { parseCommitHash, parseRelativePath } from '../../runtime/api/values.ts'
import type { Repository } from '../support/repository.ts'

export type SourceUnderTest = {
  source: Source
  /** The repository for commits; `publish` makes one available in the source. */
  repository: Repository
  publish(commit: string): Promise<void>
  /** The reason for a commit that is in no repository. */
  unknownCommit: string
}

/** The profile `default` reads `projects` and `config/one.json`. */
export const contractRoots = ['projects', 'config/one.json'].map(parseRelativePath)

export async function sourceContract(t: Test, make: (t: Test) => Promise<SourceUnderTest>): Promise<void> {
  const signal = AbortSignal.timeout(60_000)
  const { source, repository, publish, unknownCommit } = await make(t)
  const commit = async (changes: Readonly<Record<string, string | null>>) => {
    const hash = parseCommitHash(repository.commit(changes))
    await publish(hash)
    return hash
  }
  const changes = async (to: string, from: string | null, most?: number): Promise<Change[]> => {
    const found: Change[] = []
    const request = { commit: parseCommitHash(to), from: from === null ? null : parseCommitHash(from), profile: 'default', most }
    for await (const batch of source.changes(request, signal)) found.push(...batch)
    return found.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  }
  const paths = (found: readonly Change[]) => found.map(({ op, path }) => `${op} ${path}`)
  const blobs = async (of: string, ids: readonly BlobId[]): Promise<Map<string, string>> => {
    const found = new Map<string, string>()
    let current: { id: string; parts: Buffer[]; size: number } = { id: '', parts: [], size: 0 }
    await source.blobs(
      { commit: parseCommitHash(of), profile: 'default', ids },
      {
        begin: (id, size) => (current = { id, parts: [], size }),
        data: (chunk) => current.parts.push(Buffer.from(chunk)),
        end() {
          const content = Buffer.concat(current.parts)
          t.equal(content.length, current.size)
          t.notOk(found.has(current.id), 'each blob is sent once')
          found.set(current.id, content.toString('latin1'))
        },
      },
      signal,
    )
    return found
  }
  const heads: string[] = []
  const silent: FileSink = { begin() {}, data() {}, end() {} }
  const files = async (of: string): Promise<Record<string, string>> => {
    const found: Record<string, string> = {}
    let [name, parts]: [string, Buffer[]] = ['', []]
    heads.length = 0
    await source.files(
      { commit: parseCommitHash(of), profile: 'default' },
      {
        begin({ path, mode, id, size }) {
          heads.push(`${path} ${id} ${size}`)
          ;[name, parts] = [path, [Buffer.from(`${mode} `)]]
        },
        data: (chunk) => parts.push(Buffer.from(chunk)),
        end() {
          t.notOk(name in found, 'each file comes once')
          found[name] = Buffer.concat(parts).toString('utf8')
        },
      },
      signal,
    )
    return found
  }
  const reasonOf = async (work: Promise<unknown>): Promise<string> => {
    const error: unknown = await work.catch((thrown: unknown) => thrown)
    return error instanceof Fault ? error.reason : String(error)
  }

  const large = 'x'.repeat(3_000_000)
  const first = await commit({
    'projects/a.txt': 'a',
    'projects/deep/b c.txt': 'b',
    'projects/empty': '',
    'projects/large.bin': large,
    'config/one.json': '{}',
    'config/two.json': '{}',
    'projectsX/no.txt': 'no',
    'secret.txt': 'secret',
  })
  await t.test('file names are unchanged, whatever characters they contain', async (t) => {
    const names = ['projects/ünï', 'projects/日本 x', 'projects/"quoted"', 'projects/a\nb', 'projects/\tx', "projects/it's"]
    const before = await commit(Object.fromEntries(names.map((name) => [name, 'odd'])))
    const odd = (found: readonly Change[]) => found.map(({ path }) => path).filter((path) => names.includes(path))
    t.strictSame(odd(await changes(before, null)).toSorted(), names.toSorted())
    const after = await commit(Object.fromEntries(names.map((name) => [name, null])))
    t.strictSame(odd(await changes(after, before)).toSorted(), names.toSorted())
  })
  const second = await commit({ 'projects/a.txt': 'A', 'projects/deep/b c.txt': null, 'projects/new.txt': 'b', 'secret.txt': 'other' })

  await t.test('a complete listing has exactly the files of the profile', async (t) => {
    t.strictSame(paths(await changes(first, null)), [
      'put config/one.json',
      'put projects/a.txt',
      'put projects/deep/b c.txt',
      'put projects/empty',
      'put projects/large.bin',
    ])
    const sizes = (await changes(first, null)).map((change) => (change.op === 'put' ? change.size : -1))
    t.strictSame(sizes, [2, 1, 1, 0, 3_000_000])
  })
  await t.test('a difference lists added, changed and deleted files', async (t) => {
    t.strictSame(
      paths(await changes(second, first)),
      ['put projects/a.txt', 'delete projects/deep/b c.txt', 'put projects/new.txt'].toSorted((a, b) =>
        (a.split(' ')[1] ?? '').localeCompare(b.split(' ')[1] ?? ''),
      ),
    )
    t.strictSame(await changes(second, second), [])
    t.strictSame(paths(await changes(first, second)), ['put projects/a.txt', 'put projects/deep/b c.txt', 'delete projects/new.txt'])
  })
  await t.test("a difference over the caller's limit is not sent", async (t) => {
    t.equal((await changes(second, first, 3)).length, 3)
    t.equal(await reasonOf(changes(second, first, 2)), 'UnknownBase')
    t.ok((await changes(second, null, 0)).length > 0, 'everything has no such bound')
  })
  await t.test('blobs arrive complete in the requested order, in any number and size', async (t) => {
    const listed = (await changes(first, null)).flatMap((change) => (change.op === 'put' ? [change.id] : [])).toReversed()
    const found = await blobs(first, listed)
    t.strictSame([...found.keys()], listed)
    t.strictSame(
      [...found.values()].map((text) => text.length).toSorted((a, b) => a - b),
      [0, 1, 1, 2, 3_000_000],
    )
    t.ok([...found.values()].includes(large))
    t.equal((await blobs(first, [])).size, 0)
  })
  await t.test('a blob outside the profile is not sent', async (t) => {
    const secret = parseCommitHash(repository.git('rev-parse', `${first}:secret.txt`).toString('latin1').trim())
    t.equal(await reasonOf(blobs(first, [secret])), 'CommitNotPublished')
    const other = parseCommitHash(repository.git('rev-parse', `${second}:projects/a.txt`).toString('latin1').trim())
    t.equal(await reasonOf(blobs(first, [other])), 'CommitNotPublished', 'nor one of another commit')
  })
  await t.test('all files of a commit arrive with their contents in one answer', async (t) => {
    t.strictSame(await files(first), {
      'config/one.json': '100644 {}',
      'projects/a.txt': '100644 a',
      'projects/deep/b c.txt': '100644 b',
      'projects/empty': '100644 ',
      'projects/large.bin': `100644 ${large}`,
    })
    const listed = (await changes(first, null)).map((change) => (change.op === 'put' ? `${change.path} ${change.id} ${change.size}` : ''))
    t.strictSame(heads, listed, 'as it is listed, in the order of the paths')
  })
  await t.test('names of files that arrive with their contents are unchanged', async (t) => {
    const names = [
      'projects/ünï',
      'projects/日本 x',
      'projects/"quoted"',
      'projects/a\nb',
      'projects/\tx',
      "projects/it's",
      'projects/ lead',
      'projects/b\\c',
      'projects/\u0001\u007f',
    ]
    const odd = await commit(Object.fromEntries(names.map((name) => [name, `of ${name}`])))
    const found = await files(odd)
    t.strictSame(
      Object.fromEntries(names.map((name) => [name, found[name]])),
      Object.fromEntries(names.map((name) => [name, `100644 of ${name}`])),
    )
    await commit(Object.fromEntries(names.map((name) => [name, null])))
  })
  await t.test('files of an unknown profile or commit fail with the reasons of a listing', async (t) => {
    t.equal(await reasonOf(source.files({ commit: first, profile: 'nope' }, silent, signal)), 'UnknownProfile')
    t.equal(await reasonOf(files('f'.repeat(40))), unknownCommit)
  })
  await t.test('an unknown base, profile or commit each has its own reason', async (t) => {
    const nothing = 'f'.repeat(40)
    t.equal(await reasonOf(changes(second, nothing)), 'UnknownBase')
    const request = { commit: parseCommitHash(second), from: null, profile: 'nope' }
    const read = async (): Promise<void> => {
      for await (const batch of source.changes(request, signal)) t.fail(JSON.stringify(batch))
    }
    t.equal(await reasonOf(read()), 'UnknownProfile')
    t.equal(await reasonOf(changes(nothing, null)), unknownCommit)
  })
}
