/**
 * Tests that validation and agents interpret a profile the same way: for random trees, profiles and modes, agents deliver exactly the
 * validated files.
 */
import fc from 'fast-check'
import t from 'tap'
import * as v from 'valibot'
import { deliveredChain } from '../../../../runtime/validation/model/delivered-chain.ts'
import { coveragesOf, validatedRoots } from '../../../../runtime/validation/run/coverage.ts'
import { baseCollections } from '../../../../runtime/validation/model/inheritance.ts'
import { type ParsedMode, parseMode } from '../../../../runtime/validation/model/manifests.ts'
import { resolveProfile, type ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { foldName, isWithin, parseRelativePath } from '../../../../runtime/api/values.ts'
import { destinationOf, resolveMappings } from '../../../../runtime/sync/desired/mappings.ts'
import { isForbidden } from '../../../../runtime/sync/model/paths.ts'
import { modeJson } from '../../../support/collection-tree.ts'

const root = 'services/config/resources'
const collection = fc.constantFrom('external', 'core', 'Core', 'dev', 'Dev', 'site', 'prod', 'local', 'LOCAL', 'empty')
const parent = fc.constantFrom('system', 'external', 'core', 'dev', 'site', 'prod', 'gone', undefined)
const below = fc.constantFrom(
  'ignition/schedule/a/resource.json',
  'ignition/schedule/a/.gitkeep',
  'ignition/.resources/0a',
  'ignition/.Resources/0b',
  'ignition/db.idb',
  'a.txt',
)
const file = fc.oneof(
  fc.tuple(collection, below).map(([name, rest]) => `${root}/${name}/${rest}`),
  fc.constantFrom('services/projects/a/project.json', 'services/projects/a.idb', 'modules.json', `${root}/loose.json`, 'services/config/x'),
)
const exclude = fc.constantFrom('a.txt', '**/*.json', 'ignition/schedule/**', 'project.json', '*')
const mapping = fc.record(
  {
    source: fc.constantFrom('services', 'services/projects', 'modules.json', 'services/projects/a/project.json', `${root}/prod`, '.'),
    type: fc.constantFrom('Directory' as const, 'File' as const),
    excludePatterns: fc.array(exclude, { maxLength: 2 }),
  },
  { requiredKeys: ['source', 'type'] },
)
const profile = fc
  .record({
    collections: fc.option(fc.constant({ root }), { nil: undefined }),
    mappings: fc.array(mapping, { maxLength: 3 }),
    excludePatterns: fc.array(exclude, { maxLength: 1 }),
  })
  .filter(({ collections, mappings }) => collections !== undefined || mappings.length > 0)

function resolved({
  collections,
  mappings,
  excludePatterns,
}: typeof profile extends fc.Arbitrary<infer Value> ? Value : never): ResolvedProfile {
  const written = mappings.map((each, index) => ({ ...each, destination: `data-${index}/x` }))
  const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
    git: { repo: 'https://git.example.com/a.git', ref: 'main' },
    sync: { profiles: { default: { ...(collections && { collections }), mappings: written, excludePatterns } } },
  })
  return resolveProfile(spec.sync, 'default')
}

/** Returns the files that an agent of a gateway with this mode writes, as repository paths. */
function brought(
  { collections, ...profile }: ResolvedProfile,
  mode: string,
  modes: ReadonlyMap<string, ParsedMode>,
  files: readonly string[],
): string[] {
  const { chain } = collections === undefined ? { chain: [] } : deliveredChain(mode, modes, [])
  const mappings = resolveMappings({ collections, ...profile }, chain, (text) => text)
  return files.filter((path) =>
    mappings.some((each) => {
      const destination = destinationOf(each, parseRelativePath(path))
      return destination !== undefined && !isForbidden(destination)
    }),
  )
}

void t.test('the agents of all modes together deliver exactly the files that validation covers', async () => {
  fc.assert(
    fc.property(
      profile,
      fc.uniqueArray(file, { maxLength: 12 }),
      fc.uniqueArray(fc.tuple(collection, parent), { maxLength: 6, selector: ([name]) => name }),
      (someProfile, paths, manifests) => {
        const profile = resolved(someProfile)
        const modes = new Map<string, ParsedMode>(
          manifests.map(([name, of]) => [name, parseMode(Buffer.from(of === undefined ? '{' : modeJson(name, of)))]),
        )
        const files = [...new Set([...paths, ...manifests.map(([name]) => `${root}/${name}/config-mode.json`)])]
        const listed = files.filter((path) => validatedRoots([profile]).some((top) => isWithin(path, top)))
        const expected = new Set(listed.filter((path) => coveragesOf([profile]).some(({ delivered }) => delivered(path))))
        const names = new Set(files.map((path) => path.slice(root.length + 1).split('/')[0] ?? ''))
        const all = new Set(['', ...names].flatMap((mode) => brought(profile, mode, modes, files)))
        // Of two folders whose names differ only in case, the gateway and its agent read one; validation reports the other as an error.
        const folderOf = (path: string): string => (path.startsWith(`${root}/`) ? (path.slice(root.length + 1).split('/')[0] ?? '') : '')
        const twice = (path: string): boolean =>
          [...names].some((name) => name !== folderOf(path) && foldName(name) === foldName(folderOf(path)))
        // A base collection in another spelling counts only if its manifest says so; validation reports what is missing.
        const nameless = (path: string): boolean => {
          const folder = folderOf(path)
          return !modes.has(folder) && baseCollections.includes(foldName(folder)) && !baseCollections.includes(folder)
        }
        const missing = [...expected].filter((path) => !all.has(path) && !twice(path) && !nameless(path))
        const beyond = [...all].filter((path) => !expected.has(path))
        return missing.length === 0 && beyond.length === 0
      },
    ),
    { numRuns: 2_000 },
  )
})
