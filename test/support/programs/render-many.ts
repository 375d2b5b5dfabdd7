/**
 * `render-many.ts <dataDir> <files> <bytes>`: one cycle that renders this number of files of that size, each generated when requested.
 * Prints the phase and the peak memory of this process in KiB.
 */
import { createHash } from 'node:crypto'
import { systemClock } from '../../../runtime/platform/clock.ts'
import type { BlobId, Source } from '../../../runtime/content/protocol/protocol.ts'
import { parseCommitHash, parseRelativePath } from '../../../runtime/api/values.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { runCycle } from '../../../runtime/sync/cycle.ts'
import { profileOf, desiredOf } from '../memory-source.ts'

const [dataDir = '', files = '', bytes = ''] = process.argv.slice(2)
const content = (index: number): Buffer => Buffer.from(`${index} {{ vars.host }} ${'line of t€\n'.repeat(Number(bytes) / 13)}`)
const idOf = (data: Buffer): BlobId => parseCommitHash(createHash('sha1').update(`blob ${data.length}\0`).update(data).digest('hex'))
const indexes = Array.from({ length: Number(files) }, (_, index) => index)
const byId = new Map(indexes.map((index) => [idOf(content(index)), index]))
const source: Source = {
  async *changes() {
    yield [...byId].map(([id, index]) => ({
      op: 'put' as const,
      path: parseRelativePath(`projects/f${index}`),
      mode: '100644' as const,
      id,
      size: content(index).length,
    }))
  },
  async blobs({ ids }, sink) {
    for (const id of ids) {
      const data = content(byId.get(id) ?? 0)
      sink.begin(id, data.length)
      for (let at = 0; at < data.length; at += 65_536) sink.data(data.subarray(at, at + 65_536))
      sink.end()
    }
  },
  async files() {
    throw new Error('no file is wanted as it is')
  },
}
const profile = profileOf([{ source: 'projects', destination: 'projects', template: true }], { vars: { host: 'h' } })
const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
const target = desiredOf(dataDir, parseCommitHash('c'.repeat(40)), profile)
const { phase, message } = await runCycle(deps, target, AbortSignal.timeout(120_000))
process.stdout.write(JSON.stringify({ phase, message, peakKiB: process.resourceUsage().maxRSS }))
