/**
 * The configuration hash that controller and agent compare across releases: a new field does not change it until the field is set.
 */
import fc from 'fast-check'
import t from 'tap'
import * as v from 'valibot'
import { resolveProfile, syncHash } from '../../../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec, type GatewaySyncSpecInput } from '../../../../runtime/api/schema/spec.ts'
import { unknownMembers, withoutDefaults } from '../../../../runtime/api/without-defaults.ts'

type Sync = GatewaySyncSpecInput['sync']

function hashOf(sync: Sync, gateway: GatewaySyncSpecInput['gateway'] = {}, profile = 'default'): string {
  const git = { repo: 'https://git.example/plant.git', ref: 'main' }
  const spec = v.parse(gatewaySyncSpec({ allowLocal: false }), { git, sync, gateway })
  return syncHash(resolveProfile(spec.sync, profile), spec.gateway)
}

const mapping = { source: 'projects', destination: 'projects' }
const plain: Sync = { profiles: { default: { mappings: [mapping] } } }

void t.test('the hash of a known configuration never changes, because agents run as long as their pods', async (t) => {
  t.equal(hashOf(plain), 'v1-970bddb67ebdd3065b2697c314b3ee2892db7d0da6c801344f7b06307b2faec8')
})

void t.test('an omitted field, an explicit default and a default of the API server give the same hash', async (t) => {
  const defaults = { syncPeriod: '30s', drift: 'Report', startPolicy: 'Block', startDeadline: '10m' } as const
  t.equal(hashOf({ ...plain, defaults }), hashOf(plain))
  t.equal(
    hashOf({ profiles: { default: { mappings: [{ ...mapping, type: 'Directory', required: true, template: false }], paused: false } } }),
    hashOf(plain),
  )
  t.equal(hashOf(plain, { tls: false }), hashOf(plain))
})

void t.test('any field that is set changes the hash', async (t) => {
  const seen = new Map([[hashOf(plain), 'the defaults']])
  const rows: Record<string, string> = {
    period: hashOf({ ...plain, defaults: { syncPeriod: '60s' } }),
    drift: hashOf({ ...plain, defaults: { drift: 'Restore' } }),
    vars: hashOf({ ...plain, defaults: { vars: { a: '1' } } }),
    template: hashOf({ profiles: { default: { mappings: [{ ...mapping, template: true }] } } }),
    port: hashOf(plain, { port: 9088 }),
    collections: hashOf({ profiles: { default: { mappings: [mapping], collections: { root: 'c' } } } }),
    mode: hashOf({ profiles: { default: { mappings: [mapping], collections: { root: 'c', mode: 'dev' } } } }),
    name: hashOf({ profiles: { other: { mappings: [mapping] } } }, {}, 'other'),
  }
  for (const [name, hash] of Object.entries(rows)) {
    t.equal(seen.get(hash), undefined, name)
    seen.set(hash, name)
  }
})

void t.test('a field that a later release adds with a default does not change the hash until it is set', async () => {
  const today = v.object({ a: v.optional(v.number(), 1), inner: v.optional(v.object({ b: v.optional(v.string(), 'x') }), {}) })
  const later = v.object({
    ...today.entries,
    inner: v.optional(v.object({ b: v.optional(v.string(), 'x'), c: v.optional(v.array(v.string()), []) }), {}),
    list: v.optional(v.array(v.object({ d: v.optional(v.boolean(), true) })), []),
    of: v.optional(v.record(v.string(), v.object({ e: v.optional(v.number(), 5) })), {}),
  })
  const document = fc.record(
    { a: fc.integer({ min: 0, max: 3 }), inner: fc.record({ b: fc.constantFrom('x', 'y') }, { requiredKeys: [] }) },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(document, (given) => {
      const before = JSON.stringify(withoutDefaults(today, v.parse(today, given)))
      const after = JSON.stringify(withoutDefaults(later, v.parse(later, given)))
      return before === after
    }),
  )
})

void t.test('unknown fields are named by their path', async (t) => {
  const schema = v.object({ a: v.optional(v.object({ b: v.number() })), list: v.array(v.object({ c: v.string() })), any: v.unknown() })
  const document = { a: { b: 1, new: {} }, list: [{ c: 'x' }, { c: 'y', more: 1 }], any: { thing: 1 }, other: 2 }
  t.strictSame(unknownMembers(schema, document), ['a.new', 'list[1].more', 'other'])
})
