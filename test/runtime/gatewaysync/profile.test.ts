import fc from 'fast-check'
import t from 'tap'
import { resolveProfile, syncHash, wantedHash } from '../../../runtime/gatewaysync/decide/profile.ts'
import { sourceRoots } from '../../../runtime/gatewaysync/decide/source-roots.ts'
import type { GatewaySyncSpecInput } from '../../../runtime/gatewaysync/schema/spec.ts'
import { specWith } from '../../support/gatewaysync.ts'

const mapping = (source: string) => ({ source, destination: 'projects' })

function resolve(sync: GatewaySyncSpecInput['sync'], name = 'default') {
  return resolveProfile(specWith({ sync }).sync, name)
}

void t.test('a profile without settings of its own has those of the defaults', async (t) => {
  const choices = { syncPeriod: 60, drift: 'restore', prune: 'none', paused: true } as const
  const defaults = { ...choices, vars: { a: '1' }, excludePatterns: ['*.bak'] }
  t.match(resolve({ defaults, profiles: { default: { mappings: [mapping('projects')] } } }), { name: 'default', ...defaults })
})

void t.test('what a profile sets replaces the default; variables go by name, and exclude patterns add up', async (t) => {
  const resolved = resolve({
    defaults: { syncPeriod: 60, dryRun: true, vars: { a: '1', b: '2' }, excludePatterns: ['*.bak'] },
    profiles: {
      default: { mappings: [mapping('projects')], syncPeriod: 5, dryRun: false, vars: { b: '3', c: '4' }, excludePatterns: ['*.tmp'] },
    },
  })
  t.match(resolved, { syncPeriod: 5, dryRun: false })
  t.same(resolved.vars, { a: '1', b: '3', c: '4' })
  t.same(resolved.excludePatterns, ['*.bak', '*.tmp'])
})

void t.test('a profile that does not exist is refused with the names of those that do', async (t) => {
  const sync = { profiles: { b: { mappings: [mapping('b')] }, a: { mappings: [mapping('a')] } } }
  for (const name of ['default', 'toString', '']) {
    t.throws(() => resolve(sync, name), { reason: 'UnknownProfile', message: /has: a, b$/ }, name)
  }
})

void t.test('the hash of each profile is made once for a spec, however often it is asked for, and anew for another spec', async (t) => {
  const read: string[] = []
  const counted = (syncPeriod: number) => {
    const spec = specWith({ sync: { profiles: { a: { mappings: [mapping('a')], syncPeriod }, b: { mappings: [mapping('b')] } } } })
    const profiles = new Proxy(spec.sync.profiles, {
      get(target, name, receiver) {
        read.push(String(name))
        return Reflect.get(target, name, receiver) as unknown
      },
    })
    return { spec, observed: { ...spec, sync: { ...spec.sync, profiles } } }
  }
  const readsOf = (of: ReturnType<typeof counted>, name: string): number => {
    read.length = 0
    t.equal(wantedHash(of.observed, name), syncHash(resolveProfile(of.spec.sync, name), of.spec.gateway), name)
    return read.length
  }
  const [first, second] = [counted(5), counted(6)]
  t.ok(readsOf(first, 'a') > 0)
  t.ok(readsOf(first, 'b') > 0, 'another profile')
  t.same([readsOf(first, 'a'), readsOf(first, 'b'), readsOf(first, 'a')], [0, 0, 0])
  t.ok(readsOf(second, 'a') > 0, 'another spec')
})

void t.test('the roots of a profile are its sources and collections, without what lies below another', async (t) => {
  const rows: [readonly string[], string | undefined, string[]][] = [
    [['projects', 'config'], undefined, ['config', 'projects']],
    [['projects', 'projects/a', 'projects-2'], undefined, ['projects', 'projects-2']],
    [['projects/'], 'services/collections', ['projects', 'services/collections']],
    [['services/collections/dev'], 'services', ['services']],
    [['sites/{{ gateway.name }}/projects'], undefined, ['sites']],
    [['sites/plant-{{ vars.plant }}'], undefined, ['sites']],
    [['{{ vars.folder }}/projects', 'config'], undefined, ['']],
    [['a/{% if vars.x %}b{% endif %}'], undefined, ['a']],
  ]
  for (const [sources, root, expected] of rows) {
    const collections = root === undefined ? {} : { collections: { root } }
    const resolved = resolve({ profiles: { default: { mappings: sources.map(mapping), ...collections } } })
    t.same(sourceRoots(resolved), expected, sources.join(', '))
  }
})

void t.test('whatever the sources are: each lies within exactly one root, and each root is a source', async () => {
  const source = fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
  fc.assert(
    fc.property(fc.array(source, { minLength: 1, maxLength: 6 }), (sources) => {
      const roots = sourceRoots(resolve({ profiles: { default: { mappings: sources.map(mapping) } } }))
      const within = (path: string): number => roots.filter((root) => path === root || path.startsWith(`${root}/`)).length
      return sources.every((path) => within(path) === 1) && roots.every((root) => sources.includes(root))
    }),
  )
})
