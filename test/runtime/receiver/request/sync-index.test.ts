import fc from 'fast-check'
import t from 'tap'
import type { NamedRepository } from '../../../../runtime/receiver/payload/parts.ts'
import { type IndexedSync, SyncIndex } from '../../../../runtime/receiver/request/sync-index.ts'

const urlOf = (repository: string): string => `https://git.example/plant/${repository}`
const named = (...urls: string[]): NamedRepository => ({ urls, path: undefined, ignoresCase: true })

const syncName = fc.constantFrom('a', 'b', 'c')
const repository = fc.constantFrom('one', 'two', undefined)
const change = fc.oneof(
  fc.record({ name: syncName, keySource: fc.constantFrom('x', 'y'), repository }),
  fc.record({ name: syncName, keySource: fc.constant(undefined), repository }),
)

void t.test('after any changes the index finds exactly the present GatewaySyncs', async (t) => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const index = new SyncIndex()
      const present = new Map<string, IndexedSync & { keySource: string }>()
      for (const { name, keySource, repository: of } of changes) {
        if (keySource === undefined) {
          index.delete(name)
          present.delete(name)
        } else {
          const sync = { keySource, repository: of === undefined ? undefined : urlOf(of) }
          index.set(name, sync)
          present.set(name, sync)
        }
      }
      const namesOf = (test: (sync: IndexedSync) => boolean) =>
        [...present]
          .filter(([, sync]) => test(sync))
          .map(([name]) => name)
          .toSorted()
      const sources = [...new Set([...present.values()].map(({ keySource }) => keySource))].toSorted()
      t.strictSame([...index.bySource.keys()].toSorted(), sources)
      for (const [source, names] of index.bySource)
        t.strictSame(
          [...names].toSorted(),
          namesOf(({ keySource }) => keySource === source),
          source,
        )
      for (const name of ['a', 'b', 'c']) t.equal(index.keySourceOf(name), present.get(name)?.keySource, name)
      const following = (...repositories: (NamedRepository | undefined)[]) => [...index.following(repositories)].toSorted()
      const one = namesOf(({ repository: url }) => url === undefined || url === urlOf('one'))
      t.strictSame(following(named(urlOf('one'))), one, 'and those whose repository is not known')
      t.strictSame(following(named(urlOf('one')), named(urlOf('one'))), one, 'each once')
      t.strictSame(
        following(named(urlOf('one')), named(urlOf('two'))),
        namesOf(() => true),
      )
      t.strictSame(
        following(named(urlOf('three'))),
        namesOf(({ repository: url }) => url === undefined),
      )
      t.strictSame(
        following(undefined),
        namesOf(() => true),
        'a body that names no repository',
      )
      t.strictSame(
        following(),
        namesOf(({ repository: url }) => url === undefined),
      )
    }),
    { numRuns: 100 },
  )
})
