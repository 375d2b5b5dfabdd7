import { foldName } from '../../../../runtime/api/values.ts'
import fc from 'fast-check'
import t from 'tap'
import { checkCollections } from '../../../../runtime/validation/run/check-root.ts'
import { decidingCollections, effectiveSet, collectionsByName, ancestryIn } from '../../../../runtime/validation/model/inheritance.ts'
import { listingOf } from '../../../../runtime/validation/model/listing.ts'
import { parseMode, parseResource } from '../../../../runtime/validation/model/manifests.ts'
import { compactJson, members, signatureOf } from '../../../../runtime/validation/rules/signature.ts'
import { buildTree, pathsOf } from '../../../../runtime/validation/model/tree.ts'
import { modeJson, root, validTree } from '../../../support/collection-tree.ts'

const signal = new AbortController().signal

const word = fc.constantFrom(
  'a',
  'b',
  'core',
  'external',
  'local',
  'dev',
  'ignition',
  'tag-provider',
  'x%20y',
  'x y',
  'été',
  '.hidden',
  'old.tmp',
  '_unary',
  'a.deleted-1',
)
const fileName = fc.constantFrom('resource.json', 'unary-resource.json', 'config-mode.json', 'config.json', '.gitkeep', 'README.md')
const anyPath = fc.tuple(fc.array(word, { maxLength: 7 }), fileName).map(([folders, file]) => [...folders, file].join('/'))
const anyPaths = fc.uniqueArray(anyPath, { maxLength: 60 })

void t.test('every path is in the tree exactly once, for any order', async () => {
  fc.assert(
    fc.property(anyPaths, fc.constantFrom('', 'a', 'services/config'), fc.infiniteStream(fc.nat()), (paths, root, chance) => {
      const full = paths.map((path) => (root === '' ? path : `${root}/${path}`))
      const entries = full.map((path) => ({ path }))
      const shuffled = entries.map((entry) => ({ entry, at: chance.next().value as number })).toSorted((a, b) => a.at - b.at)
      const tree = buildTree(entries, root)
      const other = buildTree(
        shuffled.map(({ entry }) => entry),
        root,
      )
      const same = (found: readonly string[]): boolean => JSON.stringify([...found].toSorted()) === JSON.stringify(full.toSorted())
      return same(pathsOf(tree)) && same(pathsOf(other)) && tree.collections.length === other.collections.length
    }),
  )
})

void t.test('paths outside the root are ignored', async () => {
  fc.assert(
    fc.property(
      anyPaths,
      (paths) =>
        pathsOf(
          buildTree(
            paths.map((path) => ({ path: `other/${path}` })),
            'root',
          ),
        ).length === 0,
    ),
  )
})

/** Modes with any parents, including cycles, and numbered resources. */
const family = fc
  .uniqueArray(fc.constantFrom('core', 'external', 'local', 'm1', 'm2', 'm3', 'm4'), { minLength: 1 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.record({
          name: fc.constant(name),
          parent: fc.constantFrom('system', 'external', 'core', 'm1', 'm2', 'm3', 'm4', 'gone', 'LOCAL'),
          resources: fc.uniqueArray(fc.integer({ min: 0, max: 5 })),
        }),
      ),
    ),
  )
  .map((collections) => {
    const paths = collections.flatMap(({ name, resources }) => [
      `${name}/config-mode.json`,
      ...resources.map((number) => `${name}/ignition/tag-provider/r${number}/resource.json`),
    ])
    const tree = buildTree(
      paths.map((path) => ({ path })),
      '',
    )
    return collectionsByName(tree, new Map(collections.map(({ name, parent }) => [name, parseMode(Buffer.from(modeJson(name, parent)))])))
  })

void t.test('the nearest collection wins, and the effective set contains only resources of the ancestry', async () => {
  fc.assert(
    fc.property(family, fc.constantFrom('', 'm1', 'm2', 'gone'), (family, mode) => {
      const { names } = ancestryIn(family, mode === '' ? 'core' : mode)
      const holders = (key: string): string[] =>
        names.filter((name) => family.byName.get(name)?.collection.resources.some((resource) => foldName(resource.key) === key) === true)
      const effective = effectiveSet(family, mode)
      const expected = new Set(
        names.flatMap((name) => (family.byName.get(name)?.collection.resources ?? []).map(({ key }) => foldName(key))),
      )
      return (
        effective.size === expected.size &&
        [...effective].every(([key, { collection, overrides }]) => {
          const [winner, ...others] = holders(key)
          return (
            foldName(collection.name) === winner && JSON.stringify(overrides.map(({ name }) => foldName(name))) === JSON.stringify(others)
          )
        })
      )
    }),
  )
})

void t.test('adding a resource to the mode changes only that resource of the effective set', async () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5 }), fc.uniqueArray(fc.integer({ min: 0, max: 5 })), (added, present) => {
      const build = (mode: readonly number[]) => {
        const paths = [
          ...['core', 'dev'].map((name) => `${name}/config-mode.json`),
          ...present.map((number) => `core/ignition/tag-provider/r${number}/resource.json`),
          ...mode.map((number) => `dev/ignition/tag-provider/r${number}/resource.json`),
        ]
        const tree = buildTree(
          paths.map((path) => ({ path })),
          '',
        )
        const set = effectiveSet(collectionsByName(tree, new Map()), 'dev')
        return new Map([...set].map(([key, { collection }]) => [key, collection.name]))
      }
      const before = build([])
      const after = build([added])
      const key = `ignition/tag-provider/r${added}`
      before.set(key, 'dev')
      return before.size === after.size && [...before].every(([name, collection]) => after.get(name) === collection)
    }),
  )
})

void t.test('local is never a deciding collection, core and external always are, and cycles end', async () => {
  fc.assert(
    fc.property(family, fc.option(fc.array(fc.constantFrom('m1', 'm2', 'local', 'gone')), { nil: undefined }), (family, modes) => {
      const deciding = decidingCollections(family, modes)
      return deciding.has('core') && deciding.has('external') && !deciding.has('local')
    }),
  )
})

const anyBytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.json().map((text) => Buffer.from(text)),
  fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  fc
    .constantFrom('[', '{"files":[1]}', '{"attributes":[]}', '{"files":["../../x"],"attributes":{}}', '\uFEFF{}', 'null', '"x"')
    .map((text) => Buffer.from(text)),
  fc.constant(Buffer.from('['.repeat(100_000) + ']'.repeat(100_000))),
  fc.constant(Buffer.from(`{"attributes":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`)),
)

void t.test('any bytes in a manifest give findings and no exception', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyBytes, anyBytes, anyBytes, async (mode, resource, config) => {
      parseMode(mode)
      parseResource(resource)
      const files: Record<string, string | Uint8Array> = {
        ...validTree(),
        [`${root}/dev/config-mode.json`]: mode,
        [`${root}/core/ignition/system-properties/resource.json`]: resource,
        [`${root}/dev/ignition/system-properties/resource.json`]: resource,
        [`${root}/core/ignition/system-properties/config.json`]: config,
      }
      const { findings } = await checkCollections(listingOf(files), { root }, signal)
      return findings.every(({ path }) => path.startsWith(root))
    }),
    { numRuns: 200 },
  )
  t.pass()
})

void t.test('compact JSON keeps its meaning and its members', async () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, '\t'), (value, indent) => {
      const compact = compactJson(JSON.stringify(value, undefined, indent))
      const found = Object.fromEntries([...members(compact)].map(([name, text]) => [name, JSON.parse(text) as unknown]))
      return compact === JSON.stringify(value) && JSON.stringify(found) === JSON.stringify({ ...value })
    }),
  )
})

void t.test('the signature changes with every signed part, and with nothing else', async () => {
  const manifest = { scope: 'A', version: 1, restricted: false, overridable: true, files: ['a.txt'], attributes: { uuid: 'u' } }
  const sign = (changes: object, content = 'c1'): string | undefined =>
    signatureOf(JSON.stringify({ ...manifest, ...changes }), () => content)
  const usual = sign({})
  fc.assert(
    fc.property(
      fc.constantFrom<object>(
        { scope: 'G' },
        { version: 2 },
        { restricted: true },
        { overridable: false },
        { description: 'x' },
        { files: ['b.txt'] },
        { attributes: { uuid: 'v' } },
        { attributes: {} },
      ),
      (change) => sign(change) !== usual,
    ),
  )
  fc.assert(fc.property(fc.string({ minLength: 3 }), (content) => (sign({}, content) === usual) === (content === 'c1')))
  fc.assert(
    fc.property(
      fc.string(),
      (text) => sign({ attributes: { uuid: 'u', lastModificationSignature: text } }) === usual && sign({ other: text }) === usual,
    ),
  )
})
