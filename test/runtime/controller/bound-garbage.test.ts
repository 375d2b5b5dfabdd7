/**
 * When a controller that is at work collects its garbage.
 */
import { execFileSync } from 'node:child_process'
import t from 'tap'
import { boundGarbage, type Heap } from '../../../runtime/controller/process/bound-garbage.ts'
import { imageFlags } from '../../support/image-flags.ts'

const mib = 1024 * 1024

type Seen = { usedMiB: number; neededMiB: number }

/** Returns at which looks is collected; what is used is back at what is needed after a collection. */
function collections(looks: readonly Seen[]): number[] {
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

void t.test('what has gathered since the least that was in use is collected beyond eight mebibytes', async (t) => {
  t.same(collections(used(10, 10, 15, 17, 18, 11, 17, 18)), [3, 6])
})

void t.test('a collection of V8 itself counts as well', async (t) => {
  t.same(collections(used(10, 20, 27, 12, 19, 20)), [4])
})

void t.test('where more is in use more may gather, for a collection takes longer', async (t) => {
  t.same(collections(used(100, 100, 112, 129, 130)), [3])
})

void t.test('what is in use and grows is collected once for each step, in vain', async (t) => {
  t.same(collections([10, 16, 18, 24, 26, 30].map((each) => ({ usedMiB: each, neededMiB: each }))), [2, 4])
})

/** What a process uses at most while it makes 200 MiB of objects, of which 4 are in use at a time and V8 alone would collect none; in MiB. */
function peakOf(): number {
  const program = `
    import { boundGarbage } from ${JSON.stringify(new URL('../../../runtime/controller/process/bound-garbage.ts', import.meta.url).href)}
    import { heapAndBuffers } from ${JSON.stringify(new URL('../../../runtime/memory.ts', import.meta.url).href)}
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

void t.test('a process that is started as the image does it holds little more than it needs', async (t) => {
  const peak = peakOf()
  t.ok(peak < 60, `${peak} MiB`)
})

void t.test('one without the function looks at nothing', async (t) => {
  t.equal(boundGarbage(new AbortController().signal, undefined), undefined)
})
