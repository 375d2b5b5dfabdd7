/**
 * Calls the gate before a commit is published, with the profiles, the modes in use and the content that it has to judge.
 */
import { checkId, type IsolatedGate } from '../gate/isolate.ts'
import type { Verdict } from '../gatewaysync/decide/observation.ts'
import { resolveProfile } from '../gatewaysync/decide/profile.ts'
import { wantedRef } from '../gatewaysync/decide/request.ts'
import { type CommitHash, parseRefName } from '../gatewaysync/values.ts'
import type { Repository } from '../source/content/mirror-listing.ts'
import { modesInUse } from './modes-in-use.ts'
import type { ReconcileDeps } from './reconcile.ts'
import type { Store } from './store.ts'
import { type GatewaySyncRecord, syncKey, type SyncKey } from './records.ts'

type Deps = {
  store: Store
  gate: Pick<IsolatedGate, 'check' | 'prepare'>
  /** Reads a commit in the mirror that holds those of a GatewaySync. */
  inMirror<Value>(key: SyncKey, commit: CommitHash, read: (repository: Repository) => Promise<Value>, signal: AbortSignal): Promise<Value>
}

/** Returns two steps of a reconcile pass. A check that did not finish before, on the same commit and content, is repeated only on request. */
export function createCommitCheck({ store, gate, inMirror }: Deps): Pick<ReconcileDeps, 'check' | 'prepareCheck'> {
  const check: ReconcileDeps['check'] = async (record, spec, commit, signal) => {
    const profiles = Object.keys(spec.sync.profiles).map((name) => resolveProfile(spec.sync, name))
    const request = {
      profiles,
      validation: spec.validation,
      modesInUse: modesInUse(store.gatewayModes(record.namespace, record.name), profiles),
      commit,
      line: `${spec.git.repo} ${spec.git.ref}`,
    }
    const isAskedFor = wantedRef(parseRefName(spec.git.ref), record.annotations, record.status).undecided
    const known = isAskedFor ? undefined : unfinishedBefore(record, checkId(request))
    if (known !== undefined) return known
    const key = syncKey(record.namespace, record.name)
    return await inMirror(key, commit, (repository) => gate.check(repository, request, isAskedFor, signal), signal)
  }
  return {
    check,
    prepareCheck({ validation }) {
      if (validation.policy !== 'Off') gate.prepare()
    },
  }
}

/** The verdict in the status, if the checks of the same commit and content did not finish: a restart does not try again. */
function unfinishedBefore({ status: { source, findings } }: GatewaySyncRecord, id: string): Verdict | undefined {
  return findings !== undefined && source?.unfinishedCheck === id ? { kind: 'checked', ...findings, unfinished: id } : undefined
}
