/**
 * Keeps an index of the GatewaySyncs of each namespace for webhook calls. What changed is indexed when a call needs it.
 */
import type { Store } from '../../reconcile/store/store.ts'
import { specOf } from '../../api/schema/spec-of.ts'
import { type SyncKey, syncKey } from '../../reconcile/store/records.ts'
import { SyncIndex } from '../../receiver/request/sync-index.ts'
import { keySource } from './webhook-keys.ts'

/** Returns the index of a namespace. */
export function createSyncIndexes(store: Pick<Store, 'sync' | 'syncs' | 'watch'>): (namespace: string) => SyncIndex {
  const namespaces = new Map<string, { index: SyncIndex; changed: Set<string> }>()

  const note = (sync: SyncKey): void => {
    const [namespace = '', name = ''] = sync.split('/')
    const own = namespaces.get(namespace) ?? { index: new SyncIndex(), changed: new Set<string>() }
    if (store.sync(namespace, name) !== undefined) own.changed.add(name)
    else {
      own.changed.delete(name)
      own.index.delete(name)
    }
    if (own.changed.size === 0 && own.index.bySource.size === 0) namespaces.delete(namespace)
    else namespaces.set(namespace, own)
  }
  for (const { namespace, name } of store.syncs()) note(syncKey(namespace, name))
  store.watch((sync) => {
    if (sync !== undefined) note(sync)
  })

  return (namespace) => {
    const { index, changed } = namespaces.get(namespace) ?? { index: new SyncIndex(), changed: new Set<string>() }
    for (const name of changed) {
      const record = store.sync(namespace, name)
      const spec = record === undefined ? undefined : specOf(record)
      index.set(name, { keySource: keySource(spec?.webhook), repository: spec?.webhook?.repository ?? spec?.git.repo })
    }
    changed.clear()
    return index
  }
}
