import t from 'tap'
import { TenantAccount } from '../../../../runtime/platform/async/tenant-account.ts'
import { type Waiter, WaitingWork } from '../../../../runtime/platform/async/waiting-work.ts'

const account = new TenantAccount('plant', 3_000)

function waiter(key: string, changes: Partial<Waiter> = {}): Waiter {
  return { account, key, amount: 1, urgent: false, noReserve: false, owner: undefined, sinceMs: 0, start() {}, ...changes }
}

void t.test('the oldest work of each key, amount and urgency is considered', async (t) => {
  const work = new WaitingWork()
  const [first, second, large, urgent, other] = [
    waiter('a'),
    waiter('a'),
    waiter('a', { amount: 2 }),
    waiter('a', { urgent: true }),
    waiter('b'),
  ]
  for (const each of [first, second, large, urgent, other]) work.add(each)
  t.equal(work.size, 5)
  t.strictSame(new Set(work.first()), new Set([first, large, urgent, other]))
  t.ok(work.remove(first))
  t.ok(work.first().includes(second))
})

void t.test('work is removed once from any position and leaves nothing behind', async (t) => {
  const work = new WaitingWork()
  const [first, second] = [waiter('a'), waiter('a')]
  work.add(first)
  work.add(second)
  t.ok(work.remove(second))
  t.notOk(work.remove(second))
  t.notOk(work.remove(waiter('c')))
  t.strictSame(work.first(), [first])
  t.ok(work.remove(first))
  t.equal(work.size, 0)
  t.strictSame(work.first(), [])
})
