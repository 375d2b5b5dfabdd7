/**
 * Keeps the results of captures until the status of their GatewaySync has them.
 */
import { type CaptureEntry, cutToFit, maxCaptured } from '../../api/schema/capture-spec.ts'
import { specOf } from '../../api/schema/spec-of.ts'
import type { Clock } from '../../platform/clock.ts'
import { forRepository } from '../../reconcile/decide/capture.ts'
import { type GatewaySyncRecord, syncKey, type SyncKey } from '../../reconcile/store/records.ts'
import type { Store } from '../../reconcile/store/store.ts'

/** Retry delay after a temporary failure. */
export const failedForMs = 60_000

/** Maximum characters of the results of one namespace, as JSON: a thousand of a usual size. The oldest are dropped; most are in a status. */
export const maxNamespaceCharacters = 2 * 1024 * 1024

/** By GatewaySync and pod. A recreated GatewaySync, or one with another repository, does not inherit entries. */
export class CaptureEntries {
  readonly #deps: { clock: Clock; store: Pick<Store, 'sync' | 'pod'> }
  readonly #changed: (key: SyncKey) => void
  readonly #results = new Map<SyncKey, Known>()
  #noted = 0

  /** `changed`: the status of the GatewaySync must be written. */
  constructor(deps: { clock: Clock; store: Pick<Store, 'sync' | 'pod'> }, changed: (key: SyncKey) => void) {
    this.#deps = deps
    this.#changed = changed
  }

  /**
   * Replaces the entry of the pod, and drops those of deleted pods that no status has space for, and the oldest of a namespace that has too
   * many. `about`: the GatewaySync as it was when the entry was created.
   */
  note(about: GatewaySyncRecord, reported: CaptureEntry): void {
    const { clock, store } = this.#deps
    const { namespace, name } = about
    const subject = subjectOf(about)
    if (subject !== subjectOf(store.sync(namespace, name))) return
    const key = syncKey(namespace, name)
    const entry = cutToFit(reported)
    const own: Known = this.#present(key) ?? { namespace, name, subject, pods: new Map() }
    this.#results.set(key, own)
    if (own.pods.get(entry.pod)?.entry.commit !== entry.commit) own.pods.delete(entry.pod)
    const untilMs = entry.state === 'Failed' ? clock.monotonicMs() + failedForMs : Infinity
    own.pods.set(entry.pod, { entry, untilMs, number: (this.#noted += 1), characters: JSON.stringify(entry).length })
    // A namespace can create and delete any number of pods. A pull request is opened without the entry too.
    const deleted = [...own.pods.keys()].filter((pod) => store.pod(namespace, pod) === undefined)
    for (const pod of deleted.slice(0, -maxCaptured)) own.pods.delete(pod)
    this.#dropOldest(namespace)
    this.#changed(key)
  }

  /** In the order in which the commits were recorded. */
  known(key: SyncKey): CaptureEntry[] {
    return [...(this.#present(key)?.pods.values() ?? [])].map(({ entry }) => entry)
  }

  /** Returns the status entries of other pods, followed by the known ones. */
  of(key: SyncKey, record: GatewaySyncRecord): CaptureEntry[] {
    const fresh = this.known(key)
    const pods = new Set(fresh.map(({ pod }) => pod))
    const reported = forRepository(record.status.capture, specOf(record)?.git.repo)
    return [...(reported?.gateways ?? []).filter(({ pod }) => !pods.has(pod)), ...fresh]
  }

  /** Whether a failure of this pod is too recent to try again. */
  isResting(key: SyncKey, pod: string): boolean {
    return (this.#present(key)?.pods.get(pod)?.untilMs ?? 0) > this.#deps.clock.monotonicMs()
  }

  clear(): void {
    this.#results.clear()
  }

  /** Drops the entries of deleted GatewaySyncs. */
  prune(): void {
    for (const key of this.#results.keys()) if (this.#present(key) === undefined) this.#results.delete(key)
  }

  #dropOldest(namespace: string): void {
    const all = [...this.#results.values()].flatMap((known) =>
      known.namespace === namespace ? [...known.pods].map(([pod, held]) => ({ known, pod, held })) : [],
    )
    let over = all.reduce((sum, { held }) => sum + held.characters, 0) - maxNamespaceCharacters
    if (over <= 0) return
    for (const { known, pod, held } of all.toSorted((a, b) => a.held.number - b.held.number)) {
      if (over <= 0) return
      known.pods.delete(pod)
      over -= held.characters
    }
  }

  #present(key: SyncKey): Known | undefined {
    const known = this.#results.get(key)
    return known !== undefined && known.subject === subjectOf(this.#deps.store.sync(known.namespace, known.name)) ? known : undefined
  }
}

/** `untilMs`: when a failure may be retried; `number`: in the order in which entries were noted; `characters`: as JSON. */
type Held = { entry: CaptureEntry; untilMs: number; number: number; characters: number }
/** The entries of one GatewaySync. */
type Known = { namespace: string; name: string; subject: string | undefined; pods: Map<string, Held> }

/** Distinguishes a GatewaySync from a later one of its name, and from itself with another repository. */
function subjectOf(record: GatewaySyncRecord | undefined): string | undefined {
  return record === undefined ? undefined : `${record.uid} ${specOf(record)?.git.repo ?? ''}`
}
