/**
 * Runs validation before a commit is published, with the profiles, the modes in use and the content to validate.
 */
import { validationId, type IsolatedValidator } from '../validation/worker/isolated-validation.ts'
import { followedRef } from '../api/followed-ref.ts'
import type { Verdict } from './decide/observation.ts'
import { resolveProfile } from '../api/schema/profile.ts'
import { desiredRef } from './decide/request.ts'
import type { CommitHash } from '../api/values.ts'
import type { Repository } from '../git/content/mirror-listing.ts'
import { modesInUse } from './store/modes-in-use.ts'
import type { ReconcileDeps } from './reconcile.ts'
import type { Store } from './store/store.ts'
import { type GatewaySyncRecord, syncKey, type SyncKey } from './store/records.ts'

type Deps = {
  store: Store
  validator: Pick<IsolatedValidator, 'validate' | 'prepare'>
  /** Reads a commit in the mirror of a GatewaySync. */
  inMirror<Value>(key: SyncKey, commit: CommitHash, read: (repository: Repository) => Promise<Value>, signal: AbortSignal): Promise<Value>
}

/** Returns the validation steps of a reconcile. An unfinished validation of the same commit and content is repeated only on request. */
export function createCommitValidation({ store, validator, inMirror }: Deps): Pick<ReconcileDeps, 'validate' | 'prepareValidation'> {
  const validate: ReconcileDeps['validate'] = async (record, spec, commit, signal) => {
    const profiles = Object.keys(spec.sync.profiles).map((name) => resolveProfile(spec.sync, name))
    const request = {
      profiles,
      validation: spec.validation,
      modesInUse: modesInUse(store.gatewayModes(record.namespace, record.name), profiles),
      commit,
      line: `${spec.git.repo} ${followedRef(spec.git)}`,
    }
    const isAskedFor = desiredRef(followedRef(spec.git), record.annotations, record.status).undecided
    const known = isAskedFor ? undefined : unfinishedBefore(record, validationId(request))
    if (known !== undefined) return known
    const { namespace, name } = record
    const by = { namespace, name, again: isAskedFor }
    return await inMirror(syncKey(namespace, name), commit, (repository) => validator.validate(repository, request, by, signal), signal)
  }
  return {
    validate,
    prepareValidation({ validation }) {
      if (validation.policy !== 'Off') validator.prepare()
    },
  }
}

/** Returns the verdict in the status if validation of the same commit and content did not finish, so that a restart does not try again. */
function unfinishedBefore({ status: { source, findings } }: GatewaySyncRecord, id: string): Verdict | undefined {
  return findings !== undefined && source?.unfinishedValidation === id ? { kind: 'checked', ...findings, unfinished: id } : undefined
}
