/**
 * When a controller returns memory to the system.
 */
import t from 'tap'
import { type Collector, reclaimMemory } from '../../../runtime/controller/reclaim-memory.ts'

const mib = 1024 * 1024
const startMs = 300

type Look = { busy: number; usedMiB: number; threads?: number; majorFaults?: number }

/**
 * Runs with these checks, 5 s apart; a collection reduces the used memory to 10 MiB. Returns the minutes at which garbage was collected,
 * without the collection at the end of the startup.
 */
async function collections(looks: readonly Look[]): Promise<number[]> {
  return (await run(looks)).collected.slice(1)
}

/** `told` holds the minutes at which a warning was logged. */
async function run(looks: readonly Look[]): Promise<{ collected: number[]; told: number[] }> {
  const stop = new AbortController()
  const collected: number[] = []
  const told: number[] = []
  let index = -2
  let ms = -startMs
  let used = 0
  const clock = {
    monotonicMs: () => ms,
    async wait(waitMs: number) {
      ms += waitMs
      index += 1
      used = (looks[index]?.usedMiB ?? 0) * mib
      if (index === looks.length) stop.abort()
    },
  }
  const collector: Collector = {
    usedBytes: () => used,
    busyMs: () => (looks[index]?.busy ?? 1) * 5_000,
    majorFaults: () => looks[index]?.majorFaults ?? 0,
    collect() {
      collected.push(ms / 60_000)
      used = 10 * mib
    },
  }
  const log = { warn: () => void told.push(ms / 60_000) }
  await reclaimMemory({ clock, log, endedThreads: () => looks[index]?.threads ?? 0 }, stop.signal, collector)
  return { collected, told }
}

const rounded = (minutes: readonly number[]): number[] => minutes.map((each) => Math.round(each * 100) / 100)

const looks = (count: number, look: Look): Look[] => Array.from({ length: count }, () => look)

void t.test('the garbage of the startup is collected once the startup is over, even under load', async (t) => {
  t.strictSame((await run(looks(12, { busy: 0.9, usedMiB: 11 }))).collected, [0])
})

void t.test('the first idle time after startup triggers a collection, however small the gain', async (t) => {
  t.strictSame(await collections([...looks(11, { busy: 0.5, usedMiB: 40 }), ...looks(4, { busy: 0.01, usedMiB: 10 })]), [1])
})

void t.test('later idle times trigger one only if garbage has accumulated, at most every two minutes', async (t) => {
  t.strictSame(await collections(looks(75, { busy: 0, usedMiB: 13 })).then(rounded), [0.08, 2.08, 4.08, 6.08])
  t.strictSame(await collections(looks(75, { busy: 0, usedMiB: 11 })).then(rounded), [0.08])
})

void t.test('an ended thread is a reason for a collection', async (t) => {
  const ended = [...looks(29, { busy: 0, usedMiB: 10 }), ...looks(40, { busy: 0, usedMiB: 10, threads: 1 })]
  t.strictSame(rounded(await collections(ended)), [0.08, 2.5])
})

void t.test('a busy controller is not interrupted by collections', async (t) => {
  t.strictSame(await collections(looks(75, { busy: 0.2, usedMiB: 100, majorFaults: 50 })), [])
})

void t.test('a busy controller that waits for program pages collects at most every ten seconds', async (t) => {
  const pressed = { busy: 0.9, usedMiB: 60, majorFaults: 1_000 }
  t.strictSame(rounded(await collections([...looks(6, pressed), ...looks(6, { ...pressed, majorFaults: 0 })])), [0.08, 0.25, 0.42])
})

void t.test('under memory pressure nothing is collected if no garbage has accumulated', async (t) => {
  t.strictSame(rounded(await collections(looks(12, { busy: 0.9, usedMiB: 11, majorFaults: 1_000 }))), [0.08])
})

void t.test('waiting for program pages is logged after a minute, and every hour while it lasts', async (t) => {
  const pressed = { busy: 0.9, usedMiB: 11, majorFaults: 1_000 }
  t.strictSame((await run(looks(11, pressed))).told, [])
  t.strictSame(
    (await run([...looks(11, pressed), { ...pressed, majorFaults: 0 }, ...looks(11, pressed)])).told,
    [],
    'a minute without a pause',
  )
  t.strictSame((await run(looks(12 * 61, pressed))).told.map(Math.round), [1, 61])
})

void t.test('without the collection function the loop ends at once', async (t) => {
  const clock = { monotonicMs: () => 0, wait: () => new Promise<void>(() => undefined) }
  await t.resolves(reclaimMemory({ clock, log: { warn: () => undefined }, endedThreads: () => 0 }, new AbortController().signal, undefined))
})
