/**
 * The ports that the controller listens on, each with the value that sets it. Pure.
 */
import type { Values } from '../values.ts'

/** `name` is the name of the container port; `key` is the value that sets it. */
type OpenPort = { name: string; key: string; port: number }

/** All open ports except the port of the probes, which is fixed. */
export function openPorts({ webhook, webhookReceiver, metrics, delivery, statusPage }: Values): OpenPort[] {
  const all = [
    { name: 'delivery', key: 'delivery.port', isOpen: true, port: delivery.port },
    { name: 'admission', key: 'webhook.port', isOpen: webhook.enabled, port: webhook.port },
    { name: 'receiver', key: 'webhookReceiver.port', isOpen: webhookReceiver.enabled, port: webhookReceiver.port },
    { name: 'metrics', key: 'metrics.service.port', isOpen: metrics.enabled, port: metrics.service.port },
    { name: 'status-page', key: 'statusPage.port', isOpen: statusPage.enabled, port: statusPage.port },
  ]
  return all.filter(({ isOpen }) => isOpen).map(({ name, key, port }) => ({ name, key, port }))
}
