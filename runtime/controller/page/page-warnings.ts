/**
 * What is out of the ordinary with the installation itself, and everybody who looks at the status page should know. Pure.
 */
import type { Warning } from '../../fleet/facts.ts'
import type { ControllerSettings } from '../../settings.ts'
import { isOpen } from '../serve/receiver.ts'

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

type Logins = Pick<NonNullable<ControllerSettings['statusPage']>, 'proxy' | 'oidc'>

/**
 * The settings of a login by which its names are those of the cluster as they are: whoever can choose a name there, or make a group, chooses
 * among what is bound to it here. The API server's own login has prefixes for this reason.
 */
export function missingPrefixes({ proxy, oidc }: Logins): string[] {
  const named = {
    'statusPage.proxy.userPrefix': proxy?.userPrefix,
    'statusPage.proxy.groupsPrefix': proxy?.groupsPrefix,
    'statusPage.oidc.usernamePrefix': oidc?.usernamePrefix,
    'statusPage.oidc.groupsPrefix': oidc?.groupsPrefix,
  }
  return Object.entries(named).flatMap(([key, prefix]) => (prefix === '' ? [key] : []))
}
