/**
 * Lists problems of the installation itself that the status page shows to everyone. Pure.
 */
import type { Warning } from '../../fleet/facts.ts'
import type { ControllerSettings } from '../../settings/controller.ts'
import { Temporal } from '../../platform/temporal.ts'
import { isOpen } from '../serve/receiver.ts'

/** A certificate is renewed long before; one that expires this soon was not renewed. */
const renewedBefore = { hours: 72 }

/** `until`: when the certificate of the ports expires. */
export function warningsOf(until: Temporal.Instant, { receiver }: Pick<ControllerSettings, 'receiver'>, now: Temporal.Instant): Warning[] {
  const isEnding = Temporal.Instant.compare(until, now.add(renewedBefore)) < 0
  return [
    ...(isOpen(receiver) ? [{ kind: 'openReceiver' as const }] : []),
    ...(isEnding ? [{ kind: 'certificate' as const, until: until.toString().slice(0, 10) }] : []),
  ]
}

type Logins = Pick<NonNullable<ControllerSettings['statusPage']>, 'proxy' | 'oidc'>

/**
 * Returns the login settings without a prefix for names: without one, anyone who can choose a name or create a group at the provider can
 * choose one that has permissions in the cluster. The API server's own login has prefixes for the same reason.
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
