/**
 * Tests hostile trees from a real git repository on a real disk: links, names, sizes and cases.
 */
import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../../runtime/sync/cycle.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { gitEnvironment, makeRepository, type Repository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(120_000)
const profile = profileOf([{ source: 'projects', destination: 'projects', required: false }])

/** A real repository whose trees are written as objects, so that no file system restricts their content. */
function setUp(t: Test) {
  const folder = temporaryFolder(t, 'hostile')
  const repository = makeRepository(path.join(folder, 'repository'))
  repository.git('config', 'uploadpack.allowAnySHA1InWant', 'true')
  repository.git('config', 'core.protectNTFS', 'false')
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  const source = mirror.source(() => [parseRelativePath('projects')])
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  const memory: EngineMemory = { manifest: undefined }
  const sync = async (entries: readonly Entry[]): Promise<CycleResult> => {
    const commit = parseCommitHash(commitEntries(repository, entries))
    await mirror.ensure(commit, signal)
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
    return await runCycle(deps, desiredOf(dataDir, commit, profile), signal)
  }
  return { folder, dataDir, sync, memory }
}

type Entry = { path: string; content: string; mode?: '100644' | '100755' | '120000' | '160000'; latin1?: true }

/** Creates a commit of exactly these entries. With `latin1`, each character of a path is one byte. */
function commitEntries(repository: Repository, entries: readonly Entry[]): string {
  const quoted = (file: string, latin1: boolean): string => {
    const bytes = [...Buffer.from(file, latin1 ? 'latin1' : 'utf8')]
    return `"${bytes.map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`
  }
  const lines = entries.map(({ path: file, content, mode = '100644', latin1 = false }) =>
    mode === '160000'
      ? `M ${mode} ${content} ${quoted(file, latin1)}\n`
      : `M ${mode} inline ${quoted(file, latin1)}\ndata ${Buffer.byteLength(content)}\n${content}\n`,
  )
  const head = 'commit refs/heads/hostile\ncommitter Plant <plant@example.com> 1700000000 +0000\ndata 7\nHostile\ndeleteall\n'
  const git = (args: readonly string[], input: string): string =>
    execFileSync('git', ['-C', repository.folder, ...args], { env: gitEnvironment, input, stdio: ['pipe', 'pipe', 'ignore'] })
      .toString('utf8')
      .trim()
  git(['fast-import', '--quiet', '--force'], `${head}${lines.join('')}\ndone\n`)
  return git(['rev-parse', 'refs/heads/hostile'], '')
}

const put = (file: string, content = 'x'): Entry => ({ path: `projects/${file}`, content })
const files = (dataDir: string): string[] => listTree(path.join(dataDir, 'projects'))

void t.test('names with newlines, quotes, control characters, spaces and 255 bytes are written and deleted unchanged', async (t) => {
  if (!requires(t, 'git')) return
  const { dataDir, sync, memory } = setUp(t)
  const names = [
    'a\nb',
    '\n',
    '\tx',
    '"quoted"',
    "it's",
    ' space ',
    'x\r',
    '\u0001',
    'ünï',
    'u\u0308',
    '日本',
    '🎉',
    '-rf',
    '--',
    '~',
    '$(id)',
    '`id`',
    '*',
    '?',
    '[a]',
    '{b}',
    '%2e%2e',
    '.hidden',
    '...',
    '.. ',
    'con',
    'a:b',
    '{"op":"put"}',
    'x'.repeat(255),
    `${'é'.repeat(127)}x`,
    `deep/${'d/'.repeat(90)}x`,
  ]
  const present = (): string[] => files(dataDir)
  const expected = names.toSorted()
  const entries = names.map((name, index) => put(name, String(index)))
  t.equal((await sync(entries)).phase, 'Synced')
  t.strictSame(present(), expected)
  for (const [index, name] of names.entries()) t.equal(readFileSync(path.join(dataDir, 'projects', name), 'utf8'), String(index))
  memory.manifest = undefined
  matchObject(
    t,
    await sync(entries),
    { phase: 'Synced', files: { added: 0, changed: 0, removed: 0 } },
    'an agent that starts anew knows them again',
  )
  matchObject(t, await sync(names.map((name) => put(name, 'changed'))), { phase: 'Synced', files: { changed: names.length } })
  matchObject(t, await sync([put('other')]), { phase: 'Synced', files: { removed: names.length } })
  t.strictSame(present(), ['other'])
})

void t.test('a name that is not UTF-8 is a finding and not written, and other files are', async (t) => {
  if (!requires(t, 'git')) return
  const { dataDir, sync } = setUp(t)
  const odd = [0, 1].map((index): Entry => ({ ...put(`caf${index === 0 ? '\u00e9' : '\u00e8'}`, String(index)), latin1: true }))
  for (const entries of [
    [put('a'), ...odd],
    [put('a', 'changed'), ...odd.map((entry) => ({ ...entry, content: 'changed' }))],
  ]) {
    const result = await sync(entries)
    t.equal(result.phase, 'Synced', result.message ?? '')
    t.strictSame(new Set(result.findings?.map(({ rule }) => rule)), new Set(['name-not-utf8']))
    t.strictSame(files(dataDir), ['a'])
  }
  t.equal((await sync([put('a')])).findings, undefined)
})

void t.test('symbolic links and submodules are never delivered, and the files they replace are deleted', async (t) => {
  if (!requires(t, 'git')) return
  const { dataDir, sync } = setUp(t)
  t.equal((await sync([put('a'), put('folder/b'), put('keep')])).phase, 'Synced')
  const link = (file: string, target: string): Entry => ({ ...put(file, target), mode: '120000' })
  const result = await sync([
    put('keep'),
    link('a', '/etc/passwd'),
    link('folder', '../..'),
    link('up', '../../../../etc'),
    { ...put('module', 'a'.repeat(40)), mode: '160000' },
    { ...put('run', '#!'), mode: '100755' },
  ])
  t.equal(result.phase, 'Synced', result.message ?? '')
  t.strictSame(files(dataDir), ['keep', 'run'])
  t.strictSame(result.findings?.map(({ rule, path: file }) => `${rule} ${file}`).toSorted(), [
    'submodule projects/module',
    'symbolic-link projects/a',
    'symbolic-link projects/folder',
    'symbolic-link projects/up',
  ])
  for (const file of files(dataDir)) t.ok(lstatSync(path.join(dataDir, 'projects', file)).isFile())
  t.equal((await sync([put('a'), put('folder/b')])).phase, 'Synced', 'and back')
  t.strictSame(files(dataDir), ['a', 'folder/b'])
})

/** The same engine over in-memory commits, given by file names. */
function inMemory(t: Test) {
  const dataDir = temporaryFolder(t, 'hostile')
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  const sync = async (named: readonly string[]): Promise<CycleResult> => {
    const commit = source.commit(Object.fromEntries(named.map((name) => [`projects/${name}`, 'x'])))
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
    return await runCycle(deps, desiredOf(dataDir, commit, profile), signal)
  }
  return { dataDir, sync }
}

void t.test('names that differ only in case or normalization are refused before anything is written', async (t) => {
  for (const [one, other] of [
    ['A/x', 'a/y'],
    ['file', 'FILE'],
    ['folder/x', 'Folder'],
    ['\u00fc', 'u\u0308'],
    ['Ⅳ', 'ⅳ'],
  ] as const) {
    const { dataDir, sync } = inMemory(t)
    t.equal((await sync(['before'])).phase, 'Synced')
    matchObject(t, await sync(['before', one, other]), { phase: 'Blocked', reason: 'MappingConflict' }, `${one} and ${other}`)
    t.strictSame(files(dataDir), ['before'])
    t.equal((await sync(['before', one])).phase, 'Synced')
    matchObject(t, await sync(['before', one, other]), { phase: 'Blocked' }, 'also when one of them is there')
    t.equal((await sync(['before', other])).phase, 'Synced', 'a change of case alone is a change')
  }
})

void t.test('a path too long for the file system is refused by name, and the old commit stays', async (t) => {
  if (!requires(t, 'git')) return
  const { dataDir, sync } = setUp(t)
  t.equal((await sync([put('before')])).phase, 'Synced')
  /** A name that gives a path of this many bytes including the data directory. */
  const long = `${'long'.repeat(50)}/`
  const ofBytes = (bytes: number): string =>
    long
      .repeat(21)
      .slice(0, bytes - Buffer.byteLength(`${dataDir}/projects/`) - 1)
      .replace(/\/$/, 'l') + 'x'
  for (const name of ['x'.repeat(256), `deep/${'é'.repeat(128)}`, `${long.repeat(25)}x`, ofBytes(4_096)]) {
    const result = await sync([put('before', 'changed'), put(name)])
    matchObject(t, result, { phase: 'Blocked', reason: 'PathTooLong', message: /a path is too long/ })
    t.strictSame(
      result.findings?.map(({ path }) => path),
      [`projects/${name}`.slice(0, 4096)],
      'by its whole name, which a message may be too short for',
    )
    t.strictSame(files(dataDir), ['before'])
    t.equal(readFileSync(path.join(dataDir, 'projects/before'), 'utf8'), 'x')
    t.strictSame(
      readdirSync(path.join(dataDir, '.cluster-sync')).filter((left) => left.startsWith('run-')),
      [],
    )
  }
  t.equal((await sync([put('before', 'later')])).phase, 'Synced', 'a later commit is not held back by it')
  matchObject(
    t,
    await sync([put('before', 'later'), put(ofBytes(4_095))]),
    { phase: 'Synced', files: { added: 1 } },
    'what a file system just takes arrives',
  )
  matchObject(t, await sync([put('before', 'last')]), { phase: 'Synced', files: { removed: 1 } }, 'and goes')
})

void t.test('ten thousand files in one folder are added, changed and deleted', async (t) => {
  const dataDir = temporaryFolder(t, 'many')
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  const many = (content: string, count: number): Tree =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`projects/one/f${index}`, `${content} ${index}`]))
  for (const [tree, expected] of [
    [many('1', 10_000), { added: 10_000, changed: 0, removed: 0 }],
    [many('2', 10_000), { added: 0, changed: 10_000, removed: 0 }],
    [many('2', 10), { added: 0, changed: 0, removed: 9_990 }],
  ] as const) {
    const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
    const result = await runCycle(deps, desiredOf(dataDir, source.commit(tree), profile), signal)
    matchObject(t, result, { phase: 'Synced', files: expected })
    t.equal(readdirSync(path.join(dataDir, 'projects/one')).length, Object.keys(tree).length)
  }
})

const parts = ['projects', 'a', 'b', 'c']

void t.test('no operation follows a symbolic link at any position in the path', async (t) => {
  const outside = temporaryFolder(t, 'outside')
  const folder = temporaryFolder(t, 'links')
  const everything = (): string[] => listTree(outside).map((file) => `${file}=${readFileSync(path.join(outside, file), 'latin1')}`)
  let run = 0
  const desired = fc.record({
    depth: fc.integer({ min: 0, max: parts.length - 1 }),
    /** The target of the link: a copy of the delivered file, a different file, or nothing. */
    behind: fc.constantFrom('copy', 'other', 'nothing'),
    prune: fc.constantFrom('Owned' as const, 'All' as const),
    drift: fc.constantFrom('Report' as const, 'Restore' as const),
    next: fc.constantFrom<Tree>(
      { 'projects/a/b/c': '2' },
      { 'projects/a/b/d': '1' },
      { 'projects/a/b': 'a file' },
      { 'projects/a/b/c': '1' },
    ),
    restarts: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(desired, async ({ depth, behind, prune, drift, next, restarts }) => {
      rmSync(outside, { recursive: true, force: true })
      mkdirSync(path.join(outside, 'projects/a/b'), { recursive: true })
      if (behind !== 'nothing') writeFileSync(path.join(outside, 'projects/a/b/c'), behind === 'copy' ? '1' : 'theirs')
      writeFileSync(path.join(outside, 'projects/a/b/theirs'), 'theirs')
      const dataDir = path.join(folder, String((run += 1)))
      mkdirSync(dataDir)
      const source = memorySource()
      const memory: EngineMemory = { manifest: undefined }
      const own = profileOf([{ source: 'projects', destination: 'projects', prune }], { drift })
      const sync = async (tree: Tree): Promise<CycleResult> => {
        const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
        return await runCycle(deps, desiredOf(dataDir, source.commit(tree), own), signal)
      }
      await sync({ 'projects/a/b/c': '1' })
      const link = parts.slice(0, depth + 1).join('/')
      rmSync(path.join(dataDir, link), { recursive: true })
      symlinkSync(path.join(outside, link), path.join(dataDir, link))
      const before = everything()
      if (restarts) memory.manifest = undefined
      for (const tree of [next, { 'projects/a/b/c': '1' }, next]) await sync(tree)
      const untouched = JSON.stringify(everything()) === JSON.stringify(before)
      // With prune: All, a folder that a file replaces is deleted with its content, and a link in it is deleted as a link.
      const mayGo = prune === 'All' && depth === 3 && 'projects/a/b' in next
      return untouched && (mayGo || lstatSync(path.join(dataDir, link)).isSymbolicLink())
    }),
    { numRuns: 120 },
  )
})
