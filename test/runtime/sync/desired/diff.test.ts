/**
 * Tests the changes computed from a manifest: the cheapest sufficient request gives the same result as a full listing.
 */
import fc from 'fast-check'
import t from 'tap'
import { type CommitHash, parseCommitHash } from '../../../../runtime/api/values.ts'
import { type Diff, diffDesired } from '../../../../runtime/sync/desired/diff.ts'
import { emptyManifest, type Manifest, type Owned } from '../../../../runtime/sync/model/manifest.ts'
import { renderKey, templateContext } from '../../../../runtime/sync/render/context.ts'
import { matchObject } from '../../../support/assertions.ts'
import { type MemorySource, memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'

const signal = AbortSignal.timeout(120_000)
const stat = { size: 1, mtimeMs: 0, ino: 0, mode: 0o644 }
const projects = { source: 'projects', destination: 'projects' }
const unknown = parseCommitHash('0'.repeat(40))

type Profile = ReturnType<typeof profileOf>

async function diff(source: MemorySource, commit: CommitHash, profile: Profile, manifest: Manifest): Promise<Diff> {
  const target = desiredOf('/nowhere', commit, profile)
  return await diffDesired({ source, renderPath: (text) => text }, target, templateContext(target), manifest, signal)
}

/** Returns the manifest that the engine records after the diff was applied. */
function after(manifest: Manifest, commit: CommitHash, { puts, removed, moved, mappings, chain, absent, treeKey }: Diff): Manifest {
  const files = new Map(manifest.files)
  for (const { path, id, exec, mapping } of puts.values())
    files.set(path, { id, exec, mapping, stat, rendered: undefined, driftVerdict: undefined })
  for (const { path, owned } of moved) if (owned !== undefined) files.set(path, owned)
  for (const path of removed.keys()) files.delete(path)
  const keys = mappings.map(({ key }) => key)
  return { ...emptyManifest(), files, state: { ...stateDefaults, commit, chain, absent, treeKey, mappings: keys } }
}

const stateDefaults = {
  ref: 'main',
  syncHash: 'v1',
  publish: 'p',
  bootId: 'b',
  scanPending: [],
  scanned: {},
  commissioning: false,
  publishedAt: 0,
  findings: [],
  problems: [],
}

async function synced(source: MemorySource, tree: Tree, profile: Profile): Promise<Manifest> {
  const commit = source.commit(tree)
  const empty = emptyManifest()
  return after(empty, commit, await diff(source, commit, profile, empty))
}

const files = (found: Iterable<string>): string[] => [...found].toSorted()

void t.test('an empty folder is compared with a whole listing', async (t) => {
  const source = memorySource()
  const found = await diff(source, source.commit({ 'projects/a': '1', 'other/b': '2' }), profileOf([projects]), emptyManifest())
  t.equal(found.from, 'listing')
  t.strictSame(files(found.puts.keys()), ['projects/a'])
  t.equal(found.removed.size, 0)
})

void t.test('the same commit and configuration need no request at all', async (t) => {
  const [source, profile] = [memorySource(), profileOf([projects])]
  const tree = { 'projects/a': '1' }
  const manifest = await synced(source, tree, profile)
  const silent = { ...source, changes: () => t.fail('the source was asked') as never }
  const found = await diff(silent, source.commit(tree), profile, manifest)
  matchObject(t, found, { from: 'same' })
  t.equal(found.puts.size + found.removed.size + found.moved.length, 0)
})

void t.test('a commit after a known one is compared by its differences', async (t) => {
  const [source, profile] = [memorySource(), profileOf([projects])]
  const manifest = await synced(source, { 'projects/a': '1', 'projects/b': '1', 'projects/c': '1' }, profile)
  const found = await diff(source, source.commit({ 'projects/a': '2', 'projects/c': '1', 'projects/d': '1' }), profile, manifest)
  t.equal(found.from, 'delta')
  t.strictSame(files(found.puts.keys()), ['projects/a', 'projects/d'])
  t.strictSame([...found.removed], [['projects/b', 'Owned']])
})

void t.test('after a commit without any source the listing is requested directly', async (t) => {
  const optional = { ...projects, required: false }
  const rows: [string, Tree, string][] = [
    ['no source', { 'README.md': '1' }, 'listing'],
    ['only what is excluded', { 'projects/a.bak': '1' }, 'differences'],
  ]
  for (const [name, before, asks] of rows) {
    const [source, profile] = [memorySource(), profileOf([optional], { excludePatterns: ['*.bak'] })]
    const manifest = await synced(source, before, profile)
    t.equal(manifest.files.size, 0)
    const asked: string[] = []
    const seen: MemorySource = {
      ...source,
      changes(request, ending) {
        asked.push(request.from === null ? 'listing' : 'differences')
        return source.changes(request, ending)
      },
    }
    const found = await diff(seen, source.commit({ ...before, 'projects/a': '1' }), profile, manifest)
    t.strictSame(asked, [asks], name)
    t.strictSame(files(found.puts.keys()), ['projects/a'], name)
  }
})

void t.test('differences larger than the managed files are replaced by a listing with the same result', async (t) => {
  const [source, profile] = [memorySource(), profileOf([projects])]
  const manifest = await synced(source, { 'projects/a': '1', 'projects/b': '1' }, profile)
  const many = Object.fromEntries(Array.from({ length: 513 }, (_, index) => [`projects/new-${index}`, String(index)]))
  const grown = await diff(source, source.commit({ 'projects/a': '1', ...many }), profile, manifest)
  t.equal(grown.from, 'listing')
  t.strictSame(files(grown.puts.keys()), files(Object.keys(many)))
  t.strictSame([...grown.removed], [['projects/b', 'Owned']])
  const large = after(manifest, source.commit({ 'projects/a': '1', ...many }), grown)
  const changed = Object.fromEntries(Object.keys(many).map((path) => [path, 'changed']))
  t.equal((await diff(source, source.commit({ 'projects/a': '1', ...changed }), profile, large)).from, 'delta', 'as many as are there')
})

void t.test('gateways with a similar number of files request the same differences, so that they share a response', async (t) => {
  const profile = profileOf([projects])
  const asked = async (count: number): Promise<number | undefined> => {
    const source = memorySource()
    const tree = Object.fromEntries(Array.from({ length: count }, (_, index) => [`projects/${index}`, '1']))
    const manifest = await synced(source, tree, profile)
    let most: number | undefined
    const seen: MemorySource = {
      ...source,
      changes(request, ending) {
        most = request.most
        return source.changes(request, ending)
      },
    }
    await diff(seen, source.commit({ ...tree, 'projects/0': '2' }), profile, manifest)
    return most
  }
  t.strictSame(await Promise.all([1, 512, 513, 700, 1_024].map(asked)), [512, 512, 1_024, 1_024, 1_024])
})

void t.test('a whole listing is compared if differences are not reliable or available', async (t) => {
  const [source, profile] = [memorySource(), profileOf([projects])]
  const manifest = await synced(source, { 'projects/a': '1' }, profile)
  const next = source.commit({ 'projects/a': '2' })
  const state = manifest.state as NonNullable<Manifest['state']>
  const rows: [string, Manifest, Profile][] = [
    ['the folder is suspect', { ...manifest, suspectReason: 'a record is damaged' }, profile],
    ['the source does not know the base', { ...manifest, state: { ...state, commit: unknown } }, profile],
    ['no commit was ever whole', { ...manifest, state: { ...state, commit: null } }, profile],
    ['the mappings are others', manifest, profileOf([projects, { source: 'config', destination: 'config', required: false }])],
    ['the exclude patterns are others', manifest, profileOf([projects], { excludePatterns: ['*.bak'] })],
  ]
  for (const [name, given, desired] of rows) {
    const found = await diff(source, next, desired, given)
    t.equal(found.from, 'listing', name)
    t.strictSame(files(found.puts.keys()), ['projects/a'], name)
  }
})

void t.test('a file that only changes its mapping is updated in the manifest and not written', async (t) => {
  const source = memorySource()
  const tree = { 'projects/a': '1', 'config/b': '1' }
  const manifest = await synced(source, tree, profileOf([projects]))
  const both = profileOf([{ source: 'config', destination: 'config' }, projects])
  const found = await diff(source, source.commit(tree), both, manifest)
  t.strictSame(files(found.puts.keys()), ['config/b'])
  matchObject(t, found.moved, [{ path: 'projects/a', owned: { mapping: 1 } }])
})

void t.test('files of a missing optional source stay, and are removed with its mapping', async (t) => {
  const source = memorySource()
  const optional = { ...projects, required: false }
  const manifest = await synced(source, { 'projects/a': '1', 'config/b': '1' }, profileOf([optional]))
  const without = source.commit({ 'config/b': '1' })
  t.equal((await diff(source, without, profileOf([optional]), manifest)).removed.size, 0)
  const others = profileOf([{ source: 'config', destination: 'config' }], { prune: 'None' })
  t.strictSame([...(await diff(source, without, others, manifest)).removed], [['projects/a', 'None']])
})

void t.test('a rendered file is rendered again only if a variable that it uses has changed', async (t) => {
  const source = memorySource()
  const profile = (vars: Record<string, string>): Profile => profileOf([{ ...projects, template: true }], { vars })
  const tree = { 'projects/a': '{{ vars.port }}', 'projects/b': '{{ vars.port }}' }
  const manifest = await synced(source, tree, profile({ port: '1', name: 'x' }))
  const context = templateContext(desiredOf('/nowhere', source.commit(tree), profile({ port: '1', name: 'x' })))
  const uses = [['vars', 'port']]
  for (const [path, owned] of manifest.files) {
    const rendered = { uses, key: renderKey({ template: true, patches: [] }, uses, context), id: owned.id }
    manifest.files.set(path, { ...owned, rendered })
  }
  t.equal((await diff(source, source.commit(tree), profile({ port: '1', name: 'y' }), manifest)).puts.size, 0)
  const found = await diff(source, source.commit(tree), profile({ port: '2', name: 'x' }), manifest)
  t.equal(found.from, 'same')
  t.strictSame(files(found.puts.keys()), ['projects/a', 'projects/b'])
})

void t.test('for any sequence, an applied diff matches the commit, and the next diff is empty', async (t) => {
  const path = fc.tuple(fc.constantFrom('base', 'over', 'extra'), fc.constantFrom('a', 'b', 'c')).map((names) => names.join('/'))
  const trees = fc.array(fc.dictionary(path, fc.constantFrom('1', '2', '3'), { minKeys: 1, maxKeys: 6 }), { minLength: 2, maxLength: 4 })
  const mapping = fc.record({
    source: fc.constantFrom('base', 'over', 'extra'),
    destination: fc.constantFrom('projects', 'config'),
    required: fc.constant(false),
  })
  const profiles = fc.array(mapping, { minLength: 1, maxLength: 3 })
  const seen = { same: 0, delta: 0, listing: 0 }
  await fc.assert(
    fc.asyncProperty(trees, profiles, async (all, mappings) => {
      const [source, profile] = [memorySource(), profileOf(mappings)]
      let manifest = emptyManifest()
      for (const tree of all) {
        const commit = source.commit(tree)
        const found = await diff(source, commit, profile, manifest)
        seen[found.from] += 1
        manifest = after(manifest, commit, found)
        const whole = after(emptyManifest(), commit, await diff(source, commit, profile, emptyManifest()))
        // Files of a missing optional source stay.
        const isKept = ({ mapping: index }: Owned): boolean => found.absent.includes(index)
        for (const [file, owned] of manifest.files) {
          if (whole.files.get(file)?.id !== owned.id && !isKept(owned)) throw new Error(`${file} is not what the commit holds`)
        }
        for (const file of whole.files.keys()) if (!manifest.files.has(file)) throw new Error(`${file} is missing`)
        const again = await diff(source, commit, profile, manifest)
        if (again.from !== 'same' || again.puts.size + again.removed.size > 0) throw new Error('the same commit changes something')
      }
    }),
    { numRuns: 300 },
  )
  t.ok(seen.delta > 20 && seen.listing > 20, JSON.stringify(seen))
})
