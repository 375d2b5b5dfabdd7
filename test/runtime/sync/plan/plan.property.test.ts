/**
 * Tests that for any desired, managed and existing files a plan applied to a model of the disk leaves exactly the desired and the foreign
 * files.
 */
import fc from 'fast-check'
import t from 'tap'
import type { BlobId } from '../../../../runtime/content/protocol/protocol.ts'
import type { DesiredFile } from '../../../../runtime/sync/desired/desired-tree.ts'
import type { Owned } from '../../../../runtime/sync/model/manifest.ts'
import type { Observed } from '../../../../runtime/sync/plan/observed.ts'
import { layOut } from '../../../../runtime/sync/apply/steps.ts'
import { maybeEmptied, type Plan, plan, type PlanInput } from '../../../../runtime/sync/plan/plan.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { noAliases } from '../../../../runtime/sync/plan/path-collisions.ts'

type Files = ReadonlyMap<string, string>
type World = { expected: Files; owned: Files; disk: Files }

const idOf = (content: string): BlobId => content.repeat(40) as BlobId
const stat = { size: 1, mtimeMs: 0, ino: 0, mode: 0o644 }

/** Contents by path; no path lies below another file. */
const files = (minLength: number): fc.Arbitrary<Files> =>
  fc
    .array(
      fc.tuple(
        fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }).map((names) => `projects/${names.join('/')}`),
        fc.constantFrom('1', '2', '3'),
      ),
      { minLength, maxLength: 7 },
    )
    .map((entries) => {
      const kept = new Map<string, string>()
      for (const [path, content] of entries) {
        const isFree = [...kept.keys()].every((other) => other !== path && !other.startsWith(`${path}/`) && !path.startsWith(`${other}/`))
        if (isFree) kept.set(path, content)
      }
      return kept
    })

/** Some files on disk are managed, unchanged or changed since; some managed files are missing. */
const world: fc.Arbitrary<World> = fc
  .record({
    expected: files(0),
    disk: files(0),
    lost: files(0),
    ours: fc.infiniteStream(fc.constantFrom('as written', 'changed', 'not ours')),
  })
  .map(({ expected, disk, lost, ours }) => {
    const owned = new Map<string, string>()
    for (const [path, content] of disk) {
      const how = ours.next().value
      if (how !== 'not ours') owned.set(path, how === 'changed' ? '4' : content)
    }
    for (const [path, content] of lost) {
      const isFree = [...disk.keys(), ...owned.keys()].every(
        (other) => other !== path && !other.startsWith(`${path}/`) && !path.startsWith(`${other}/`),
      )
      if (isFree) owned.set(path, content)
    }
    return { expected, owned, disk }
  })

function foldersAbove(path: string): string[] {
  const names = path.split('/')
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'))
}

function isFolder(disk: Files, path: string): boolean {
  return path === 'projects' || [...disk.keys()].some((other) => other.startsWith(`${path}/`))
}

/** Returns what is observed at a path on the disk. */
function observe(disk: Files, path: string): Observed {
  const file = foldersAbove(path).find((above) => disk.has(above))
  if (file !== undefined) return { kind: 'under-file', file }
  const content = disk.get(path)
  if (content !== undefined) return { kind: 'file', stat, exec: false, id: idOf(content) }
  if (isFolder(disk, path)) return { kind: 'folder', files: [...disk.keys()].filter((other) => other.startsWith(`${path}/`)) }
  return { kind: 'absent', topmost: foldersAbove(path).find((above) => !isFolder(disk, above)) ?? path }
}

function inputOf({ expected, owned, disk }: World, more: Partial<PlanInput> = {}): PlanInput {
  const desired = [...expected].map(([path, content]): DesiredFile => ({ path, id: idOf(content), size: 1, exec: false, mapping: 0 }))
  const isInPlace = ({ path, id }: DesiredFile): boolean => {
    const [wrote, found] = [owned.get(path), disk.get(path)]
    return wrote !== undefined && found !== undefined && idOf(wrote) === id && idOf(found) === id
  }
  const puts = new Map(desired.filter((file) => !isInPlace(file)).map((file) => [file.path, file]))
  const removed = new Map([...owned.keys()].filter((path) => !expected.has(path)).map((path) => [path, 'Owned' as const]))
  const entries = [...owned].map(([path, content]): [string, Owned] => [
    path,
    { id: idOf(content), exec: false, mapping: 0, stat, rendered: undefined, driftVerdict: undefined },
  ])
  return {
    rootBytes: 20,
    puts,
    removed,
    foreign: [],
    owned: new Map(entries),
    observed: new Map([...puts.keys(), ...removed.keys()].map((path) => [path, observe(disk, path)])),
    aliases: noAliases,
    repairing: new Set(),
    prunesAll: () => false,
    isRendered: () => false,
    maxDeletions: '100%',
    commit: parseCommitHash('f'.repeat(40)),
    confirmedDeletions: undefined,
    withheld: new Set(),
    mode: undefined,
    ...more,
  }
}

/** The renames of a plan as changes of the disk. Throws where the file system would. */
function renamesOf(made: Plan): ((disk: Map<string, string>) => void)[] {
  const layout = layOut(made)
  const staged = made.puts.map(({ path, id }, index) => ({ path, content: id.slice(0, 1), place: layout.placeOf(index) }))
  return layout.steps.map((step) => (disk) => {
    const below = [...disk.keys()].filter((path) => path === step.path || path.startsWith(`${step.path}/`))
    if (step.op === 'move') {
      if (below.length === 0) throw new Error(`there is no ${step.path} to move away`)
      for (const path of below) disk.delete(path)
      return
    }
    const file = foldersAbove(step.path).find((folder) => disk.has(folder))
    if (file !== undefined) throw new Error(`${file} is a file and no folder for ${step.path}`)
    if (below.some((path) => path !== step.path || step.op === 'tree')) throw new Error(`${step.path} is in use`)
    const arriving = staged.filter(({ place }) => (step.op === 'put' ? place === step.stage : place.startsWith(`${step.stage}/`)))
    if (arriving.length === 0) throw new Error(`nothing is staged for ${step.path}`)
    for (const { path, content } of arriving) disk.set(path, content)
  })
}

/** The disk after the first `count` renames. */
function carryOut(disk: Files, made: Plan, count = Number.POSITIVE_INFINITY): Map<string, string> {
  const after = new Map(disk)
  for (const rename of renamesOf(made).slice(0, count)) rename(after)
  return after
}

const sorted = (files: Files): [string, string][] => [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))
const isSame = (some: Files, others: Files): boolean => JSON.stringify(sorted(some)) === JSON.stringify(sorted(others))

/** The desired files and the foreign files. */
function expected({ expected, owned, disk }: World): Map<string, string> {
  return new Map([...[...disk].filter(([path]) => !owned.has(path)), ...expected])
}

void t.test('an applied plan without problems leaves the desired and the foreign files', async () => {
  fc.assert(
    fc.property(world, (given) => {
      const made = plan(inputOf(given))
      if (made.problems.length > 0) return true
      return isSame(carryOut(given.disk, made), expected(given))
    }),
    { numRuns: 1_000 },
  )
})

void t.test('foreign files are never deleted, even by a plan with problems', async () => {
  fc.assert(
    fc.property(world, (given) => plan(inputOf(given)).deletes.every(({ path }) => given.owned.has(path))),
    { numRuns: 1_000 },
  )
})

void t.test('prune: None deletes no file unless a desired file replaces it', async () => {
  fc.assert(
    fc.property(world, (given) => {
      const { removed } = inputOf(given)
      const made = plan(inputOf(given, { removed: new Map([...removed.keys()].map((path) => [path, 'None' as const])) }))
      return made.deletes.every(({ isObstacle }) => isObstacle) && made.released.length + made.deletes.length >= removed.size
    }),
    { numRuns: 1_000 },
  )
})

void t.test('a foreign file with the desired content is adopted only with the desired executable bit', async (t) => {
  const tree = new Map([['projects/a', '1']])
  const input = inputOf({ expected: tree, owned: new Map(), disk: tree })
  t.strictSame([plan(input).adopts.length, plan(input).puts.length], [1, 0])
  const executable = { kind: 'file' as const, stat, exec: true, id: idOf('1') }
  const changed = plan({ ...input, observed: new Map([['projects/a', executable]]) })
  t.strictSame([changed.adopts.length, changed.puts.length], [0, 1])
})

void t.test('another spelling of a file that stays is not deleted', async (t) => {
  const tree = new Map([['projects/a', '1']])
  const input = inputOf({ expected: tree, owned: new Map([...tree, ['projects/A', '1']]), disk: tree })
  const [kept] = input.owned.values()
  const spelled = (ino: number): Observed => ({ kind: 'file', stat: { ...stat, ino }, exec: false, id: idOf('1') })
  const owned = new Map(input.owned).set('projects/a', { ...(kept as Owned), stat: { ...stat, ino: 7 } })
  const same = plan({ ...input, owned, observed: new Map([['projects/A', spelled(7)]]) })
  t.strictSame([same.deletes, same.released], [[], ['projects/A']])
  const another = plan({ ...input, owned, observed: new Map([['projects/A', spelled(8)]]) })
  t.strictSame([another.deletes.map(({ path }) => path), another.released], [['projects/A'], []])
})

void t.test('a foreign file in the way is a problem, unless the mapping prunes everything', async () => {
  fc.assert(
    fc.property(world, (given) => {
      const strict = plan(inputOf(given))
      const pruning = plan(inputOf(given, { prunesAll: () => true }))
      const strangers = pruning.deletes.filter(({ why }) => why === 'foreign')
      return pruning.problems.length === 0 && strict.problems.length > 0 === strangers.length > 0
    }),
    { numRuns: 1_000 },
  )
})

void t.test('a plan over its own result has nothing to do', async () => {
  fc.assert(
    fc.property(world, (given) => {
      const made = plan(inputOf(given))
      if (made.problems.length > 0) return true
      const disk = carryOut(given.disk, made)
      const again = plan(inputOf({ expected: given.expected, owned: given.expected, disk }))
      return again.puts.length + again.deletes.length + again.adopts.length + again.problems.length === 0
    }),
    { numRuns: 1_000 },
  )
})

void t.test('after an interruption at any rename the next plan leads to the same result', async () => {
  fc.assert(
    fc.property(world, fc.nat(20), (given, count) => {
      const made = plan(inputOf(given))
      if (made.problems.length > 0) return true
      const disk = carryOut(given.disk, made, count)
      const next = plan(inputOf({ ...given, disk }))
      return next.problems.length === 0 && isSame(carryOut(disk, next), expected(given))
    }),
    { numRuns: 1_000 },
  )
})

void t.test('the order in which files are listed does not matter', async () => {
  const reversed = (files: Files): Files => new Map([...files].toReversed())
  fc.assert(
    fc.property(world, (given) => {
      const { expected, owned, disk } = given
      const other = plan(inputOf({ expected: reversed(expected), owned: reversed(owned), disk }))
      return JSON.stringify(plan(inputOf(given))) === JSON.stringify(other)
    }),
    { numRuns: 500 },
  )
})

void t.test('the counts add up to the managed and desired files', async () => {
  fc.assert(
    fc.property(world, (given) => {
      const { counts, puts, deletes, problems } = plan(inputOf(given))
      if (problems.length > 0) return true
      return (
        counts.added + counts.changed + counts.unchanged === given.expected.size &&
        counts.bytes === puts.length &&
        counts.removed === deletes.length
      )
    }),
    { numRuns: 1_000 },
  )
})

void t.test('folders that deletions may leave empty are listed once, deepest first', (t) => {
  const of = (...paths: string[]) => maybeEmptied(paths.map((path) => ({ path })))
  t.strictSame(of(), [])
  t.strictSame(of('a'), [])
  t.strictSame(of('b/c/x', 'b/c/y', 'b/d/x', 'a/x'), ['b/c', 'b/d', 'a', 'b'])
  t.end()
})
