/**
 * A commit as validation sees it, with real git: its ordinary files, and the differences from an earlier commit.
 */
import { rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { createValidator } from '../../../../runtime/validation/run/validate-commit.ts'
import type { Difference } from '../../../../runtime/validation/model/listing.ts'
import { resolveProfile } from '../../../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { type CommitHash, parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { validationListing, openListingReader } from '../../../../runtime/git/content/validation-listing.ts'
import { config, resource, root, validTree } from '../../../support/collection-tree.ts'
import { makeRepository, type Repository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(290_000)
const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }

function setUp(t: Test) {
  const repository = makeRepository(temporaryFolder(t, 'mirror-listing'))
  const reader = openListingReader(systemClock)
  t.teardown(reader.objects.end)
  const listing = (commit: string, ...roots: string[]) =>
    validationListing({ folder: path.join(repository.folder, '.git'), limits }, commit as CommitHash, roots.map(parseRelativePath), reader)
  return { repository, listing }
}

async function gathered<Item>(batches: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const items: Item[] = []
  for await (const batch of batches) items.push(...batch)
  return items
}

function idIn(repository: Repository, commit: string, file: string): string {
  return repository.git('rev-parse', `${commit}:${file}`).toString('utf8').trim()
}

void t.test('each changed file is listed once, and a file that is no longer ordinary counts as gone', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, listing } = setUp(t)
  const first = repository.commit({ 'a/same': '1', 'a/changed': '1', 'a/gone': '1', 'a/link': '1', 'a/folder': '1', 'ab/beside': '1' })
  rmSync(path.join(repository.folder, 'a/link'))
  symlinkSync('same', path.join(repository.folder, 'a/link'))
  repository.git('rm', '-q', 'a/folder')
  const second = repository.commit({ 'a/changed': '2', 'a/gone': null, 'a/folder/file é\n.txt': '1', 'ab/beside': '2', b: '2' })
  const told = new Map(
    (await gathered(listing(second, 'a').changesSince(first, signal))).map((each): [string, Difference] => [each.path, each]),
  )
  t.strictSame(Object.fromEntries([...told].map(([name, { gone }]) => [name, gone])), {
    'a/changed': false,
    'a/folder': true,
    'a/folder/file é\n.txt': false,
    'a/gone': true,
    'a/link': true,
  })
  t.equal(told.get('a/changed')?.id, idIn(repository, second, 'a/changed'))
  t.strictSame(await gathered(listing(second, 'a').changesSince(second, signal)), [])
})

void t.test('a comparison with a missing commit fails', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, listing } = setUp(t)
  const head = repository.commit({ a: '1' })
  await t.rejects(gathered(listing(head, '').changesSince('0'.repeat(40), signal)))
})

void t.test('validation of successive commits gives the same verdict as of each commit alone', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, listing } = setUp(t)
  const newValidator = () => createValidator()
  const validator = newValidator()
  const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
    git: { repo: 'https://git.example.com/a.git', ref: 'main' },
    sync: { profiles: { default: { collections: { root } } } },
  })
  const profiles = [resolveProfile(spec.sync, 'default')]
  const core = `${root}/core/ignition`
  const commits = [
    repository.commit(validTree()),
    repository.commit({ [`${core}/tag-provider/line/config.json`]: '{"host":"db.example.com"}' }),
    repository.commit(resource('dev/ignition/cobranding', config({}))),
    repository.commit({ [`${root}/dev/config-mode.json`]: null }),
    repository.commit({ '.clustersync.yaml': 'rules: {host-or-credential-shared: error}', 'elsewhere.txt': 'x' }),
    repository.commit({ [`${core}/system-properties/resource.json`]: '{' }),
  ]
  const counts: unknown[] = []
  for (const hash of [...commits, commits[0] ?? '']) {
    const commit = parseCommitHash(hash)
    const request = { profiles, validation: spec.validation, modesInUse: undefined, commit, line: 'main' }
    const [verdict, alone] = [
      await validator.validate(listing(hash, root, '.clustersync.yaml'), request, signal),
      await newValidator().validate(listing(hash, root, '.clustersync.yaml'), request, signal),
    ]
    t.strictSame(verdict, alone)
    counts.push(verdict.kind === 'checked' ? verdict.errors : verdict.kind)
  }
  t.strictSame(counts, [0, 0, 1, 2, 3, 4, 0])
})
