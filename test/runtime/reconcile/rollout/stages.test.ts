import t from 'tap'
import { specWith } from '../../../support/gatewaysync.ts'
import { amountOf, heldText, membersOf } from '../../../../runtime/reconcile/rollout/stages.ts'

const gateway = (pod: string, labels: Record<string, string> = {}) => ({ pod, name: `name-${pod}`, labels })

void t.test('a gateway belongs to the first stage that selects it, by name and by every label', async (t) => {
  const { rollout } = specWith({
    rollout: {
      stages: [
        { name: 'named', selector: { names: ['name-a', 'name-z*'] } },
        { name: 'both', selector: { names: ['name-b*'], matchLabels: { line: 'test', site: 'north' } } },
        { name: 'labels', selector: { matchLabels: { line: 'test' } } },
        { name: 'rest' },
      ],
    },
  })
  const test = { line: 'test' }
  const gateways = [
    gateway('z2'),
    gateway('z1', test),
    gateway('b1', { ...test, site: 'north' }),
    gateway('b2', test),
    gateway('c', { ...test, site: 'north' }),
    gateway('d', { line: 'other' }),
    gateway('a'),
  ]
  const podsOf = (of: readonly (typeof gateways)[number][][]) => of.map((members) => members.map(({ pod }) => pod))
  const stages = rollout?.stages ?? []
  t.strictSame(podsOf(membersOf(stages, gateways)), [['a', 'z1', 'z2'], ['b1'], ['b2', 'c'], ['d']])
  t.strictSame(podsOf(membersOf(stages.slice(0, 3), gateways)), [['a', 'z1', 'z2'], ['b1'], ['b2', 'c']], 'one that no stage selects')
  t.strictSame(membersOf([], gateways), [])
})

void t.test('an inherited name is not a label', async (t) => {
  const stages = [{ name: 'x', selector: { matchLabels: { toString: 'x' } } }, { name: 'rest' }]
  const labels = Object.create({ toString: 'x' }) as Record<string, string>
  t.strictSame(membersOf(specWith({ rollout: { stages } }).rollout?.stages ?? [], [gateway('a', labels)]), [[], [gateway('a', labels)]])
})

void t.test('an amount is a number or a percentage of the gateways, and at least one', async (t) => {
  const rows: [number | string, number, number, number][] = [
    [3, 10, 3, 3],
    [0, 10, 1, 1],
    ['25%', 10, 2, 3],
    ['100%', 10, 10, 10],
    ['1%', 10, 1, 1],
    ['50%', 0, 1, 1],
  ]
  for (const [amount, of, floor, ceil] of rows)
    t.strictSame([amountOf(amount, of, Math.floor), amountOf(amount, of, Math.ceil)], [floor, ceil], `${amount} of ${of}`)
})

void t.test('gateways with local changes are counted in words', async (t) => {
  t.equal(heldText(1), '1 gateway waits until its local changes are captured or discarded')
  t.equal(heldText(2), '2 gateways wait until their local changes are captured or discarded')
})
