/**
 * A webhook receiver in its own process, so that its time and memory are separate from its callers'. Answers each message with its URL and the
 * writes so far. Arguments: the key, the duration of a write, and the deadline of a call, in milliseconds.
 */
import { systemClock } from '../../runtime/platform/clock.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { receiverApp } from '../../runtime/receiver/app.ts'
import { connectionBounds } from '../../runtime/receiver/limits.ts'
import { serve } from '../../runtime/http/serve.ts'
import { indexOf } from './receiver-app.ts'

const [, , key = '', writeMs = '0', requestTimeoutMs] = process.argv
const stop = new AbortController()
let writes = 0
const app = receiverApp({
  lookup: () => ({ specRef: 'main', desiredRef: 'main', allowedRefs: undefined }),
  syncs: () => indexOf(['plant']),
  keys: async () => ({ hmac: [key], tokens: undefined }),
  async request() {
    if (Number(writeMs) > 0) await systemClock.wait(Number(writeMs))
    writes += 1
  },
  observe() {},
  limits: { perSecond: Number.MAX_SAFE_INTEGER, failuresPerPeer: Number.MAX_SAFE_INTEGER },
  clock: systemClock,
  log: silentLog,
})
const bounds = { ...connectionBounds, ...(requestTimeoutMs === undefined ? {} : { requestTimeoutMs: Number(requestTimeoutMs) }) }
const served = await serve({ app, port: 0, host: '127.0.0.1', bounds, log: silentLog }, stop.signal)
process.on('disconnect', () => stop.abort())
process.on('message', () => process.send?.({ url: served.url, writes }))
process.send?.({ ready: true })
