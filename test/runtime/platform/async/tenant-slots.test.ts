import t from 'tap'
import { TenantSlots } from '../../../../runtime/platform/async/tenant-slots.ts'

/** Takes as many places as the tenant gets. */
function takeAll(places: TenantSlots, tenant: string): (() => void)[] {
  const taken: (() => void)[] = []
  for (let place = places.take(tenant); place !== undefined; place = places.take(tenant)) taken.push(place)
  return taken
}

void t.test('tenants that take what they get leave places for others', async (t) => {
  const places = new TenantSlots(16)
  t.equal(takeAll(places, 'a').length, 11, 'twice as many as are free')
  for (const tenant of ['b', 'c', 'd']) t.ok(takeAll(places, tenant).length > 0, tenant)
  t.ok(places.size >= 16)
  t.equal(takeAll(places, 'victim').length, 1)
  t.equal(takeAll(places, 'a').length, 0, 'the reserve is for tenants without a place')
  for (let index = 0; index < 10; index += 1) takeAll(places, `more-${index}`)
  t.equal(places.size, 20, 'a quarter more, at most')
})

void t.test('a place is freed once, also when it is freed twice', async (t) => {
  const places = new TenantSlots(4)
  const [first, ...others] = takeAll(places, 'a')
  first?.()
  first?.()
  t.equal(places.size, others.length)
  t.equal(takeAll(places, 'a').length, 1)
})
