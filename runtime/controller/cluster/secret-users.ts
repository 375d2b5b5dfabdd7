/**
 * Which GatewaySyncs need which Secrets for their source.
 */
import { sourceSecretNames } from '../../gatewaysync/schema/secret-names.ts'
import type { SecretUser } from '../../reconcile/secret-changes.ts'
import type { Store } from '../../reconcile/store.ts'
import { syncKey } from '../../reconcile/records.ts'
import { specOf } from '../../reconcile/spec-of.ts'

/** A GatewaySync with an invalid spec needs none, because its git host is not asked. */
export function sourceSecretUsers(store: Pick<Store, 'syncs'>): SecretUser[] {
  return store.syncs().flatMap((record) => {
    const spec = specOf(record)
    if (spec === undefined) return []
    const { namespace, name } = record
    return [{ key: syncKey(namespace, name), namespace, secrets: sourceSecretNames(spec.git) }]
  })
}
