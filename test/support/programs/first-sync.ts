/**
 * `first-sync.ts`, with a data directory as JSON on stdin: a local mirror, a content server on a real port, and an agent without files.
 * Prints the result as JSON: the phase, each answer of the content server, the milliseconds that the agent would have waited, and the log.
 */
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { type Clock, systemClock } from '../../../runtime/platform/clock.ts'
import { createLog, silentLog } from '../../../runtime/platform/log/log.ts'
import { ContentClient } from '../../../runtime/content/client/client.ts'
import { parseCommitHash } from '../../../runtime/api/values.ts'
import { runCycle } from '../../../runtime/sync/cycle.ts'
import { overMirror, serveDelivery } from '../delivery-server.ts'
import { profileOf, desiredOf } from '../memory-source.ts'

export type FirstSync = { phase: string; told: string[]; waitedMs: number; logged: string[] }

const dataDir = JSON.parse(await text(process.stdin)) as string
const signal = AbortSignal.timeout(60_000)
const logged: string[] = []
const destination = new Writable({
  write(line, _encoding, done) {
    logged.push(String(line))
    done()
  },
})
let waitedMs = 0
const clock: Clock = { ...systemClock, wait: async (ms) => void (waitedMs += ms) }
const ends: (() => unknown)[] = []
const t = { teardown: (end: () => unknown) => void ends.unshift(end) }

const mirror = overMirror(t, createLog({ level: 'info', destination }))
const commit = parseCommitHash(mirror.repository.commit({ 'projects/a/1': '1', 'projects/b/2': '2' }))
const delivery = await serveDelivery(t, mirror)
await delivery.publish(commit)
const url = `https://localhost:${delivery.served.port}`
const { caBundle } = delivery
const source = new ContentClient({ url, caBundle, token: async () => 'gw-0', namespace: 'default', name: 'plant', clock })
const result = await runCycle(
  { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } },
  desiredOf(dataDir, commit, profileOf([{ source: 'projects', destination: 'projects' }])),
  signal,
)
const told = delivery.told.map(({ route, status }) => `${route} ${status}`)
process.stdout.write(JSON.stringify({ phase: result.phase, told, waitedMs, logged } satisfies FirstSync))
for (const end of ends) await end()
