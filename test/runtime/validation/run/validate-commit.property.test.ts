/**
 * Tests incremental validation: a commit validated by its changes since an earlier one gets the same verdict as on its own.
 */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import * as v from 'valibot'
import { createValidator, type Validator } from '../../../../runtime/validation/run/validate-commit.ts'
import { buffersOf } from '../../../../runtime/validation/run/snapshot.ts'
import type { VersionedListing } from '../../../../runtime/validation/model/listing.ts'
import type { Verdict } from '../../../../runtime/reconcile/decide/observation.ts'
import { resolveProfile } from '../../../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import type { ValidationRequest } from '../../../../runtime/validation/run/coverage.ts'
import {
  embedded,
  pages,
  perspective,
  projectJson,
  projectResource,
  projectRoot,
  validProjects,
  view,
} from '../../../support/project-tree.ts'
import { commitListing, config, type Files, modeJson, resource, root, validTree } from '../../../support/collection-tree.ts'

const signal = new AbortController().signal

const profiles = {
  collections: { collections: { root } },
  mapped: { mappings: [{ source: '.', destination: 'x', excludePatterns: ['**/security-levels'] }] },
  projects: { mappings: [{ source: 'services/projects', destination: 'projects' }] },
  whole: { mappings: [{ source: '.', destination: 'projects/line' }] },
  templated: { mappings: [{ source: 'services/config', destination: 'config', template: true }] },
}
type ProfileName = keyof typeof profiles

const collection = fc.constantFrom('external', 'core', 'dev', 'prod', 'Dev', 'local', 'site')
const place = fc.constantFrom(
  'ignition/system-properties',
  'ignition/security-levels',
  'ignition/database-connection/historian',
  'ignition/tag-definition/line',
  'ignition/tag-definition/line/Area',
  'ignition/quickstart',
)
const settings = fc.constantFrom({}, { host: 'db.example.com' }, { password: 'x' }, { url: 'jdbc:postgresql://db.example.com/a' })

/** The changes of one commit, which adds, changes or removes files. */
type Change = (files: Files) => Files

const whole = fc.tuple(collection, place, settings, fc.boolean()).map(([name, folder, value, overridable]): Change => {
  return (files) => ({ ...files, ...resource(`${name}/${folder}`, config(value), { more: { overridable } }) })
})
const copy = fc.tuple(collection, collection, place).map(([from, to, folder]): Change => {
  return (files) => {
    const found = Object.entries(files).filter(([path]) => path.startsWith(`${root}/${from}/${folder}/`))
    return { ...files, ...Object.fromEntries(found.map(([path, text]) => [path.replace(`/${from}/`, `/${to}/`), text])) }
  }
})
/** A resource of core and its override, which may be forbidden or identical. */
const pair = fc.tuple(place, settings, settings, fc.boolean()).map(([folder, below, above, overridable]): Change => {
  const base = resource(`core/${folder}`, config(below), { more: { overridable } })
  return (files) => ({ ...files, ...base, ...resource(`dev/${folder}`, config(above)) })
})
const manifest = fc.tuple(collection, fc.constantFrom('core', 'dev', 'prod', 'gone', 'system')).map(([name, parent]): Change => {
  return (files) => ({ ...files, [`${root}/${name}/config-mode.json`]: modeJson(name, parent) })
})
const oneFile = fc
  .tuple(
    collection,
    place,
    fc.constantFrom('config.json', 'resource.json', 'unary-resource.json', 'extra.txt', '.gitkeep'),
    fc.constantFrom('{', '{}', 'x'),
  )
  .map(([name, folder, file, text]): Change => {
    return (files) => ({ ...files, [`${root}/${name}/${folder}/${file}`]: text })
  })
const elsewhere = fc
  .constantFrom(
    'README.md',
    'services/projects/a/project.json',
    'other/config/resources/core/a.txt',
    'services/projects/x/core/config-mode.json',
  )
  .map((path): Change => (files) => ({ ...files, [path]: '{}' }))
/** The projects of a plant in the folder of the profile `projects`. */
const inServices = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path.replace(projectRoot, 'services/projects'), content]))
/** A repository that is itself a project of the plant. */
const atTop = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path.replace(/^data\/projects\/[^/]+\//, ''), content]))
const project = fc.constantFrom('base', 'line-a', 'line-c')
const ofProject = fc
  .oneof(
    fc.tuple(project, fc.constantFrom('Overview', 'Pump', 'Gone')).map(([name, path]) => pages(name, path)),
    fc
      .tuple(project, fc.constantFrom('Overview', 'Pump'), fc.constantFrom('Pump', 'Gone'))
      .map(([name, own, other]) => view(`${name}/${perspective}/views/${own}`, embedded(other))),
    fc
      .tuple(project, fc.constantFrom('', 'base', 'gone', 'line-a'), fc.boolean())
      .map(([name, parent, inheritable]) => ({ [`${projectRoot}/${name}/project.json`]: projectJson(name, parent, { inheritable }) })),
    fc
      .tuple(project, fc.constantFrom('a = 1\n', 'a = (1\n'))
      .map(([name, code]) => projectResource(`${name}/ignition/script-python/sums`, { 'code.py': code })),
  )
  .chain((changed) => fc.constantFrom(inServices(changed), atTop(changed)))
  .map((changed): Change => (files) => ({ ...files, ...changed }))
const ownSettings = fc
  .constantFrom('rules: {host-or-credential-shared: error}', 'rules: {nope: off}', '{')
  .map((text): Change => (files) => ({ ...files, '.clustersync.yaml': text }))
const removal = fc.tuple(fc.nat(), fc.boolean()).map(([at, isFolder]): Change => {
  return (files) => {
    const paths = Object.keys(files).toSorted()
    const path = paths[at % paths.length] ?? ''
    const below = isFolder ? path.slice(0, path.lastIndexOf('/') + 1) : path
    return Object.fromEntries(Object.entries(files).filter(([each]) => !(each === path || (below !== '' && each.startsWith(below)))))
  }
})
const changes = fc.array(
  fc.array(fc.oneof(whole, copy, pair, manifest, oneFile, oneFile, elsewhere, ofProject, ofProject, ownSettings, removal, removal), {
    maxLength: 3,
  }),
  {
    minLength: 2,
    maxLength: 8,
  },
)

const modes = fc.option(fc.subarray(['dev', 'prod', 'site']), { nil: undefined })

function request(names: readonly ProfileName[], modesInUse: string[] | undefined, commit: string): ValidationRequest {
  const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
    git: { repo: 'https://git.example.com/a.git', ref: 'main' },
    sync: { profiles: Object.fromEntries(names.map((name) => [name, profiles[name]])) },
  })
  const resolved = names.map((name) => resolveProfile(spec.sync, name))
  return { profiles: resolved, validation: spec.validation, modesInUse, commit: parseCommitHash(commit), line: 'main' }
}

function commitsOf(start: Files, steps: readonly (readonly Change[])[]): Map<string, Files> {
  const commits = new Map<string, Files>()
  let files = start
  for (const [index, step] of [[], ...steps].entries()) {
    for (const change of step) files = change(files)
    commits.set(createHash('sha1').update(String(index)).digest('hex'), files)
  }
  return commits
}

void t.test('incremental validation gives the same verdict as full validation', async (t) => {
  const kinds = new Set<string>()
  await fc.assert(
    fc.asyncProperty(
      changes,
      fc.subarray(Object.keys(profiles) as ProfileName[], { minLength: 1 }),
      fc.infiniteStream(modes),
      fc.infiniteStream(fc.nat({ max: 2 })),
      async (steps, names, inUse, base) => {
        const commits = commitsOf({ ...validTree(), ...inServices(validProjects()) }, steps)
        let validator = createValidator()
        const hashes = [...commits.keys()]
        for (const [index, hash] of hashes.entries()) {
          // Sometimes an older commit returns, as after a rollback.
          const expected = base.next().value === 0 ? (hashes[Math.floor(index / 2)] ?? hash) : hash
          // Sometimes another thread takes over.
          if (base.next().value === 0) validator = successor(validator)
          const asked = request(names, inUse.next().value, expected)
          const listing = commitListing(commits, expected)
          const [now, alone] = [await validator.validate(listing, asked, signal), await createValidator().validate(listing, asked, signal)]
          for (const rule of rulesOf(alone)) kinds.add(rule)
          if (JSON.stringify(now) !== JSON.stringify(alone)) return false
        }
        return true
      },
    ),
    { numRuns: 150 },
  )
  for (const rule of [
    'override-identical',
    'override-forbidden',
    'host-or-credential-shared',
    'invalid-resource-json',
    'unlisted-file',
    'unknown-view',
  ]) {
    t.ok(kinds.has(rule), rule)
  }
})

/** Returns validation in another thread that takes over the state of the given one. */
function successor(validator: Validator): Validator {
  const memory = validator.handOver()
  return createValidator(structuredClone(memory, { transfer: buffersOf(memory) }))
}

/** Counts reads and listings. */
function watched(listing: VersionedListing): { listing: VersionedListing; lists: () => number; read: string[] } {
  let lists = 0
  const read: string[] = []
  return {
    lists: () => lists,
    read,
    listing: {
      ...listing,
      async *list(own) {
        lists += 1
        yield* listing.list(own)
      },
      async read(entries, sink, own) {
        read.push(...entries.map(({ path }) => path.slice(root.length + 1)))
        await listing.read(entries, sink, own)
      },
    },
  }
}

async function second(
  validator: Validator,
  commits: ReadonlyMap<string, Files>,
  names: readonly ProfileName[],
  next = (same: Validator) => same,
) {
  const [before = '', after = ''] = [...commits.keys()]
  await validator.validate(commitListing(commits, before), request(names, undefined, before), signal)
  const seen = watched(commitListing(commits, after))
  const verdict = await next(validator).validate(seen.listing, request(names, undefined, after), signal)
  return { ...seen, verdict }
}

for (const [who, next] of [
  ['', undefined],
  [', also by a validator that took over', successor],
] as const) {
  void t.test(`of a changed resource only its own files are read, and nothing is listed${who}`, async (t) => {
    const change: Change = (files) => ({ ...files, [`${root}/core/ignition/tag-provider/line/config.json`]: '{"host":"db.example.com"}' })
    const { lists, read, verdict } = await second(createValidator(), commitsOf(validTree(), [[change]]), ['collections'], next)
    t.equal(lists(), 0)
    t.strictSame(read.filter((path) => !path.endsWith('config-mode.json')).toSorted(), [
      'core/ignition/tag-provider/line/config.json',
      'core/ignition/tag-provider/line/resource.json',
      // The file of the finding, for its line.
      'core/ignition/tag-provider/line/resource.json',
    ])
    t.strictSame(rulesOf(verdict).toSorted(), ['host-or-credential-shared', 'stale-signature'])
  })
}

void t.test('a validated commit is not read again after a handover', async (t) => {
  const commits = commitsOf(validTree(), [[]])
  const [commit = ''] = [...commits.keys()]
  const asked = request(['collections'], undefined, commit)
  const validator = createValidator()
  const verdict = await validator.validate(commitListing(commits, commit), asked, signal)
  const seen = watched(commitListing(commits, commit))
  t.strictSame(await successor(validator).validate(seen.listing, asked, signal), verdict)
  t.strictSame([seen.lists(), seen.read], [0, []])
})

void t.test('a changed resource is read together with its overrides', async (t) => {
  const change: Change = (files) => ({ ...files, ...resource('core/ignition/system-properties', config({ systemName: 'plant-dev' })) })
  const { read, verdict } = await second(createValidator(), commitsOf(validTree(), [[change]]), ['collections'])
  t.ok(read.includes('dev/ignition/system-properties/config.json'))
  t.strictSame(rulesOf(verdict), ['override-identical'])
})

void t.test('the first override of a resource is read together with that resource', async (t) => {
  const change: Change = (files) => ({ ...files, ...resource('dev/ignition/security-levels', config({ levels: [] })) })
  const { read, verdict } = await second(createValidator(), commitsOf(validTree(), [[change]]), ['collections'])
  t.ok(read.includes('core/ignition/security-levels/config.json'))
  t.strictSame(rulesOf(verdict), ['override-identical'])
})

void t.test('a commit without collections is neither listed nor read again', async (t) => {
  const files = { 'services/projects/a/project.json': '{}' }
  const change: Change = (before) => ({ ...before, 'services/projects/a/project.json': '{"title":"A"}' })
  const { lists, read, verdict } = await second(createValidator(), commitsOf(files, [[change]]), ['projects'])
  t.strictSame([lists(), read, verdict], [0, [], { kind: 'notChecked' }])
})

void t.test('for a changed view only its own files are read, and the views that embed it are validated again', async (t) => {
  const change: Change = (files) => ({ ...files, ...inServices(pages('line-b', 'Gone')) })
  const { lists, read, verdict } = await second(createValidator(), commitsOf(inServices(validProjects()), [[change]]), ['projects'])
  t.equal(lists(), 0)
  t.equal(read.length, 2)
  t.strictSame(rulesOf(verdict), ['unknown-view'])
  const gone: Change = (files) => Object.fromEntries(Object.entries(files).filter(([path]) => !path.includes('/views/Pump/')))
  const later = await second(createValidator(), commitsOf(inServices(validProjects()), [[gone]]), ['projects'])
  t.strictSame(rulesOf(later.verdict), ['unknown-view'])
})

void t.test('without the earlier commit everything is validated', async (t) => {
  const commits = commitsOf(validTree(), [[(files) => ({ ...files, ...resource('dev/ignition/cobranding', config({})) })]])
  const [before = '', after = ''] = [...commits.keys()]
  const validator = createValidator()
  await validator.validate(commitListing(commits, before), request(['collections'], undefined, before), signal)
  commits.delete(before)
  t.strictSame(rulesOf(await validator.validate(commitListing(commits, after), request(['collections'], undefined, after), signal)), [
    'singleton-only-in-mode',
  ])
})

function rulesOf(verdict: Verdict): string[] {
  return verdict.kind === 'notChecked' ? [] : verdict.items.map(({ rule }) => rule)
}
