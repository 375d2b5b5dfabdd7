/**
 * Digests of parts of a spec, the keys by which lookups are compared. They are kept for each GatewaySync, and a spec may be kilobytes.
 */
import { createHash } from 'node:crypto'
import { canonicalJson } from '../gatewaysync/canonical-json.ts'

export type Digests = {
  /** The digest of what `parts` returns, which is asked again only for another spec, or for another `besides`: all else that it depends on. */
  of(spec: object, besides: string, parts: () => unknown): string
}

/** Remembers one digest of each spec, for as long as that is in use; nobody may change a spec. */
export function createDigests(): Digests {
  const known = new WeakMap<object, { besides: string; digest: string }>()
  return {
    of(spec, besides, parts) {
      const last = known.get(spec)
      if (last?.besides === besides) return last.digest
      const digest = createHash('sha256').update(canonicalJson(parts())).digest('base64url')
      known.set(spec, { besides, digest })
      return digest
    },
  }
}
