/**
 * Tests that a first sync receives the contents together with the listing, and ends the same way if that fails.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { FileSink, Source } from '../../../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../../runtime/sync/cycle.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const plain = profileOf([{ source: 'projects', destination: 'projects' }])
const tree: Tree = Object.fromEntries(
  Array.from({ length: 9 }, (_, index) => [`projects/new${index % 3}/${index}`, `content ${index % 7}`]),
)
const contents = new Set(Object.values(tree)).size

type Files = Source['files']
type Options = { files?(inner: Files): Files; boundary?(name: string, dataDir: string): void; profile?: typeof plain }

/** A folder without files, a source, and a record of its calls: `files`, `changes`, and the number of contents per request. */
function setUp(t: Pick<Test, 'teardown'>, { files = (inner) => inner, boundary, profile = plain }: Options = {}) {
  const dataDir = temporaryFolder(t, 'ahead')
  mkdirSync(path.join(dataDir, 'projects'))
  const inner = memorySource()
  const asked: (string | number)[] = []
  const around = files(async (request, sink, signal) => await inner.files(request, sink, signal))
  const source: Source = {
    files: async (request, sink, signal) => {
      asked.push('files')
      await around(request, sink, signal)
    },
    changes(request, signal) {
      asked.push('changes')
      return inner.changes(request, signal)
    },
    blobs: async (request, sink, signal) => {
      asked.push(request.ids.length)
      await inner.blobs(request, sink, signal)
    },
  }
  const memory: EngineMemory = { manifest: undefined }
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
  const cycle = async (desired = tree, signal = AbortSignal.timeout(20_000)): Promise<CycleResult> =>
    await runCycle(
      { ...deps, ...(boundary === undefined ? {} : { boundary: (name: string) => boundary(name, dataDir) }) },
      desiredOf(dataDir, inner.commit(desired), profile),
      signal,
    )
  const left = (): string[] => readdirSync(path.join(dataDir, '.cluster-sync')).filter((name) => /^(?:run-|journal)/.test(name))
  return { dataDir, asked, cycle, left }
}

function contentOf(dataDir: string): Tree {
  const files = listTree(path.join(dataDir, 'projects'))
  return Object.fromEntries(files.map((file) => [`projects/${file}`, readFileSync(path.join(dataDir, 'projects', file), 'utf8')]))
}

/** A source that manipulates files before they arrive; `each` gets the index of the file. */
function meddling(each: (at: number, sink: FileSink) => void): (inner: Files) => Files {
  return (inner) => async (request, sink, signal) => {
    let at = -1
    const begin: FileSink['begin'] = (file) => {
      each((at += 1), sink)
      sink.begin(file)
    }
    await inner(request, { begin, data: (chunk) => sink.data(chunk), end: () => sink.end() }, signal)
  }
}

void t.test('one response contains everything that a first sync needs', async (t) => {
  const { dataDir, asked, cycle, left } = setUp(t)
  matchObject(t, await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.strictSame(contentOf(dataDir), { ...tree })
  t.strictSame(left(), [])
  t.strictSame(asked, ['files'])
  t.equal((await cycle()).files?.unchanged, 9, 'and the manifest knows them')
  matchObject(t, await cycle({ ...tree, 'projects/new1/more': 'more' }), { phase: 'Synced', files: { added: 1 } })
  t.strictSame(asked, ['files', 'changes', 1], 'what comes later is asked for as differences')
})

void t.test('files that arrive in another order than in the plan are not fetched again', async (t) => {
  const names = ['\u{1f600}', '\uff01', 'b', 'a']
  const unordered: Tree = Object.fromEntries(names.map((name) => [`projects/new/${name}`, name]))
  const { dataDir, asked, cycle } = setUp(t)
  matchObject(t, await cycle(unordered), { phase: 'Synced', files: { added: 4 } })
  t.strictSame(contentOf(dataDir), { ...unordered })
  t.strictSame(asked, ['files'])
})

void t.test('after a truncated response the listing and the missing contents are fetched', async (t) => {
  const cut = meddling((at) => {
    if (at === 5) throw new Fault('DeliveryFailed', 'the response ended early')
  })
  const { dataDir, asked, cycle, left } = setUp(t, { files: cut })
  matchObject(t, await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.strictSame(contentOf(dataDir), { ...tree })
  t.strictSame(asked, ['files', 'changes', 4])
  t.strictSame(left(), [])
})

void t.test('a truncated file is written again', async (t) => {
  const large = 'x'.repeat(300_000)
  for (const content of ['small', large]) {
    const cut =
      (inner: Files): Files =>
      async (request, sink, signal) => {
        const data: FileSink['data'] = (chunk) => {
          sink.data(chunk.subarray(1))
          throw new Fault('DeliveryFailed', 'the response ended early')
        }
        await inner(request, { begin: (file) => sink.begin(file), data, end: () => sink.end() }, signal)
      }
    const { dataDir, asked, cycle, left } = setUp(t, { files: cut })
    matchObject(t, await cycle({ 'projects/new/a': content }), { phase: 'Synced', files: { added: 1 } })
    t.strictSame(contentOf(dataDir), { 'projects/new/a': content })
    t.strictSame(asked, ['files', 'changes', 1])
    t.strictSame(left(), [])
  }
})

void t.test('damaged content is never applied', async (t) => {
  const damaged =
    (inner: Files): Files =>
    async (request, sink, signal) =>
      await inner(
        request,
        { begin: (file) => sink.begin(file), data: (chunk) => sink.data(Buffer.from(chunk).fill('x')), end: () => sink.end() },
        signal,
      )
  const { dataDir, asked, cycle, left } = setUp(t, { files: damaged })
  matchObject(t, await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.strictSame(contentOf(dataDir), { ...tree })
  t.strictSame(asked, ['files', contents])
  t.strictSame(left(), [])
})

void t.test('a controller of an earlier release serves a listing, and an unreachable one is an error', async (t) => {
  const refused = (reason: 'NotFound' | 'DeliveryUnreachable') => (): Files => async () => {
    throw new Fault(reason, 'refused')
  }
  const older = setUp(t, { files: refused('NotFound') })
  matchObject(t, await older.cycle(), { phase: 'Synced', files: { added: 9 } })
  t.strictSame(older.asked, ['files', 'changes', contents])
  const away = setUp(t, { files: refused('DeliveryUnreachable') })
  matchObject(t, await away.cycle(), { phase: 'Failed', reason: 'DeliveryUnreachable' })
  t.strictSame(away.asked, ['files'], 'and is not asked for twice')
})

void t.test('excluded files are received up to a megabyte, after which the response is abandoned', async (t) => {
  const profile = profileOf([{ source: 'projects', destination: 'projects', excludePatterns: ['**/*.bin'] }])
  const excluded = (mebibytes: number): Tree => ({ ...tree, 'projects/big.bin': 'x'.repeat(mebibytes * 1024 * 1024) })
  const little = setUp(t, { profile })
  matchObject(t, await little.cycle(excluded(1)), { phase: 'Synced', files: { added: 9 } })
  t.strictSame(little.asked, ['files'])
  const much = setUp(t, { profile })
  matchObject(t, await much.cycle(excluded(2)), { phase: 'Synced', files: { added: 9 } })
  t.strictSame(contentOf(much.dataDir), { ...tree })
  t.strictSame(much.asked, ['files', 'changes'], 'what has come is used')
})

void t.test('contents of rendered files are fetched after planning', async (t) => {
  const mappings = [
    { source: 'projects/new0', destination: 'projects/new0', template: true },
    { source: 'projects/new1', destination: 'projects/new1' },
  ]
  const { dataDir, asked, cycle } = setUp(t, { profile: profileOf(mappings) })
  const desired = { 'projects/new0/a': '{{ namespace }}', 'projects/new0/b': 'b', 'projects/new1/c': 'c' }
  matchObject(t, await cycle(desired), { phase: 'Synced', files: { added: 3 } })
  t.strictSame(contentOf(dataDir), { ...desired, 'projects/new0/a': 'plant' })
  t.strictSame(asked, ['files', 2])
})

void t.test('a refused plan leaves nothing behind, and the next attempt fetches no contents', async (t) => {
  const { dataDir, asked, cycle, left } = setUp(t)
  const colliding = { ...tree, 'projects/new1/same': '1', 'projects/New1/same': '2' }
  matchObject(t, await cycle(colliding), { phase: 'Blocked', reason: 'MappingConflict' })
  t.strictSame(left(), [])
  matchObject(t, await cycle(colliding), { phase: 'Blocked', reason: 'MappingConflict' })
  t.strictSame(asked, ['files', 'changes'])
  matchObject(t, await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.strictSame(contentOf(dataDir), { ...tree })
})

void t.test('a folder created during the fetch keeps its files', async (t) => {
  let appeared = false
  const runs: string[][] = []
  const boundary = (name: string, at: string): void => {
    if (name === 'staged') runs.push(readdirSync(path.join(at, '.cluster-sync')).filter((each) => each.startsWith('run-')))
    if (name !== 'staged ahead' || appeared) return
    appeared = true
    mkdirSync(path.join(at, 'projects/new1'))
    writeFileSync(path.join(at, 'projects/new1/theirs'), 'theirs')
  }
  const { dataDir, cycle, left } = setUp(t, { boundary })
  matchObject(t, await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.ok(appeared)
  t.strictSame(contentOf(dataDir), { ...tree, 'projects/new1/theirs': 'theirs' })
  t.strictSame(
    runs.map((each) => each.length),
    [1],
    'contents are never on the disk twice',
  )
  t.strictSame(left(), [])
})

void t.test('a folder created after planning keeps its files, and the next cycle adds the rest', async (t) => {
  let appeared = false
  const boundary = (name: string, at: string): void => {
    if (name !== 'journal' || appeared) return
    appeared = true
    mkdirSync(path.join(at, 'projects/new1'))
    writeFileSync(path.join(at, 'projects/new1/theirs'), 'theirs')
  }
  const { dataDir, cycle, left } = setUp(t, { boundary })
  matchObject(t, await cycle(), { phase: 'Failed', reason: 'PublishFailed' })
  t.strictSame(contentOf(dataDir), { 'projects/new1/theirs': 'theirs' }, 'all or nothing')
  matchObject(t, await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.strictSame(contentOf(dataDir), { ...tree, 'projects/new1/theirs': 'theirs' })
  t.strictSame(left(), [])
})

void t.test('a sync aborted while contents arrive leaves nothing behind', async (t) => {
  const stop = new AbortController()
  const stopping = meddling((at) => {
    if (at !== 4) return
    stop.abort(new Error('stop'))
    stop.signal.throwIfAborted()
  })
  const { dataDir, cycle, left } = setUp(t, { files: stopping })
  await rejectsWith(t, cycle(tree, stop.signal), { message: 'stop' })
  t.strictSame(left(), [])
  t.strictSame(contentOf(dataDir), {})
})
