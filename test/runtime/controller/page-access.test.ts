/**
 * What somebody may see and do: how the API server is asked, how often, and for how long an answer holds.
 */
import t from 'tap'
import { createPageAccess } from '../../../runtime/controller/page/page-access.ts'

type Review = {
  spec: { user: string; groups: string[]; resourceAttributes: { namespace: string; verb: string; group: string; resource: string } }
}

/** An API server that lets people into the given namespaces, `''` for all. */
function access(allowed: Record<string, string[]>) {
  const asked: Review['spec'][] = []
  let nowMs = 0
  let away = false
  const { sees, may, mayNow } = createPageAccess({
    clock: { monotonicMs: () => nowMs },
    async post(_path, body) {
      if (away) throw new Error('away')
      const { spec } = body as Review
      asked.push(spec)
      return { status: { allowed: allowed[spec.user]?.includes(spec.resourceAttributes.namespace) === true } }
    },
  })
  return { sees, may, mayNow, asked, pass: (ms: number) => (nowMs += ms), allowed, setAway: (is: boolean) => (away = is) }
}

const ann = { name: 'ann', groups: ['line', 'system:authenticated'] }

void t.test('one who may list everywhere is asked about once', async (t) => {
  const { sees, asked } = access({ ann: [''] })
  t.same(await sees(ann, ['north', 'south']), new Set(['north', 'south']))
  t.same(await sees(ann, ['north', 'west']), new Set(['north', 'west']))
  const resourceAttributes = { namespace: '', verb: 'list', group: 'clustersync.io', resource: 'gatewaysyncs' }
  t.same(asked, [{ user: 'ann', groups: ann.groups, resourceAttributes }])
})

void t.test('else each namespace is asked about once, and a new one when it comes', async (t) => {
  const { sees, asked } = access({ ann: ['north'] })
  const many = Array.from({ length: 20 }, (_, index) => `plant-${index}`)
  t.same(await sees(ann, ['north', ...many]), new Set(['north']))
  t.equal(asked.length, 22)
  t.same(await sees(ann, ['north', 'west', ...many]), new Set(['north']))
  t.equal(asked.length, 23)
})

void t.test('a right that is taken away is gone when the answer is no longer kept, and groups make another person', async (t) => {
  const { sees, pass, allowed, asked } = access({ ann: ['north'] })
  await sees(ann, ['north'])
  allowed['ann'] = []
  pass(29_000)
  t.same(await sees(ann, ['north']), new Set(['north']))
  t.same(await sees({ ...ann, groups: [] }, ['north']), new Set())
  pass(1_001)
  t.same(await sees(ann, ['north']), new Set())
  t.equal(asked.length, 6)
})

void t.test('while the API server is away nobody is said to see anything, and afterwards it is asked again', async (t) => {
  const { sees, setAway } = access({ ann: ['north'] })
  setAway(true)
  await t.rejects(sees(ann, ['north']))
  setAway(false)
  t.same(await sees(ann, ['north']), new Set(['north']))
})

void t.test('so many people are remembered, and no more', async (t) => {
  const { sees, asked } = access({})
  await sees(ann, [])
  for (let index = 0; index < 256; index += 1) await sees({ name: `other-${index}`, groups: [] }, [])
  t.equal(asked.length, 257)
  await sees(ann, [])
  t.equal(asked.length, 258)
})

void t.test('who may change a GatewaySync is who may patch it, asked once for a while, and anew before it is done', async (t) => {
  const { may, mayNow, asked, allowed } = access({ ann: ['north'] })
  const sync = { namespace: 'north', name: 'line' }
  t.equal(await may(ann, sync), true)
  t.equal(await may(ann, sync), true)
  const resourceAttributes = { ...sync, verb: 'patch', group: 'clustersync.io', resource: 'gatewaysyncs' }
  t.same(asked, [{ user: 'ann', groups: ann.groups, resourceAttributes }])
  t.equal(await may(ann, { ...sync, namespace: 'south' }), false)
  allowed['ann'] = []
  t.equal(await may(ann, sync), true)
  t.equal(await mayNow(ann, sync), false)
})
