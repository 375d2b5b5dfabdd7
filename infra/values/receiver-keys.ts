/**
 * The keys with which the webhook receiver authenticates its callers. Pure.
 */
import type { Values } from '../values.ts'

/** Whether the values contain the key itself, and no `secretRef` takes precedence. */
export function isInline({ secret, secretRef }: Values['webhookReceiver']['hmac']): boolean {
  return secret !== '' && secretRef.name === ''
}

/** The keys that the values contain or refer to. */
export function receiverKeys({ webhookReceiver }: Values): ('hmac' | 'token')[] {
  if (!webhookReceiver.enabled) return []
  return (['hmac', 'token'] as const).filter((name) => isInline(webhookReceiver[name]) || webhookReceiver[name].secretRef.name !== '')
}

/** Whether the receiver accepts calls from anyone, because no key is configured. */
export function isReceiverOpen(values: Values): boolean {
  return values.webhookReceiver.enabled && receiverKeys(values).length === 0
}
