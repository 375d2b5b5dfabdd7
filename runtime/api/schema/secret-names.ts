/**
 * Lists the Secrets that the controller reads to reach the repository of a GatewaySync. Pure.
 */
import type { GatewaySyncSpec } from './spec.ts'

/** Returns the name of every `secretRef` of `spec.git` needed for reading, without duplicates. */
export function sourceSecretNames({ commitStatus: _told, ...git }: GatewaySyncSpec['git']): string[] {
  const names = new Set<string>()
  const poll = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [member, inner] of Object.entries(value)) {
      const isReference = /secretRef$/i.test(member) && typeof inner === 'object' && inner !== null && 'name' in inner
      if (isReference && typeof inner.name === 'string') names.add(inner.name)
      else poll(inner)
    }
  }
  poll(git)
  return [...names]
}
