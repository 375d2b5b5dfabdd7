/**
 * A consumer with the guarantees of Kubernetes has missed nothing, whatever happened and whenever it had to list; one with a withheld,
 * changed or additional version has.
 */
import fc from 'fast-check'
import t from 'tap'
import { type Change, compareVersions, type Told } from './versions.ts'

/**
 * The possible events: an object is written or deleted, the consumer watches for a while, it must list everything again, or a list is
 * interrupted.
 */
const acts = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ act: fc.constant('write' as const), key: fc.constantFrom('a', 'b', 'c') }) },
    { weight: 2, arbitrary: fc.record({ act: fc.constant('remove' as const), key: fc.constantFrom('a', 'b', 'c') }) },
    { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('watch' as const, 'list' as const, 'broken list' as const) }) },
  ),
  { maxLength: 60 },
)
type Act = typeof acts extends fc.Arbitrary<(infer One)[]> ? One : never

/**
 * The history in etcd, and the events of a consumer that receives everything correctly. `fromWatch` are the indexes of events from a watch.
 */
function play(list: readonly Act[]): { happened: Change[]; told: Told[]; fromWatch: number[] } {
  const happened: Change[] = []
  const told: Told[] = []
  const fromWatch: number[] = []
  let state = new Map<string, number>()
  let known = new Map<string, number>()
  let next = 0
  let revision = 10
  const watch = (): void => {
    for (; next < happened.length; next += 1) {
      const change = happened[next]
      if (change === undefined) continue
      fromWatch.push(
        told.push(change.isGone ? { is: 'gone', key: change.key } : { is: 'put', key: change.key, revision: change.revision }) - 1,
      )
    }
    known = new Map(state)
  }
  const listAll = (isBroken: boolean): void => {
    told.push({ is: 'listing' })
    for (const [key, version] of state) {
      if (known.get(key) !== version) told.push({ is: 'put', key, revision: version })
      known.set(key, version)
      if (isBroken) return
    }
    for (const key of known.keys()) if (!state.has(key)) told.push({ is: 'gone', key })
    told.push({ is: 'listed', revision })
    known = new Map(state)
    next = happened.length
  }
  listAll(false)
  for (const one of list) {
    // The revision grows with other writes too.
    revision += 2
    if (one.act === 'write' || (one.act === 'remove' && state.has(one.key))) {
      happened.push({ key: one.key, revision, isGone: one.act === 'remove' })
      state = new Map(state)
      if (one.act === 'write') state.set(one.key, revision)
      else state.delete(one.key)
    } else if (one.act === 'watch') watch()
    else if (one.act !== 'remove') {
      // An interrupted list is repeated before a watch starts.
      if (one.act === 'broken list') listAll(true)
      listAll(false)
    }
  }
  watch()
  return { happened, told, fromWatch }
}

void t.test('a consumer with the guarantees of Kubernetes has missed nothing', (t) => {
  fc.assert(
    fc.property(acts, (list) => {
      const { happened, told, fromWatch } = play(list)
      const { wrong, watched } = compareVersions(happened, told)
      return wrong.length === 0 && watched === fromWatch.length
    }),
  )
  t.end()
})

void t.test('each version that a watch withholds is detected, even if the object changes again', (t) => {
  fc.assert(
    fc.property(acts, fc.nat(), (list, chosen) => {
      const { happened, told, fromWatch } = play(list)
      const place = fromWatch[chosen % Math.max(1, fromWatch.length)]
      // A watch may owe the last versions before a list.
      fc.pre(place !== undefined && told[place + 1]?.is !== 'listing')
      return compareVersions(happened, told.toSpliced(place ?? 0, 1)).wrong.length > 0
    }),
  )
  t.end()
})

void t.test('a repeated, reordered or made-up version is detected', (t) => {
  fc.assert(
    fc.property(acts, fc.nat(), fc.constantFrom('twice', 'made up', 'late'), (list, chosen, how) => {
      const { happened, told, fromWatch } = play(list)
      const place = fromWatch[chosen % Math.max(1, fromWatch.length)] ?? -1
      const one = told[place]
      const after = told[place + 1]
      fc.pre(one !== undefined && (how !== 'late' || (after !== undefined && fromWatch.includes(place + 1))))
      if (one === undefined) return true
      const changed = {
        twice: () => told.toSpliced(place, 0, one),
        'made up': () => told.toSpliced(place, 0, { is: 'put', key: 'a', revision: 11 }),
        late: () => told.toSpliced(place, 2, ...(after === undefined ? [] : [after]), one),
      }[how]
      return compareVersions(happened, changed()).wrong.length > 0
    }),
  )
  t.end()
})

void t.test('a list with wrong content or without an end is detected', (t) => {
  const happened: Change[] = [
    { key: 'a', revision: 1, isGone: false },
    { key: 'b', revision: 2, isGone: false },
  ]
  const listed = { is: 'listed', revision: 5 } as const
  const a = { is: 'put', key: 'a', revision: 1 } as const
  const b = { is: 'put', key: 'b', revision: 2 } as const
  t.strictSame(compareVersions(happened, [{ is: 'listing' }, b, a, listed]).wrong, [])
  t.strictSame(compareVersions(happened, [{ is: 'listing' }, a, listed]).wrong, ['b was known as gone after a list of 5, and was 2'])
  t.strictSame(compareVersions(happened, [{ is: 'listing' }, a, b]).wrong, ['the last list did not end'])
  t.strictSame(compareVersions([...happened, { key: 'a', revision: 6, isGone: true }], [{ is: 'listing' }, a, b, listed]).wrong, [
    'the end of a in 6 was never told',
  ])
  t.end()
})
