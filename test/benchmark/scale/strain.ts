/**
 * Causes of slow controller answers while a part of the benchmark runs: a long computation, a lack of processors, of memory for file pages,
 * or of disk throughput.
 */
import { systemClock } from '../../../runtime/platform/clock.ts'
import { type Figure, median } from '../figures.ts'
import { type Bench, figure } from './bench.ts'
import { processorMs } from './contained.ts'

const pollIntervalMs = 100
/** The log message of the controller when it loses leadership. */
const lost = 'no longer leading'

/** Starts to observe. `stop` returns the figures, with `what` before each name. */
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
      await systemClock.wait(pollIntervalMs)
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
