/**
 * The script of the status page, in a browser of this test's own: when it says that the page may be out of date, and that it tries again.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { script } from '../../../runtime/statuspage/assets.ts'

type Answer = { ok: boolean; text(): Promise<string> }
type Listener = () => void

const page = (tiles: string): string => `<p id="stale"></p><main>${tiles}</main>`
const answerOf = (text: string, ok = true): Answer => ({ ok, text: async () => text })

/** As much of a browser as the script uses. Timers run when the test says so. */
function opened() {
  const stale = { hidden: true }
  let tiles = 'old'
  let answer: () => Answer = () => answerOf(page('new'))
  const streams: EventSource[] = []
  const timers: { run: Listener; ms: number }[] = []
  class EventSource {
    readyState = 0
    readonly listeners = new Map<string, Listener>()
    constructor() {
      streams.push(this)
    }
    addEventListener(name: string, listener: Listener): void {
      this.listeners.set(name, listener)
    }
  }
  class DOMParser {
    parseFromString(text: string) {
      const main = /<main>(.*)<\/main>/.exec(text)?.[1]
      return {
        querySelector(selector: string) {
          if (selector === '#stale') return text.includes('id="stale"') ? {} : null
          return main === undefined ? null : { childNodes: [main] }
        },
      }
    }
  }
  runInNewContext(script.text, {
    document: {
      getElementById: () => stale,
      querySelector: (selector: string) =>
        selector === 'main' ? { replaceChildren: (...nodes: string[]) => (tiles = nodes.join('')) } : null,
    },
    location: { href: '/' },
    EventSource,
    DOMParser,
    AbortSignal,
    fetch: async () => answer(),
    setTimeout: (run: Listener, ms: number) => timers.push({ run, ms }),
    clearTimeout: () => undefined,
  })
  /** Lets everything happen that waits for no timer. */
  const settled = async (): Promise<void> => {
    for (let index = 0; index < 10; index += 1) await turn()
  }
  return {
    state: () => ({ tiles, stale: !stale.hidden, streams: streams.length }),
    answers: (next: () => Answer) => (answer = next),
    async stream(event: 'open' | 'changed' | 'error', readyState: 0 | 1 | 2) {
      const events = streams.at(-1)
      if (events === undefined) return
      events.readyState = readyState
      events.listeners.get(event)?.()
      await settled()
    },
    async timer() {
      const next = timers.shift()
      next?.run()
      await settled()
      return next?.ms
    },
  }
}

void t.test('what is refused, or is no page of ours, is not taken for news', async (t) => {
  const refused: [string, () => Answer][] = [
    ['a refusal', () => answerOf('{"status":503}', false)],
    ['the login of a proxy', () => answerOf('<main>Sign in</main>')],
    [
      'nothing',
      () => {
        throw new Error('no network')
      },
    ],
  ]
  for (const [name, answer] of refused) {
    const { state, answers, stream, timer } = opened()
    await stream('open', 1)
    t.same(state(), { tiles: 'new', stale: false, streams: 1 }, name)
    answers(answer)
    await stream('changed', 1)
    t.same(state(), { tiles: 'new', stale: true, streams: 1 }, name)
    answers(() => answerOf(page('newer')))
    t.equal(await timer(), 5_000, `${name}: it is asked for again`)
    t.same(state(), { tiles: 'newer', stale: false, streams: 1 }, name)
  }
})

void t.test('that a GatewaySync is gone is news', async (t) => {
  const { state, answers, stream } = opened()
  answers(() => answerOf(page('not here'), false))
  await stream('open', 1)
  t.same(state(), { tiles: 'not here', stale: false, streams: 1 })
})

void t.test(
  'events that a browser has given up are asked for again, and the page says that it may be out of date until they come',
  async (t) => {
    const { state, stream, timer } = opened()
    await stream('open', 1)
    await stream('error', 2)
    t.same(state(), { tiles: 'new', stale: true, streams: 1 })
    t.equal(await timer(), 5_000)
    t.same(state(), { tiles: 'new', stale: true, streams: 2 })
    await stream('error', 2)
    t.equal(await timer(), 5_000, 'as often as it takes')
    await stream('open', 1)
    t.same(state(), { tiles: 'new', stale: false, streams: 3 })
  },
)

void t.test('a browser that connects again by itself is left to it', async (t) => {
  const { state, stream, timer } = opened()
  await stream('open', 1)
  await stream('error', 0)
  t.same([state(), await timer()], [{ tiles: 'new', stale: true, streams: 1 }, undefined])
  await stream('open', 1)
  t.same(state(), { tiles: 'new', stale: false, streams: 1 })
})
