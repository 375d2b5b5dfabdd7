import t from 'tap'
import { createPlaces } from '../../../runtime/delivery/places.ts'

void t.test('how many answers are under way is told each time that one begins or ends', async (t) => {
  const told: number[] = []
  const places = createPlaces({ all: 2, perNamespace: 2, perPod: 2 }, { monotonicMs: () => 0 }, (taken) => told.push(taken))
  const [one, two] = [places.take('plant', 'plant/a'), places.take('plant', 'plant/b')]
  t.equal(places.take('plant', 'plant/c').kind, 'full')
  if (one.kind === 'taken') {
    one.giveBack()
    one.giveBack()
  }
  if (two.kind === 'taken') two.giveBack()
  t.same(told, [1, 2, 1, 0], 'who is sent away, and a place that is given back twice, count for nothing')
})
