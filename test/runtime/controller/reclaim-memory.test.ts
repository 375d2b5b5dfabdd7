/**
 * When a quiet controller gives memory back.
 */
import t from 'tap'
import { type Collector, reclaimMemory } from '../../../runtime/controller/reclaim-memory.ts'

const mib = 1024 * 1024

type Look = { busy: number; usedMiB: number; threads?: number }

/** What is used is back at 10 MiB after a collection. Returns in which minutes of a run with these looks, 15 s apart, is collected. */
async function collections(looks: readonly Look[]): Promise<number[]> {
  const stop = new AbortController()
  const collected: number[] = []
  let index = -1
  let ms = 0
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
    busyMs: () => (looks[index]?.busy ?? 1) * 15_000,
    collect() {
      collected.push(ms / 60_000)
      used = 10 * mib
    },
  }
  await reclaimMemory({ clock, endedThreads: () => looks[index]?.threads ?? 0 }, stop.signal, collector)
  return collected
}

const looks = (count: number, look: Look): Look[] => Array.from({ length: count }, () => look)

void t.test('the first quiet time after the start is used, however little there is to gain', async (t) => {
  t.same(await collections([...looks(3, { busy: 0.5, usedMiB: 40 }), ...looks(4, { busy: 0.01, usedMiB: 10 })]), [1])
})

void t.test('later ones are where something has gathered, and not within two minutes', async (t) => {
  t.same(await collections(looks(49, { busy: 0, usedMiB: 13 })), [0.25, 2.25, 4.25, 6.25, 8.25, 10.25, 12.25])
  t.same(await collections(looks(49, { busy: 0, usedMiB: 11 })), [0.25])
})

void t.test('what a thread has left behind is reason enough', async (t) => {
  const ended = [...looks(9, { busy: 0, usedMiB: 10 }), ...looks(40, { busy: 0, usedMiB: 10, threads: 1 })]
  t.same(await collections(ended), [0.25, 2.5])
})

void t.test('who works is not held up', async (t) => {
  t.same(await collections(looks(49, { busy: 0.2, usedMiB: 100 })), [])
})

void t.test('a process without the function ends at once', async () => {
  await reclaimMemory(
    { clock: { monotonicMs: () => 0, wait: () => new Promise(() => undefined) }, endedThreads: () => 0 },
    new AbortController().signal,
    undefined,
  )
})
