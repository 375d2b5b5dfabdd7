/**
 * When a busy controller triggers garbage collection.
 */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { imageFlags } from '../../support/image-flags.ts'
import { boundGarbage, type Heap } from '../../../runtime/controller/reclaim-memory.ts'

const mib = 1024 * 1024

type Seen = { usedMiB: number; neededMiB: number }

/** Returns the checks at which garbage was collected; a collection reduces the used memory to the needed memory. */
function boundedCollections(looks: readonly Seen[]): number[] {
  const collected: number[] = []
  let used = 0
  let needed = 0
  let look = (): void => undefined
  const heap: Heap = {
    usedBytes: () => used,
    collect() {
      collected.push(index)
      used = needed
    },
    onGrowth: (called) => void (look = called),
  }
  let index = 0
  boundGarbage(new AbortController().signal, heap)
  for (const { usedMiB, neededMiB } of looks) {
    used = usedMiB * mib
    needed = neededMiB * mib
    look()
    index += 1
  }
  return collected
}

const used = (neededMiB: number, ...usedMiB: number[]): Seen[] => usedMiB.map((each) => ({ usedMiB: each, neededMiB }))

void t.test('garbage above eight MiB since the lowest use is collected', async (t) => {
  t.strictSame(boundedCollections(used(10, 10, 15, 17, 18, 11, 17, 18)), [3, 6])
})

void t.test('a collection by V8 resets the lowest use too', async (t) => {
  t.strictSame(boundedCollections(used(10, 20, 27, 12, 19, 20)), [4])
})

void t.test('with more memory in use more garbage may accumulate, because a collection takes longer', async (t) => {
  t.strictSame(boundedCollections(used(100, 100, 112, 129, 130)), [3])
})

void t.test('growing memory in use causes one useless collection per step', async (t) => {
  t.strictSame(boundedCollections([10, 16, 18, 24, 26, 30].map((each) => ({ usedMiB: each, neededMiB: each }))), [2, 4])
})

/**
 * The peak memory, in MiB, of a process that allocates 200 MiB of objects, of which 4 MiB are live at a time and V8 alone would collect
 * none.
 */
function peakOf(): number {
  const program = `
    import { boundGarbage } from ${JSON.stringify(new URL('../../../runtime/controller/reclaim-memory.ts', import.meta.url).href)}
    import { heapAndBuffers } from ${JSON.stringify(new URL('../../../runtime/platform/memory.ts', import.meta.url).href)}
    boundGarbage(AbortSignal.timeout(60_000))
    const kept = []
    let peak = 0
    for (let round = 0; round < 500; round += 1) {
      kept[round % 10] = Array.from({ length: 4_000 }, (_, index) => ({ round, index, list: [index] }))
      peak = Math.max(peak, heapAndBuffers())
      await new Promise((resolve) => setImmediate(resolve))
    }
    console.log(peak / 1024 / 1024)
    process.exit(0)`
  const flags = [...imageFlags('controller'), '--initial-heap-size=400', '--input-type=module', '-e', program]
  return Number(execFileSync(process.execPath, flags, { encoding: 'utf8' }))
}

void t.test("a process with the image's flags uses little more memory than it needs", async (t) => {
  const peak = peakOf()
  t.ok(peak < 60, `${peak} MiB`)
})

void t.test('without the collection function nothing is checked', async (t) => {
  t.equal(boundGarbage(new AbortController().signal, undefined), undefined)
})
