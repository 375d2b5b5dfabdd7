/**
 * What is out of the ordinary with the installation itself, and everybody who looks at the status page should know. Pure.
 */
import type { Warning } from '../fleet/facts.ts'
import type { ControllerSettings } from '../settings.ts'
import { isOpen } from './receiver.ts'

/** A certificate is renewed long before: what ends so soon has not been. */
const renewedBefore = { hours: 72 }

/** `until`: when the certificate of the ports ends. */
export function warningsOf(until: Temporal.Instant, { receiver }: Pick<ControllerSettings, 'receiver'>, now: Temporal.Instant): Warning[] {
  const isEnding = Temporal.Instant.compare(until, now.add(renewedBefore)) < 0
  return [
    ...(isOpen(receiver) ? [{ kind: 'openReceiver' as const }] : []),
    ...(isEnding ? [{ kind: 'certificate' as const, until: until.toString().slice(0, 10) }] : []),
  ]
}
