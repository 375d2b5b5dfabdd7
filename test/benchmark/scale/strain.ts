/**
 * What keeps the controller from answering while a part of the benchmark runs: a thread that computes for long, a want of processors, of
 * memory for the pages of files, or of the disk.
 */
import { systemClock } from '../../../runtime/clock.ts'
import { type Figure, median } from '../figures.ts'
import { type Bench, figure } from './bench.ts'
import { processorMs } from './contained.ts'

const lookEachMs = 100
/** What the controller logs when another replica, or nobody, leads from then on. */
const lost = 'not leading any more'

/** Begins to look. `stop` tells what was seen, with `what` before each figure. */
export function lookForStrain({ cluster, contained }: Bench): { stop(what: string): Promise<Figure[]> } {
  const pid = cluster.controllerPid()
  const startedMs = performance.now()
  const before = { stalls: contained.stalls(), ms: processorMs(pid), lines: cluster.logs.length }
  const answers: number[] = []
  const over = new AbortController()
  const looking = (async () => {
    while (!over.signal.aborted) {
      const askedMs = performance.now()
      await fetch(`http://127.0.0.1:${cluster.ports.probes}/healthz`).then(
        async (answer) => answer.arrayBuffer(),
        () => undefined,
      )
      answers.push(performance.now() - askedMs)
      await systemClock.wait(lookEachMs)
    }
  })()
  return {
    async stop(what) {
      const lastedMs = performance.now() - startedMs
      over.abort()
      await looking
      const share = (ms: number): number => (100 * ms) / lastedMs
      const told = [
        figure(`${what}: a probe is answered, median`, median(answers), 'ms'),
        figure(`${what}: a probe is answered, at most`, Math.max(...answers), 'ms'),
        figure(`${what}: Lease lost`, linesWith(cluster.logs.slice(before.lines), lost), 'times'),
        figure(`${what}: share of one processor`, share(processorMs(pid) - before.ms), '%'),
      ]
      const stalls = contained.stalls()
      if (stalls === undefined || before.stalls === undefined) return told
      const waits = [
        ['a processor', before.stalls.processorMs, stalls.processorMs],
        ['memory', before.stalls.memoryMs, stalls.memoryMs],
        ['the disk', before.stalls.diskMs, stalls.diskMs],
      ] as const
      for (const [name, from, to] of waits) {
        if (from !== undefined && to !== undefined)
          told.push(figure(`${what}: a thread waits for ${name}`, share(to - from), '% of the time'))
      }
      return [...told, figure(`${what}: pages of files read again`, stalls.readAgainMiB - before.stalls.readAgainMiB, 'MiB')]
    },
  }
}

function linesWith(chunks: readonly string[], text: string): number {
  return chunks.join('').split(text).length - 1
}
