import fc from 'fast-check'
import t from 'tap'
import { resolveProfile, syncHash, desiredHash } from '../../../../runtime/api/schema/profile.ts'
import { sourceRoots } from '../../../../runtime/api/schema/source-roots.ts'
import type { GatewaySyncSpecInput } from '../../../../runtime/api/schema/spec.ts'
import { matchObject, throwsError } from '../../../support/assertions.ts'
import { specWith } from '../../../support/gatewaysync.ts'

const mapping = (source: string) => ({ source, destination: 'projects' })

function resolve(sync: GatewaySyncSpecInput['sync'], name = 'default') {
  return resolveProfile(specWith({ sync }).sync, name)
}

void t.test('a profile without its own settings has the defaults', async (t) => {
  const choices = { syncPeriod: '60s', drift: 'Restore', prune: 'None', paused: true } as const
  const defaults = { ...choices, vars: { a: '1' }, excludePatterns: ['*.bak'] }
  matchObject(t, resolve({ defaults, profiles: { default: { mappings: [mapping('projects')] } } }), { name: 'default', ...defaults })
})

void t.test("a profile's settings replace the defaults; variables merge by name, and exclude patterns are added", async (t) => {
  const resolved = resolve({
    defaults: { syncPeriod: '60s', dryRun: true, vars: { a: '1', b: '2' }, excludePatterns: ['*.bak'] },
    profiles: {
      default: { mappings: [mapping('projects')], syncPeriod: '5s', dryRun: false, vars: { b: '3', c: '4' }, excludePatterns: ['*.tmp'] },
    },
  })
  matchObject(t, resolved, { syncPeriod: '5s', dryRun: false })
  t.strictSame(resolved.vars, { a: '1', b: '3', c: '4' })
  t.strictSame(resolved.excludePatterns, ['*.bak', '*.tmp'])
})

void t.test('an unknown profile is rejected with the names of the known ones', async (t) => {
  const sync = { profiles: { b: { mappings: [mapping('b')] }, a: { mappings: [mapping('a')] } } }
  for (const name of ['default', 'toString', '']) {
    throwsError(t, () => resolve(sync, name), { reason: 'UnknownProfile', message: /has: a, b$/ }, name)
  }
})

void t.test('the hash of each profile is computed once per spec', async (t) => {
  const read: string[] = []
  const counted = (syncPeriod: string) => {
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
    t.equal(desiredHash(of.observed, name), syncHash(resolveProfile(of.spec.sync, name), of.spec.gateway), name)
    return read.length
  }
  const [first, second] = [counted('5s'), counted('6s')]
  t.ok(readsOf(first, 'a') > 0)
  t.ok(readsOf(first, 'b') > 0, 'another profile')
  t.strictSame([readsOf(first, 'a'), readsOf(first, 'b'), readsOf(first, 'a')], [0, 0, 0])
  t.ok(readsOf(second, 'a') > 0, 'another spec')
})

void t.test('the roots of a profile are its sources and collections without nested ones', async (t) => {
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
    t.strictSame(sourceRoots(resolved), expected, sources.join(', '))
  }
})

void t.test('for any sources each lies within exactly one root, and each root is a source', async () => {
  const source = fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))
  fc.assert(
    fc.property(fc.array(source, { minLength: 1, maxLength: 6 }), (sources) => {
      const roots = sourceRoots(resolve({ profiles: { default: { mappings: sources.map(mapping) } } }))
      const within = (path: string): number => roots.filter((root) => path === root || path.startsWith(`${root}/`)).length
      return sources.every((path) => within(path) === 1) && roots.every((root) => sources.includes(root))
    }),
  )
})
