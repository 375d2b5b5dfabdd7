/**
 * A push receiver in a process of its own, so that its memory can be told from its callers'. Says its URL, and its peak when asked.
 * The key comes as the first argument.
 */
import { systemClock } from '../../runtime/clock.ts'
import { silentLog } from '../../runtime/log.ts'
import { receiverApp } from '../../runtime/receiver/app.ts'
import { connectionBounds } from '../../runtime/receiver/limits.ts'
import { serve } from '../../runtime/serve.ts'

const [, , key = ''] = process.argv
const stop = new AbortController()
const app = receiverApp({
  lookup: () => ({ specRef: 'main', wantedRef: 'main', allowedRefs: undefined }),
  keys: async () => ({ hmac: [key], tokens: undefined }),
  async request() {},
  observe() {},
  limits: { perSecond: Number.MAX_SAFE_INTEGER, failuresPerPeer: Number.MAX_SAFE_INTEGER },
  clock: systemClock,
  log: silentLog,
})
const served = await serve({ app, port: 0, host: '127.0.0.1', bounds: connectionBounds, log: silentLog }, stop.signal)
process.on('disconnect', () => stop.abort())
process.on('message', () => process.send?.({ peakKiB: process.resourceUsage().maxRSS }))
process.send?.({ url: served.url })
