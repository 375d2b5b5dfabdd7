/**
 * A push receiver in a process of its own, so that its time and memory can be told from its callers'. Answers each message with its URL
 * and the writes so far. Arguments: the key, and how many milliseconds a write takes.
 */
import { systemClock } from '../../runtime/clock.ts'
import { silentLog } from '../../runtime/log.ts'
import { receiverApp } from '../../runtime/receiver/app.ts'
import { connectionBounds } from '../../runtime/receiver/limits.ts'
import { serve } from '../../runtime/serve.ts'

const [, , key = '', writeMs = '0'] = process.argv
const stop = new AbortController()
let writes = 0
const app = receiverApp({
  lookup: () => ({ specRef: 'main', wantedRef: 'main', allowedRefs: undefined }),
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
const served = await serve({ app, port: 0, host: '127.0.0.1', bounds: connectionBounds, log: silentLog }, stop.signal)
process.on('disconnect', () => stop.abort())
process.on('message', () => process.send?.({ url: served.url, writes }))
process.send?.({ ready: true })
