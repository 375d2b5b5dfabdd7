/**
 * A program in the gateway's container may replace any folder with a symbolic link at any moment. The agent never writes, moves, deletes or
 * reads outside the data directory because of that, not even files that only the agent may read.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import type { Source } from '../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { type CycleResult, runCycle } from '../../runtime/sync/cycle.ts'
import { releaseLock } from '../../runtime/sync/disk/lock.ts'
import { listTree } from '../../scripts/quickstart/check.ts'
import { matchObject } from '../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../support/memory-source.ts'
import { temporaryFolder } from '../support/repository.ts'

const profile = profileOf([{ source: 'projects', destination: 'projects' }])
const files = (content: string, from: number, to: number): Tree =>
  Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`projects/q/f${from + index}`, content]))

/** A data directory beside a folder with a secret whose file names are those of the commit. */
function setUp(t: Test) {
  const folder = temporaryFolder(t, 'swapped')
  const dataDir = path.join(folder, 'data')
  const outside = path.join(folder, 'outside')
  mkdirSync(dataDir)
  mkdirSync(outside)
  for (const name of ['f1', 'f2', 'f3', 'd']) writeFileSync(path.join(outside, name), `secret ${name}`)
  const before = contentOf(outside)
  const source = memorySource()
  const cycle = async (
    tree: Tree,
    boundary: (name: string) => void = () => undefined,
    from: Source = source,
    as = profile,
  ): Promise<CycleResult> => {
    const deps = { source: from, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined }, boundary }
    const result = await runCycle(deps, desiredOf(dataDir, source.commit(tree), as), AbortSignal.timeout(60_000))
    releaseLock(dataDir)
    return result
  }
  const isUntouched = (message: string): void => void t.strictSame(contentOf(outside), before, message)
  return { folder, dataDir, outside, source, cycle, isUntouched }
}

function contentOf(folder: string): Record<string, string> {
  return Object.fromEntries(listTree(folder).map((file) => [file, readFileSync(path.join(folder, file), 'utf8')]))
}

function swapFor(folder: string, target: string): void {
  renameSync(folder, `${folder}.aside`)
  symlinkSync(target, folder)
}

void t.test('a folder replaced by a link between any two steps of an apply leads nowhere outside', { timeout: 600_000 }, async (t) => {
  const { folder, dataDir, outside, cycle, isUntouched } = setUp(t)
  const old = { ...files('1', 0, 4), 'projects/q/deep/d': 'd', 'projects/z': 'z' }
  const next = { ...files('2', 0, 3), 'projects/q/new/n': 'n', 'projects/z': 'z' }
  t.equal((await cycle(old)).phase, 'Synced')
  const saved = path.join(folder, 'saved')
  cpSync(dataDir, saved, { recursive: true, preserveTimestamps: true })
  let boundaries = 0
  t.equal((await cycle(next, () => (boundaries += 1))).phase, 'Synced')
  const restore = (): void => {
    rmSync(dataDir, { recursive: true })
    cpSync(saved, dataDir, { recursive: true, preserveTimestamps: true })
  }
  for (const at of Array.from({ length: boundaries }, (_, index) => index + 1)) {
    for (const swapped of ['projects', 'projects/q', 'projects/q/deep', '.cluster-sync']) {
      restore()
      let passed = 0
      await cycle(next, () => {
        passed += 1
        const full = path.join(dataDir, swapped)
        if (passed === at && existsSync(full)) swapFor(full, outside)
      }).catch(() => undefined)
      isUntouched(`${swapped} at boundary ${at} of ${boundaries}`)
    }
  }
})

void t.test('staged files land in the staging folder, even if its folders are replaced meanwhile', async (t) => {
  const { dataDir, outside, source, cycle, isUntouched } = setUp(t)
  const large = 'x'.repeat(300_000)
  const tree = { 'projects/new/a.bin': large, 'projects/new/b.bin': large, 'projects/new/f1': '1', 'projects/new/f2': '2' }
  const stagedFolder = (): string => {
    const engine = path.join(dataDir, '.cluster-sync')
    const run = readdirSync(engine).find((name) => name.startsWith('run-')) ?? ''
    return path.join(engine, run, 't0/new')
  }
  /** Runs `meddle` once the content of the large file has arrived and before it is verified. */
  const meddling = (meddle: (staged: string) => void): Source => ({
    ...source,
    // Files that come with the listing are written one by one, even if two are identical.
    files: () => Promise.reject(new Fault('NotFound', 'an older controller')),
    blobs: (request, sink, signal) =>
      source.blobs(
        request,
        {
          ...sink,
          begin: (id, size) => sink.begin(id, size),
          end() {
            if (existsSync(path.join(stagedFolder(), 'a.bin')) && !existsSync(path.join(stagedFolder(), 'b.bin'))) meddle(stagedFolder())
            sink.end()
          },
        },
        signal,
      ),
  })
  const link = meddling((staged) => {
    rmSync(path.join(staged, 'a.bin'))
    symlinkSync(path.join(outside, 'f1'), path.join(staged, 'a.bin'))
  })
  await cycle(tree, undefined, link)
  t.equal(readFileSync(path.join(dataDir, 'projects/new/b.bin'), 'utf8'), large, 'a copy is of what arrived, not of what a link names')
  isUntouched('a link in place of the file that is copied')

  rmSync(path.join(dataDir, 'projects'), { recursive: true })
  rmSync(path.join(dataDir, '.cluster-sync'), { recursive: true })
  const changed = await cycle(
    tree,
    undefined,
    meddling((staged) => writeFileSync(path.join(staged, 'a.bin'), 'y'.repeat(300_000))),
  )
  matchObject(t, changed, { phase: 'Failed', reason: 'DeliveryFailed', message: /was changed on the disk/ })
  t.notOk(existsSync(path.join(dataDir, 'projects/new')), 'nothing of it is published')

  const folderLink = meddling((staged) => swapFor(staged, outside))
  await cycle(tree, undefined, folderLink)
  isUntouched('a link in place of the folder that is written to')
})

void t.test('files that arrive with the listing land in the staging folder, even if its folders are replaced', async (t) => {
  const { dataDir, source, outside, cycle, isUntouched } = setUp(t)
  // Each is large enough that the previous one is written.
  const names = ['a/1', 'a/f1', 'b/f1', 'b/f2', 'b/f3']
  const tree = Object.fromEntries(names.map((name) => [`projects/new/${name}`, name.padEnd(100_000)]))
  for (const swapped of ['.', 't0', 't0/new', 't0/new/a']) {
    for (let at = 2; at < names.length; at += 1) {
      const engine = path.join(dataDir, '.cluster-sync')
      let files = 0
      let swaps = 0
      const swapping: Source = {
        ...source,
        files: async (request, sink, signal) =>
          await source.files(
            request,
            {
              begin(file) {
                const run = path.join(engine, readdirSync(engine).find((name) => name.startsWith('run-')) ?? 'none', swapped)
                if (files === at && existsSync(run)) {
                  swapFor(run, outside)
                  swaps += 1
                }
                files += 1
                sink.begin(file)
              },
              data: (chunk) => sink.data(chunk),
              end: () => sink.end(),
            },
            signal,
          ),
      }
      await cycle(tree, undefined, swapping).catch(() => undefined)
      isUntouched(`${swapped} before file ${at}`)
      t.equal(swaps, 1, 'it was swapped')
      rmSync(path.join(dataDir, 'projects'), { recursive: true, force: true })
      rmSync(engine, { recursive: true })
    }
  }
})

void t.test('a link in place of a folder does not bring the content behind it into a report', async (t) => {
  const { dataDir, outside, cycle } = setUp(t)
  t.equal((await cycle(files('1', 0, 4))).phase, 'Synced')
  swapFor(path.join(dataDir, 'projects/q'), outside)
  const result = await cycle(files('2', 0, 4))
  matchObject(t, result, { phase: 'Blocked', reason: 'SymbolicLink' })
  t.notMatch(JSON.stringify(result), /secret/)
})

void t.test(
  'applies stay inside the data directory and leave managed files exact while a folder is swapped continuously',
  { timeout: 600_000 },
  async (t) => {
    const { dataDir, outside, cycle, isUntouched } = setUp(t)
    const trees = [files('1', 0, 300), files('2', 0, 300), files('3', 150, 450)]
    t.equal((await cycle(trees[0] ?? {})).phase, 'Synced')
    const program = path.resolve(import.meta.dirname, '../support/programs/swap-folders.ts')
    const child = spawn(process.execPath, [program, path.join(dataDir, 'projects/q'), outside], { stdio: ['pipe', 'pipe', 'inherit'] })
    t.teardown(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    for (let round = 0; round < 12; round += 1) await cycle(trees[(round + 1) % trees.length] ?? {})
    const ended = text(child.stdout)
    child.stdin.end()
    const swaps = Number(await ended)
    t.ok(swaps > 0, `swapped ${swaps} times`)
    isUntouched('nothing landed outside, and nothing went from there')
    // The known state of the files may be outdated by now, so the last two cycles check everything.
    rmSync(path.join(dataDir, 'projects/q.aside'), { recursive: true, force: true })
    const restoring = { ...profile, drift: 'Restore' as const }
    t.equal((await cycle(trees[0] ?? {}, undefined, undefined, restoring)).phase, 'Synced')
    t.equal((await cycle(trees[0] ?? {}, undefined, undefined, restoring)).phase, 'Synced')
    const desired = Object.fromEntries(Object.keys(trees[0] ?? {}).map((file) => [file.slice('projects/'.length), '1']))
    const found = Object.entries(contentOf(path.join(dataDir, 'projects')))
    t.strictSame(Object.fromEntries(found.filter(([file]) => Object.hasOwn(desired, file))), desired)
    // While the folder was away, the agent saw that its files were gone. Those that came back with it are not managed, and stay.
    const others = found.filter(([file]) => !Object.hasOwn(desired, file))
    t.strictSame(
      others.filter(([file, content]) => trees[2]?.[`projects/${file}`] !== content),
      [],
    )
  },
)
