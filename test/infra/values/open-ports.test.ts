import t from 'tap'
import { checkValues } from '../../../infra/values/check.ts'
import { openPorts } from '../../../infra/values/open-ports.ts'

void t.test('every port that the controller listens on has the value that sets it', async (t) => {
  const on = (enabled: boolean) => ({
    webhook: { enabled, port: 1 },
    webhookReceiver: { enabled, port: 2 },
    metrics: { enabled, service: { port: 3 } },
    delivery: { port: 4 },
    statusPage: { enabled, port: 5 },
  })
  t.strictSame(openPorts(checkValues(on(true)).values), [
    { name: 'delivery', key: 'delivery.port', port: 4 },
    { name: 'admission', key: 'webhook.port', port: 1 },
    { name: 'receiver', key: 'webhookReceiver.port', port: 2 },
    { name: 'metrics', key: 'metrics.service.port', port: 3 },
    { name: 'status-page', key: 'statusPage.port', port: 5 },
  ])
  t.strictSame(openPorts(checkValues(on(false)).values), [{ name: 'delivery', key: 'delivery.port', port: 4 }])
})
