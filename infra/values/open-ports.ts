/**
 * The ports that the controller listens on, each with the value that sets it and whether it is open. Pure.
 */
import type { Live, Value } from '../helm/expression.ts'
import type { Values } from '../values.ts'

/** `key` is the value that sets the port. */
export type OpenPort = { key: string; isOpen: Value<boolean>; port: Value<number> }

/** All of them but that of the probes, which is fixed. */
export function openPorts({ webhook, webhookReceiver, metrics, delivery, statusPage }: Live<Values>): OpenPort[] {
  return [
    { key: 'webhook.port', isOpen: webhook.enabled, port: webhook.port },
    { key: 'webhookReceiver.port', isOpen: webhookReceiver.enabled, port: webhookReceiver.port },
    { key: 'metrics.service.port', isOpen: metrics.enabled, port: metrics.service.port },
    { key: 'delivery.port', isOpen: true, port: delivery.port },
    { key: 'statusPage.port', isOpen: statusPage.enabled, port: statusPage.port },
  ]
}
