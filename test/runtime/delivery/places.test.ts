import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createPlaces, type PlaceLimits } from '../../../runtime/delivery/places.ts'
import { steppedClock } from '../../support/stepped-clock.ts'

const never = new AbortController().signal

/** `answers`: what became of each caller, by its name. */
function setUp(limits: PlaceLimits) {
  const told: number[] = []
  const { clock, step } = steppedClock()
  const places = createPlaces(limits, clock, (taken) => told.push(taken))
  const answers: string[] = []
  const ask = async (namespace: string, pod: string, signal = never): Promise<() => void> => {
    const place = await places.take(namespace, `${namespace}/${pod}`, signal)
    answers.push(`${pod} ${place.kind}`)
    return place.kind === 'taken' ? place.giveBack : () => undefined
  }
  return { told, step, ask, answers }
}

void t.test('how many answers are under way is told each time that one begins or ends', async (t) => {
  const { told, ask } = setUp({ all: 2, perNamespace: 2, perPod: 2 })
  const [one, two] = [await ask('plant', 'a'), await ask('plant', 'b')]
  one()
  one()
  two()
  t.same(told, [1, 2, 1, 0], 'a place that is given back twice counts once')
})

void t.test('who finds no place gets the next one that is given back, in the order of arrival', async (t) => {
  const { told, ask, answers } = setUp({ all: 2, perNamespace: 2, perPod: 2 })
  const [one, two] = [await ask('plant', 'a'), await ask('plant', 'b')]
  const [third, fourth] = [ask('plant', 'c'), ask('plant', 'd')]
  await turn()
  t.same(answers, ['a taken', 'b taken'], 'both wait')
  one()
  const ended = await third
  t.same(answers.slice(2), ['c taken'])
  ended()
  two()
  await fourth
  t.same(answers.slice(3), ['d taken'])
  t.same(told, [1, 2, 1, 2, 1, 2, 1])
})

void t.test('who has waited for a second is sent away, and a place that comes later is for others', async (t) => {
  const { step, ask, answers } = setUp({ all: 1, perNamespace: 1, perPod: 1 })
  const one = await ask('plant', 'a')
  const waiting = ask('plant', 'b')
  void step(1_000)
  await waiting
  t.same(answers, ['a taken', 'b full'])
  one()
  await ask('plant', 'c')
  t.same(answers.slice(2), ['c taken'])
})

void t.test(
  'as many wait as may be served; a namespace takes no place that another one has, and a pod not more than its own',
  async (t) => {
    const { ask, answers } = setUp({ all: 3, perNamespace: 2, perPod: 1 })
    const one = await ask('noisy', 'a')
    await ask('noisy', 'b')
    await ask('noisy', 'a')
    t.same(answers.slice(2), ['a full'], 'its own answer is not given back soon')
    const [third, fourth] = [ask('noisy', 'c'), ask('noisy', 'd')]
    await ask('noisy', 'e')
    t.same(answers.slice(3), ['e full'], 'two of its namespace wait already')
    await ask('other', 'x')
    t.same(answers.slice(4), ['x taken'], 'whose namespace has a place passes those that wait for theirs')
    one()
    await third
    t.same(answers.slice(5), ['c taken'])
    void fourth
  },
)

void t.test(
  'a pod waits for no more places than it may have, so that it takes none of those that others of its namespace wait in',
  async (t) => {
    const { ask, answers } = setUp({ all: 4, perNamespace: 2, perPod: 2 })
    const [one] = [await ask('plant', 'a'), await ask('plant', 'b')]
    const second = ask('plant', 'a')
    await ask('plant', 'a')
    t.same(answers, ['a taken', 'b taken', 'a full'], 'one answer and one that waits are all that it may have')
    const other = ask('plant', 'c')
    one()
    await second
    t.same(answers.slice(3), ['a taken'])
    void other
  },
)

void t.test('who has left waits no more', async (t) => {
  const { ask, answers } = setUp({ all: 1, perNamespace: 1, perPod: 1 })
  const one = await ask('plant', 'a')
  const left = new AbortController()
  const gone = ask('plant', 'b', left.signal)
  left.abort(new Error('the reader has left'))
  await gone
  one()
  await ask('plant', 'c')
  t.same(answers, ['a taken', 'b full', 'c taken'])
})
