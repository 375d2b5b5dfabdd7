/**
 * Tests that for any mappings and commits the folder matches a reference implementation, with differences or listings in any order. A
 * second cycle does nothing, and foreign files stay.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { Change } from '../../../../runtime/content/protocol/protocol.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type EngineMemory, runCycle } from '../../../../runtime/sync/cycle.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const signal = AbortSignal.timeout(240_000)
const names = ['a', 'b', 'c.json', 'd.txt']
const sourceFile = fc
  .tuple(fc.constantFrom('base', 'over', 'base/deep', 'extra'), fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 2 }))
  .map(([root, parts]) => `${root}/${parts.join('/')}`)
const tree = fc.dictionary(sourceFile, fc.constantFrom('', '1', '2', '3'), { maxKeys: 10 }).map(withoutCollisions)
const excludes = fc.constantFrom<string[]>([], [], ['*.txt'], ['**/*.json'], ['a'], ['a/'], ['**/b/**'])
const dirMapping = fc.record({
  type: fc.constant('Directory' as const),
  source: fc.constantFrom('base', 'over', 'base/deep', 'extra', 'base/'),
  destination: fc.constantFrom('projects', './projects/', 'projects/sub', 'config/x', 'other'),
  excludePatterns: excludes,
})
const fileMapping = fc.record({
  type: fc.constant('File' as const),
  source: fc.constantFrom('base/a', 'over/c.json', 'extra/d.txt'),
  destination: fc.constantFrom('projects/a', 'projects/file', 'config/x/c.json'),
  excludePatterns: fc.constant<string[]>([]),
})
type Mapping = { type: 'Directory' | 'File'; source: string; destination: string; excludePatterns: string[] }
const mappings: fc.Arbitrary<Mapping[]> = fc.array(fc.oneof({ arbitrary: dirMapping, weight: 3 }, fileMapping), {
  minLength: 1,
  maxLength: 4,
})
const step = fc.record({ tree, restarts: fc.boolean(), forgets: fc.boolean(), seed: fc.nat() })

/** In git, a path cannot be a file and a folder at once. */
function withoutCollisions(paths: Tree): Tree {
  const all = Object.keys(paths)
  return Object.fromEntries(Object.entries(paths).filter(([file]) => !all.some((other) => other.startsWith(`${file}/`))))
}

function isExcluded(file: string, patterns: readonly string[]): boolean {
  const parts = file.split('/')
  return patterns.some((pattern) => {
    if (pattern === '*.txt') return parts[0]?.endsWith('.txt') === true
    if (pattern === '**/*.json') return parts.some((part) => part.endsWith('.json'))
    if (pattern === '**/b/**') return parts.slice(0, -1).includes('b')
    return parts[0] === 'a' && (pattern === 'a' || parts.length > 1)
  })
}

/** A simple reference implementation: the desired files, and the mappings without a source. */
function read(tree: Tree, mappings: readonly Mapping[]): { desired: Map<string, { content: string; mapping: number }>; absent: number[] } {
  const desired = new Map<string, { content: string; mapping: number }>()
  const absent: number[] = []
  for (const [mapping, { type, source, destination, excludePatterns }] of mappings.entries()) {
    const root = source.replace(/\/$/, '')
    const target = path.posix.normalize(destination).replace(/\/$/, '')
    const found = Object.entries(tree).filter(([file]) => (type === 'File' ? file === root : file.startsWith(`${root}/`)))
    if (found.length === 0) absent.push(mapping)
    for (const [file, content] of found) {
      const below = file.slice(root.length + 1)
      if (type === 'File') desired.set(target, { content, mapping })
      else if (!isExcluded(below, excludePatterns)) desired.set(`${target}/${below}`, { content, mapping })
    }
  }
  return { desired, absent }
}

/** Returns the same changes in another order. */
function shuffled(changes: readonly Change[], seed: number): Change[] {
  return changes
    .map((change, index) => ({ change, key: Math.imul(index + 1, 2_654_435_761 ^ seed) >>> 0 }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ change }) => change)
}

void t.test('the folder matches the mappings after any history', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t, 'mappings')
  const seen = { synced: 0, refused: 0 }
  let run = 0
  await fc.assert(
    fc.asyncProperty(mappings, fc.array(step, { minLength: 2, maxLength: 4 }), async (list, steps) => {
      const dataDir = path.join(folder, String((run += 1)))
      const foreign = ['projects/theirs', 'projects/b2/theirs', 'config/x/theirs', 'theirs']
      for (const file of foreign) {
        mkdirSync(path.dirname(path.join(dataDir, file)), { recursive: true })
        writeFileSync(path.join(dataDir, file), 'theirs')
      }
      const profile = profileOf(list.map((mapping) => ({ ...mapping, required: false })))
      const source = memorySource()
      let order = 0
      const reordering: typeof source = {
        ...source,
        async *changes(request, own) {
          for await (const batch of source.changes(request, own)) yield shuffled(batch, order)
        },
      }
      let memory: EngineMemory = { manifest: undefined }
      let owned = new Map<string, { content: string; mapping: number }>()
      for (const { tree: next, restarts, forgets, seed } of steps) {
        order = seed
        if (restarts) memory = { manifest: undefined }
        const commit = source.commit(next)
        const deps = { source: reordering, gateway: undefined, clock: systemClock, log: silentLog, memory }
        const result = await runCycle(deps, desiredOf(dataDir, commit, profile), signal)
        if (result.phase === 'Synced') {
          const { desired, absent } = read(next, list)
          // Files of a source that is now missing stay.
          for (const [file, entry] of owned) if (!desired.has(file) && absent.includes(entry.mapping)) desired.set(file, entry)
          owned = desired
          seen.synced += 1
          const again = await runCycle(
            { ...deps, memory: restarts ? { manifest: undefined } : memory },
            desiredOf(dataDir, commit, profile),
            signal,
          )
          const { added = 1, changed = 1, removed = 1 } = again.files ?? {}
          if (again.phase !== 'Synced' || added + changed + removed > 0) throw new Error(`again: ${JSON.stringify(again)}`)
          if (forgets) source.forget(commit)
        } else if (result.reason === 'MappingConflict' || result.reason === 'InvalidSpec') seen.refused += 1
        else throw new Error(`${result.phase}: ${result.message}`)
        const present = Object.fromEntries(
          listTree(dataDir)
            .filter((file) => !file.startsWith('.cluster-sync/'))
            .map((file) => [file, readFileSync(path.join(dataDir, file), 'utf8')]),
        )
        const expected = Object.fromEntries([...owned].map(([file, { content }]): [string, string] => [file, content]))
        for (const file of foreign) expected[file] = 'theirs'
        for (const file of new Set([...Object.keys(present), ...Object.keys(expected)])) {
          if (present[file] !== expected[file])
            throw new Error(`${file}: ${present[file]} instead of ${expected[file]} after ${result.phase}`)
        }
      }
      rmSync(dataDir, { recursive: true, force: true })
    }),
    { numRuns: 300 },
  )
  t.ok(seen.synced > seen.refused, `${seen.synced} synced, ${seen.refused} refused`)
})
