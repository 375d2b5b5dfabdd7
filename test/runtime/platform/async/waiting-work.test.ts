import t from 'tap'
import { TenantAccount } from '../../../../runtime/platform/async/tenant-account.ts'
import { type Waiter, WaitingWork } from '../../../../runtime/platform/async/waiting-work.ts'

const account = new TenantAccount('plant', 3_000)

function waiter(key: string, changes: Partial<Waiter> = {}): Waiter {
  return { account, key, amount: 1, urgent: false, noReserve: false, owner: undefined, sinceMs: 0, start() {}, ...changes }
}

void t.test('the oldest work of each amount and urgency is considered, and of each key that holds something', async (t) => {
  const work = new WaitingWork()
  const holding = new TenantAccount('plant', 3_000)
  const of = (key: string, changes: Partial<Waiter> = {}) => waiter(key, { account: holding, ...changes })
  holding.add({ ...of('held'), pool: 'general', beganSlow: false, waitedMs: 0 })
  const [first, second, large, urgent, held, another] = [
    of('a', { sinceMs: 1 }),
    of('a', { sinceMs: 2 }),
    of('a', { amount: 2 }),
    of('a', { urgent: true }),
    of('held', { sinceMs: 3 }),
    of('b', { sinceMs: 4 }),
  ]
  for (const each of [another, first, second, large, urgent, held]) work.add(each)
  t.equal(work.size, 6)
  t.strictSame(new Set(work.first(5)), new Set([first, large, urgent, held]))
  t.ok(work.remove(first))
  t.ok(work.first(5).includes(second))
})

void t.test('work of a quick key is considered beside older work of others', async (t) => {
  const work = new WaitingWork()
  const known = new TenantAccount('plant', 3_000)
  const held = { ...waiter('quick', { account: known }), pool: 'general' as const, beganSlow: false, waitedMs: 0 }
  known.add(held)
  known.remove(held, 10)
  const others = Array.from({ length: 1_000 }, (_, index) => waiter(`host-${index}`, { account: known, sinceMs: index }))
  const quick = waiter('quick', { account: known, sinceMs: 2_000 })
  for (const each of [...others, quick]) work.add(each)
  t.strictSame(new Set(work.first(3_000)), new Set([others[0], quick]))
})

void t.test('work is removed once from any position and leaves nothing behind', async (t) => {
  const work = new WaitingWork()
  const [first, second] = [waiter('a'), waiter('a')]
  work.add(first)
  work.add(second)
  t.ok(work.remove(second))
  t.notOk(work.remove(second))
  t.notOk(work.remove(waiter('c')))
  t.strictSame(work.first(0), [first])
  t.ok(work.remove(first))
  t.equal(work.size, 0)
  t.strictSame(work.first(0), [])
})
