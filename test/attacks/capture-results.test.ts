/**
 * The results of captures of one namespace take a bounded amount of the controller's memory, whatever its pods report and however many
 * GatewaySyncs it has.
 */
import t from 'tap'
import { maxSkipped } from '../../runtime/api/schema/capture-spec.ts'
import { CaptureEntries, maxNamespaceCharacters } from '../../runtime/controller/captures/capture-entries.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { syncKey } from '../../runtime/reconcile/store/records.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import { pod } from '../support/fleet-facts.ts'

const skipped = Array.from({ length: maxSkipped }, () => ({ path: 'p'.repeat(1_024), message: 'm'.repeat(256) }))

void t.test('results of live pods do not accumulate, and another namespace keeps its own', async (t) => {
  const store = new Store(() => {})
  const entries = new CaptureEntries({ clock: systemClock, store }, () => {})
  const note = (namespace: string, sync: string, name: string): void => {
    store.upsertPod({ ...pod(name, sync), namespace, serviceAccount: 'gateway' })
    const record = store.sync(namespace, sync)
    if (record === undefined) throw new Error(`there is no ${namespace}/${sync}`)
    entries.note(record, {
      pod: name,
      gateway: name,
      request: 'r',
      state: 'Nothing',
      skipped,
      skippedFiles: 99,
      at: '2026-03-01T12:00:00Z',
    })
  }
  const syncs = ['a', 'b', 'c']
  const version = { uid: 'u', resourceVersion: '1', generation: 1, annotations: {}, spec: {}, status: {} }
  for (const namespace of ['hostile', 'plant']) for (const name of syncs) store.upsertSync({ namespace, name, ...version })
  note('plant', 'a', 'gw-0')
  for (let index = 0; index < 400; index += 1) note('hostile', syncs[index % 3] ?? '', `gw-${index}`)
  const kept = syncs.flatMap((name) => entries.known(syncKey('hostile', name)))
  t.ok(JSON.stringify(kept).length < 1.1 * maxNamespaceCharacters, `${kept.length} results`)
  t.ok(kept.length > 100, `${kept.length} results`)
  t.strictSame(
    kept.map((entry) => entry.pod).toSorted(),
    Array.from({ length: kept.length }, (_, index) => `gw-${399 - index}`).toSorted(),
    'the newest ones',
  )
  t.equal(entries.known(syncKey('plant', 'a')).length, 1)
})
