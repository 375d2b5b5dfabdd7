/**
 * Puts the gate in front of publication: which profiles, which modes in use, which content it judges.
 */
import { gateRoots } from '../collections/delivery.ts'
import { createGate } from '../collections/gate.ts'
import type { VersionedListing } from '../collections/listing.ts'
import { resolveProfile } from '../gatewaysync/profile.ts'
import { type CommitHash, parseRelativePath, type RelativePath } from '../gatewaysync/values.ts'
import type { ReconcileDeps } from './reconcile.ts'
import type { GatewaySyncRecord, Store } from './store.ts'

type Deps = {
  store: Store
  /** Content of a commit that the mirror holds. */
  listing(record: GatewaySyncRecord, commit: CommitHash, roots: readonly RelativePath[]): VersionedListing
}

export function createCommitCheck({ store, listing }: Deps): ReconcileDeps['check'] {
  const gate = createGate()
  return async (record, spec, commit, signal) => {
    const profiles = Object.keys(spec.sync.profiles).map((name) => resolveProfile(spec.sync, name))
    const content = listing(record, commit, gateRoots(profiles).map(parseRelativePath))
    const request = {
      profiles,
      validation: spec.validation,
      modesInUse: modesInUse(store, record),
      commit,
      line: `${spec.git.repo} ${spec.git.ref}`,
    }
    return await gate.check(content, request, signal)
  }
}

/** The modes that the gateways of a GatewaySync report; undefined while none does. */
function modesInUse(store: Store, { namespace, name }: GatewaySyncRecord): string[] | undefined {
  const reports = store.reportsOf(namespace, name)
  const modes = reports.flatMap(({ status }) => status?.mode?.name ?? []).filter((mode) => mode !== '')
  return modes.length === 0 ? undefined : [...new Set(modes)]
}
