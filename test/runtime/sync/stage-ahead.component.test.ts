/**
 * Contents are asked for while the listing still arrives, and whatever becomes of that, a sync ends as it would without it.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import type { Source } from '../../../runtime/delivery/protocol.ts'
import { Fault } from '../../../runtime/fault.ts'
import { silentLog } from '../../../runtime/log.ts'
import { type CycleResult, type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { listTree } from '../../../scripts/quickstart/check.ts'
import { memorySource, profileOf, type Tree, wantedOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const tree: Tree = Object.fromEntries(
  Array.from({ length: 9 }, (_, index) => [`projects/new${index % 3}/${index}`, `content ${index % 7}`]),
)
const contents = new Set(Object.values(tree)).size

type Around = { changes?(inner: Source['changes']): Source['changes']; blobs?(inner: Source['blobs']): Source['blobs'] }

/** A folder without files, a source that gives its listing two files at a time, and what is asked of it. */
function setUp(t: Pick<Test, 'teardown'>, around: Around = {}, boundary?: (name: string, dataDir: string) => void) {
  const dataDir = temporaryFolder(t, 'ahead')
  mkdirSync(path.join(dataDir, 'projects'))
  const inner = memorySource()
  const asked: (readonly string[])[] = []
  const inPairs: Source['changes'] = async function* (request, signal) {
    for await (const batch of inner.changes(request, signal)) for (let at = 0; at < batch.length; at += 2) yield batch.slice(at, at + 2)
  }
  const blobs: Source['blobs'] = async (request, sink, signal) => {
    asked.push(request.ids)
    await inner.blobs(request, sink, signal)
  }
  const source: Source = { changes: around.changes?.(inPairs) ?? inPairs, blobs: around.blobs?.(blobs) ?? blobs }
  const memory: EngineMemory = { manifest: undefined }
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory, batches: [2, 3] }
  const cycle = async (wanted = tree, signal = AbortSignal.timeout(20_000)): Promise<CycleResult> =>
    await runCycle(
      { ...deps, ...(boundary === undefined ? {} : { boundary: (name: string) => boundary(name, dataDir) }) },
      wantedOf(dataDir, inner.commit(wanted), profile),
      signal,
    )
  const left = (): string[] => readdirSync(path.join(dataDir, '.cluster-sync')).filter((name) => /^(?:run-|journal)/.test(name))
  return { dataDir, asked, cycle, left }
}

function contentOf(dataDir: string): Tree {
  const files = listTree(path.join(dataDir, 'projects'))
  return Object.fromEntries(files.map((file) => [`projects/${file}`, readFileSync(path.join(dataDir, 'projects', file), 'utf8')]))
}

void t.test('contents come before the listing has ended, in the same calls for each agent', async (t) => {
  const run = async () => {
    const begun = Promise.withResolvers<void>()
    const world = setUp(t, {
      // The listing goes on only when contents are asked for.
      changes: (inner) =>
        async function* (request, signal) {
          let batches = 0
          for await (const batch of inner(request, signal)) {
            yield batch
            if ((batches += 1) === 2) await begun.promise
          }
        },
      blobs: (inner) => async (request, sink, signal) => {
        begun.resolve()
        await inner(request, sink, signal)
      },
    })
    t.match(await world.cycle(), { phase: 'Synced', files: { added: 9 } })
    t.same(contentOf(world.dataDir), { ...tree })
    t.same(world.left(), [])
    t.equal((await world.cycle()).files?.unchanged, 9, 'and the manifest knows them')
    return world.asked
  }
  const asked = await run()
  t.ok(asked.length > 1, `${asked.length} calls`)
  t.ok(asked.flat().length <= contents + 2, 'hardly any content is asked for twice')
  t.same(await run(), asked)
})

void t.test('what is listed in another order than that of the plan is not asked for again', async (t) => {
  const names = ['\u{1f600}', '\uff01', 'b', 'a']
  const unordered: Tree = Object.fromEntries(names.map((name) => [`projects/new/${name}`, name]))
  const { dataDir, asked, cycle } = setUp(t)
  t.match(await cycle(unordered), { phase: 'Synced', files: { added: 4 } })
  t.same(contentOf(dataDir), { ...unordered })
  t.same(
    asked.map((ids) => ids.length),
    [2, 2],
  )
})

void t.test('a call that fails ahead of the plan is made again after it', async (t) => {
  let calls = 0
  const { dataDir, cycle, left } = setUp(t, {
    blobs: (inner) => async (request, sink, signal) => {
      if ((calls += 1) === 2) throw new Fault('DeliveryFailed', 'the answer ended early')
      await inner(request, sink, signal)
    },
  })
  t.match(await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.same(contentOf(dataDir), { ...tree })
  t.same(left(), [])
})

void t.test('where the plan may not be carried out nothing stays, and the next try fetches no contents', async (t) => {
  const { dataDir, asked, cycle, left } = setUp(t)
  const colliding = { ...tree, 'projects/new1/same': '1', 'projects/New1/same': '2' }
  t.match(await cycle(colliding), { phase: 'Blocked', reason: 'MappingConflict' })
  t.same(left(), [])
  const calls = asked.length
  t.ok(calls > 0)
  t.match(await cycle(colliding), { phase: 'Blocked', reason: 'MappingConflict' })
  t.equal(asked.length, calls)
  t.match(await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.same(contentOf(dataDir), { ...tree })
})

void t.test('a folder that appears meanwhile keeps what is in it', async (t) => {
  let appeared = false
  const runs: string[][] = []
  const { dataDir, cycle, left } = setUp(t, {}, (name, at) => {
    if (name === 'staged') runs.push(readdirSync(path.join(at, '.cluster-sync')).filter((each) => each.startsWith('run-')))
    if (name !== 'staged ahead' || appeared) return
    appeared = true
    mkdirSync(path.join(at, 'projects/new1'))
    writeFileSync(path.join(at, 'projects/new1/theirs'), 'theirs')
  })
  t.match(await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.ok(appeared)
  t.same(contentOf(dataDir), { ...tree, 'projects/new1/theirs': 'theirs' })
  t.same(
    runs.map((each) => each.length),
    [1],
    'contents are never on the disk twice',
  )
  t.same(left(), [])
})

void t.test('a folder that appears after the plan keeps what is in it, and the next cycle brings the rest', async (t) => {
  let appeared = false
  const { dataDir, cycle, left } = setUp(t, {}, (name, at) => {
    if (name !== 'journal' || appeared) return
    appeared = true
    mkdirSync(path.join(at, 'projects/new1'))
    writeFileSync(path.join(at, 'projects/new1/theirs'), 'theirs')
  })
  t.match(await cycle(), { phase: 'Failed', reason: 'PublishFailed' })
  t.same(contentOf(dataDir), { 'projects/new1/theirs': 'theirs' }, 'all or nothing')
  t.match(await cycle(), { phase: 'Synced', files: { added: 9 } })
  t.same(contentOf(dataDir), { ...tree, 'projects/new1/theirs': 'theirs' })
  t.same(left(), [])
})

void t.test('a sync that is ended while contents come leaves nothing', async (t) => {
  const stop = new AbortController()
  const { dataDir, cycle, left } = setUp(t, {
    blobs: (inner) => async (request, sink, signal) => {
      await inner(request, sink, AbortSignal.timeout(5_000))
      const ended = new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
      )
      stop.abort(new Error('stop'))
      await ended
    },
  })
  await t.rejects(cycle(tree, stop.signal), { message: 'stop' })
  t.same(left(), [])
  t.same(contentOf(dataDir), {})
})
