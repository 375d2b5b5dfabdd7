/**
 * Applies a merge patch to a GatewaySync and retries on conflict with the latest version.
 */
import { type Clock, deadline } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Change } from '../../fleet/request-patch.ts'
import type { Kube } from '../../kube/client.ts'
import { gatewaySyncType } from '../../kube/types.ts'
import { type GatewaySyncRecord, projectGatewaySync } from '../../reconcile/store/records.ts'
import type { Store } from '../../reconcile/store/store.ts'

export type ChangeDeps = {
  kube: Pick<Kube, 'listPages' | 'mergePatch'>
  store: Pick<Store, 'sync' | 'updateSync'>
  clock: Pick<Clock, 'wait' | 'random'>
}

/** Deadline of a write: git hosts wait for ten seconds, and a key may have to be read first. */
const writeTimeoutMs = 5_000
/** Delay after a conflict; grows with each attempt. */
const conflictWaitMs = 20

/** `change` may be called several times. Throws NotFound, ApiUnavailable, and what `change` throws. */
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
      record ??= await readCurrent(kube, key, signal)
      const { metadata, ...patch } = change(record)
      const body = { ...patch, metadata: { ...metadata, resourceVersion: record.resourceVersion } }
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

/** Throws NotFound, ApiUnavailable. */
export async function readCurrent(
  kube: Pick<Kube, 'listPages'>,
  key: { namespace: string; name: string },
  signal: AbortSignal,
): Promise<GatewaySyncRecord> {
  // A list with a selector, because `get` would need another permission.
  const options = { namespace: key.namespace, fieldSelector: `metadata.name=${key.name}`, limit: 1 }
  for await (const { items } of kube.listPages(gatewaySyncType, options, signal)) {
    const [object] = items
    if (object !== undefined) return projectGatewaySync(object)
  }
  throw new Fault('NotFound', `there is no GatewaySync "${key.name}" in namespace "${key.namespace}"`)
}
