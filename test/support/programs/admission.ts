/**
 * Admission in its own process, like `receiver-process.ts` for the receiver. Answers each message with its URL.
 */
import { systemClock } from '../../../runtime/platform/clock.ts'
import { admissionApp, admissionConnections } from '../../../runtime/injection/app.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { serve } from '../../../runtime/http/serve.ts'
import { agentSettings } from '../pods.ts'

const stop = new AbortController()
const app = admissionApp({
  notReady: () => [],
  settings: {
    agent: agentSettings({
      image: 'agent',
      imagePullPolicy: 'Always',
      imagePullSecrets: [],
      resources: {},
      allowImageOverride: false,
      clusterRole: 'agent',
      autoBind: true,
    }),
    delivery: { url: 'https://delivery:9445' },
  },
  lookup: ({ name }) => ({ kind: 'missing', name: name ?? 'plant' }),
  clock: systemClock,
  log: silentLog,
  observe() {},
})
const served = await serve({ app, port: 0, host: '127.0.0.1', bounds: admissionConnections, log: silentLog }, stop.signal)
process.on('disconnect', () => stop.abort())
process.on('message', () => process.send?.({ url: served.url }))
process.send?.({ ready: true })
