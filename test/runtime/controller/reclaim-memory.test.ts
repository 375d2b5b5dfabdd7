/**
 * When a controller gives memory back.
 */
import t from 'tap'
import { type Collector, reclaimMemory } from '../../../runtime/controller/process/reclaim-memory.ts'

const mib = 1024 * 1024
const startMs = 300

type Look = { busy: number; usedMiB: number; threads?: number; majorFaults?: number }

/**
 * What is used is back at 10 MiB after a collection. Returns in which minutes of a run with these looks, 5 s apart, is collected, but for the
 * one that ends the start.
 */
async function collections(looks: readonly Look[]): Promise<number[]> {
  return (await run(looks)).collected.slice(1)
}

/** `told`: in which minutes the log was given a warning. */
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

void t.test('what a start has left is collected as soon as it is over, whoever works', async (t) => {
  t.same((await run(looks(12, { busy: 0.9, usedMiB: 11 }))).collected, [0])
})

void t.test('the first quiet time after the start is used, however little there is to gain', async (t) => {
  t.same(await collections([...looks(11, { busy: 0.5, usedMiB: 40 }), ...looks(4, { busy: 0.01, usedMiB: 10 })]), [1])
})

void t.test('later ones are where something has gathered, and not within two minutes', async (t) => {
  t.same(await collections(looks(75, { busy: 0, usedMiB: 13 })).then(rounded), [0.08, 2.08, 4.08, 6.08])
  t.same(await collections(looks(75, { busy: 0, usedMiB: 11 })).then(rounded), [0.08])
})

void t.test('what a thread has left behind is reason enough', async (t) => {
  const ended = [...looks(29, { busy: 0, usedMiB: 10 }), ...looks(40, { busy: 0, usedMiB: 10, threads: 1 })]
  t.same(rounded(await collections(ended)), [0.08, 2.5])
})

void t.test('who works is not held up', async (t) => {
  t.same(await collections(looks(75, { busy: 0.2, usedMiB: 100, majorFaults: 50 })), [])
})

void t.test('who works and waits for pages of programs is helped, though not more often than every ten seconds', async (t) => {
  const pressed = { busy: 0.9, usedMiB: 60, majorFaults: 1_000 }
  t.same(rounded(await collections([...looks(6, pressed), ...looks(6, { ...pressed, majorFaults: 0 })])), [0.08, 0.25, 0.42])
})

void t.test('nothing is collected under pressure where nothing has gathered', async (t) => {
  t.same(rounded(await collections(looks(12, { busy: 0.9, usedMiB: 11, majorFaults: 1_000 }))), [0.08])
})

void t.test('that pages of programs are waited for is said after a minute, and every hour while it lasts', async (t) => {
  const pressed = { busy: 0.9, usedMiB: 11, majorFaults: 1_000 }
  t.same((await run(looks(11, pressed))).told, [])
  t.same((await run([...looks(11, pressed), { ...pressed, majorFaults: 0 }, ...looks(11, pressed)])).told, [], 'a minute without a pause')
  t.same((await run(looks(12 * 61, pressed))).told.map(Math.round), [1, 61])
})

void t.test('a process without the function ends at once', async () => {
  const clock = { monotonicMs: () => 0, wait: () => new Promise<void>(() => undefined) }
  await reclaimMemory({ clock, log: { warn: () => undefined }, endedThreads: () => 0 }, new AbortController().signal, undefined)
})
