/**
 * What a user may see and do: which access reviews are sent, how often, and how long an answer is cached.
 */
import t from 'tap'
import { createPageAccess } from '../../../../runtime/controller/page/page-access.ts'

type Review = {
  spec: { user: string; groups: string[]; resourceAttributes: { namespace: string; verb: string; group: string; resource: string } }
}

/** An API server that permits each user the given namespaces, `''` for all. */
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

void t.test('a user who may list in all namespaces needs one access review', async (t) => {
  const { sees, asked } = access({ ann: [''] })
  t.strictSame(await sees(ann, ['north', 'south']), new Set(['north', 'south']))
  t.strictSame(await sees(ann, ['north', 'west']), new Set(['north', 'west']))
  const resourceAttributes = { namespace: '', verb: 'list', group: 'clustersync.io', resource: 'gatewaysyncs' }
  t.strictSame(asked, [{ user: 'ann', groups: ann.groups, resourceAttributes }])
})

void t.test('otherwise each namespace is reviewed once, and a new one when it appears', async (t) => {
  const { sees, asked } = access({ ann: ['north'] })
  const many = Array.from({ length: 20 }, (_, index) => `plant-${index}`)
  t.strictSame(await sees(ann, ['north', ...many]), new Set(['north']))
  t.equal(asked.length, 22)
  t.strictSame(await sees(ann, ['north', 'west', ...many]), new Set(['north']))
  t.equal(asked.length, 23)
})

void t.test('a revoked permission ends with the cached answer, and other groups are reviewed separately', async (t) => {
  const { sees, pass, allowed, asked } = access({ ann: ['north'] })
  await sees(ann, ['north'])
  allowed['ann'] = []
  pass(29_000)
  t.strictSame(await sees(ann, ['north']), new Set(['north']))
  t.strictSame(await sees({ ...ann, groups: [] }, ['north']), new Set())
  pass(1_001)
  t.strictSame(await sees(ann, ['north']), new Set())
  t.equal(asked.length, 6)
})

void t.test('while the API server is unavailable the query fails, and afterwards it is sent again', async (t) => {
  const { sees, setAway } = access({ ann: ['north'] })
  setAway(true)
  await t.rejects(sees(ann, ['north']))
  setAway(false)
  t.strictSame(await sees(ann, ['north']), new Set(['north']))
})

void t.test('the number of cached users is limited', async (t) => {
  const { sees, asked } = access({})
  await sees(ann, [])
  for (let index = 0; index < 256; index += 1) await sees({ name: `other-${index}`, groups: [] }, [])
  t.equal(asked.length, 257)
  await sees(ann, [])
  t.equal(asked.length, 258)
})

void t.test('changing a GatewaySync needs patch permission, which is cached and reviewed again before the action', async (t) => {
  const { may, mayNow, asked, allowed } = access({ ann: ['north'] })
  const sync = { namespace: 'north', name: 'line' }
  t.equal(await may(ann, sync), true)
  t.equal(await may(ann, sync), true)
  const resourceAttributes = { ...sync, verb: 'patch', group: 'clustersync.io', resource: 'gatewaysyncs' }
  t.strictSame(asked, [{ user: 'ann', groups: ann.groups, resourceAttributes }])
  t.equal(await may(ann, { ...sync, namespace: 'south' }), false)
  allowed['ann'] = []
  t.equal(await may(ann, sync), true)
  t.equal(await mayNow(ann, sync), false)
})
