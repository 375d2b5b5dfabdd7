/**
 * One merge patch on a GatewaySync as it is now: whatever another replica or somebody else wrote meanwhile is looked at again first.
 */
import { type Clock, deadline } from '../../clock.ts'
import { Fault } from '../../fault.ts'
import type { Change } from '../../fleet/ask.ts'
import type { Kube } from '../../kube/client.ts'
import { gatewaySyncType } from '../../kube/types.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../../reconcile/records.ts'
import type { Store } from '../../reconcile/store.ts'
import { readAnew } from './read-anew.ts'

export type ChangeDeps = {
  kube: Pick<Kube, 'listPages' | 'mergePatch'>
  store: Pick<Store, 'sync' | 'updateSync'>
  clock: Pick<Clock, 'wait' | 'random'>
}

/** Deadline of a write: git hosts wait for ten seconds, and a key may have to be read first. */
const writeTimeoutMs = 5_000
/** Wait after a conflict; grows with each attempt. */
const conflictWaitMs = 20

/** `change` may be asked several times. `fieldManager`: in whose name. Throws NotFound, ApiUnavailable, and what `change` throws. */
export async function changeSync(
  { kube, store, clock }: ChangeDeps,
  key: { namespace: string; name: string },
  change: (record: GatewaySyncRecord) => Change,
  fieldManager?: string,
): Promise<GatewaySyncRecord> {
  const signal = deadline(writeTimeoutMs)
  let record = store.sync(key.namespace, key.name)
  for (let attempt = 1; ; attempt += 1) {
    try {
      record ??= await readAnew(kube, key, signal)
      const { metadata, ...wanted } = change(record)
      const body = { ...wanted, metadata: { ...metadata, resourceVersion: record.resourceVersion } }
      const options = fieldManager === undefined ? {} : { fieldManager }
      const written = projectGatewaySync(await kube.mergePatch(gatewaySyncType, key, body, options, signal))
      store.updateSync(written)
      return written
    } catch (error) {
      if (signal.aborted) throw new Fault('ApiUnavailable', `no answer within ${writeTimeoutMs / 1000} s`, { cause: error })
      if (!(error instanceof Fault) || error.reason !== 'Conflict') throw error
      record = undefined
      await clock.wait(conflictWaitMs * attempt * clock.random())
    }
  }
}
