/**
 * Keeps a consumer informed about a set of objects: lists in pages, watches from there, and lists again when the watch cannot resume. Each
 * object is projected immediately, so that only the needed parts are kept.
 */
import { type Clock, pause, spreadBackoffMs } from '../platform/clock.ts'
import { asFault, Fault, isAbort } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import type { Kube } from './client.ts'
import { AnswerTooLarge, ServerUnreachable } from './transport.ts'
import type { KubeObject, ObjectKey, ResourceType } from './types.ts'

/** Which objects are watched, and what is kept of each. */
export type WatchedSet<Item, Kind extends KubeObject = KubeObject> = {
  type: ResourceType<Kind>
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Returns the kept part of an object; undefined if it does not belong to the set (anymore): a known object is then removed. */
  project(object: Kind): Item | undefined
}

/** The consumer's callbacks. A handler that throws is called again for the same object after the next list. */
export type WatchHandlers<Item> = {
  /** Returns false if the consumer does not keep the object. Then it is not remembered here either, and the next list delivers it again. */
  upsert(key: ObjectKey, item: Item): unknown
  remove(key: ObjectKey): void
  /** Called after each list: every existing object has been passed to `upsert`, and deleted ones to `remove`. */
  synced(): void
  /** A list or a watch has failed and will be retried. */
  failed?(fault: Fault): void
}

/**
 * The server ends each watch after five to ten minutes, as with client-go: this spreads out clients that reconnected together after a
 * restart.
 */
const watchSeconds = { least: 300, spread: 300 }
/**
 * The server sends a bookmark every minute, so after two missing ones the connection is most likely dead. (With an old etcd there are none
 * while nothing happens.) Either way the watch resumes from its version, over a new connection.
 */
const defaultSilenceMs = 150_000
/** client-go's initial delay, with full jitter: all agents and replicas lose their watches when an API server goes down. */
const firstRetryMs = 800
/**
 * After this many consecutive rejections the version to resume from is suspect too, and everything is listed again. An unavailable API
 * server does not make the version suspect: once it is back, 410 shows whether the version is too old, so that an outage of an hour costs
 * no lists.
 */
const maxRejections = 5
const defaultLongestRetryMs = 30_000
/** A watch that lasted this long counts as a success and resets the backoff. */
const goodWatchMs = 5_000

/** Collaborators of `runListWatch`. */
export type ListWatchDeps = {
  kube: Kube
  clock: Clock
  log: Log
  /** How long a watch may be without events before it is reopened. Default: 150 s, the time of two bookmarks and a margin. */
  silenceMs?: number
  /** Maximum delay after consecutive failures. Default: half a minute. */
  longestRetryMs?: number
  /** Maximum delay after a Forbidden, if the permission is expected soon. Default: as after any failure. */
  longestForbiddenMs?: number
  /** Metrics: watch failures, and the changes they missed. */
  observe?: WatchFigures
}

/** `kind` is the plural of what is watched. */
export type WatchFigures = {
  /** A watch failed; `place`: it resumes from its version; `list`: everything is listed again. */
  restarted(kind: string, from: 'place' | 'list'): void
  /** A list found this many changes that the watch before it had passed without reporting them. Other than zero is a defect. */
  relisted(kind: string, differences: number): void
}

/** Runs until `signal` aborts. Any fault is logged and retried. */
export async function runListWatch<Item, Kind extends KubeObject>(
  deps: ListWatchDeps,
  set: WatchedSet<Item, Kind>,
  handlers: WatchHandlers<Item>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, observe, longestRetryMs = defaultLongestRetryMs, longestForbiddenMs = longestRetryMs } = deps
  const known: Known = new Map()
  const notifier = createNotifier(set, handlers, known)
  const place: ListPosition = { version: undefined, delivered: undefined }
  let failures = 0
  let refusals = 0
  const wait = (maxMs: number): Promise<void> => pause(clock, spreadBackoffMs(failures, firstRetryMs, maxMs, clock.random()), signal)
  while (!signal.aborted) {
    const startedMs = clock.monotonicMs()
    try {
      if (place.version === undefined) await listAll(deps, set, notifier, place, signal)
      await watchOnce(deps, set, notifier, place, signal)
      // A server or proxy that ends each watch at once must not be called in a loop.
      refusals = 0
      failures = clock.monotonicMs() - startedMs > goodWatchMs ? 0 : failures + 1
      if (failures > 0) await wait(longestRetryMs)
    } catch (error) {
      if (isAbort(error, signal) || signal.aborted) return
      const fault = asFault(error)
      const lasted = clock.monotonicMs() - startedMs > goodWatchMs
      failures = lasted ? 1 : failures + 1
      refusals = (lasted ? 0 : refusals) + (fault instanceof ServerUnreachable ? 0 : 1)
      // A cut connection can resume: everything is listed again only when the server has dropped the version,
      // an event was too large, or a handler threw.
      const canResume = (fault.reason === 'ApiUnavailable' || fault.reason === 'Forbidden') && !(fault instanceof AnswerTooLarge)
      const isKept = canResume && refusals <= maxRejections
      if (!isKept) place.version = undefined
      observe?.restarted(set.type.plural, isKept ? 'place' : 'list')
      if (fault.reason !== 'Conflict')
        log.warn({ kind: set.type.plural, reason: fault.reason, message: fault.message }, 'watch interrupted')
      handlers.failed?.(fault)
      await wait(fault.reason === 'Forbidden' ? longestForbiddenMs : longestRetryMs)
    }
  }
}

/** The resource version of each object that the consumer knows, by id: a few bytes each, because there may be thousands. */
type Known = Map<string, string>

type Notifier<Kind> = {
  /** Returns whether the consumer keeps the object and did not know this version, which would be skipped. */
  upsert(object: Kind): boolean
  isKnown(object: Kind): boolean
  remove(object: Kind): void
  /** Returns the ids of known objects that are not in a list. */
  gone(present: ReadonlySet<string>): string[]
  forget(id: string): void
  synced(): void
}

function createNotifier<Item, Kind extends KubeObject>(
  set: WatchedSet<Item, Kind>,
  handlers: WatchHandlers<Item>,
  known: Known,
): Notifier<Kind> {
  const forget = (id: string): boolean => {
    if (!known.has(id)) return false
    handlers.remove(keyOf(id))
    // As with `upsert`: a handler that throws is called again.
    known.delete(id)
    return true
  }
  return {
    upsert(object) {
      const id = idOf(object)
      const version = object.metadata.resourceVersion
      // Already delivered by the watch.
      if (known.get(id) === version) return false
      const item = set.project(object)
      if (item === undefined) return forget(id)
      if (handlers.upsert(keyOf(id), item) === false) {
        known.delete(id)
        return false
      }
      // Recorded after the handler has returned: one that throws is called again.
      known.set(id, version)
      return true
    },
    isKnown: (object) => known.has(idOf(object)),
    remove: (object) => void forget(idOf(object)),
    gone: (present) => [...known.keys()].filter((id) => !present.has(id)),
    forget: (id) => void forget(id),
    synced: () => handlers.synced(),
  }
}

function idOf({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace ?? ''}/${name}`
}

/** Kubernetes names contain no slash. */
function keyOf(id: string): ObjectKey {
  const slash = id.indexOf('/')
  const name = id.slice(slash + 1)
  return slash === 0 ? { name } : { namespace: id.slice(0, slash), name }
}

/** Where a watch resumes; undefined: everything must be listed first. The consumer has received every change up to `delivered`. */
type ListPosition = { version: string | undefined; delivered: string | undefined }

/**
 * Lists everything, and moves `place` to where a watch resumes. Changes while nothing was watched are not counted as missed: only a change
 * in a version that the watch had passed is. A list does not show when an object was deleted, so deletions count only if the list is no
 * newer. A list older than the watch comes from a restored etcd, whose versions cannot be compared with those before.
 */
async function listAll<Item, Kind extends KubeObject>(
  { kube, log, observe }: ListWatchDeps,
  set: WatchedSet<Item, Kind>,
  notifier: Notifier<Kind>,
  place: ListPosition,
  signal: AbortSignal,
): Promise<void> {
  const present = new Set<string>()
  const missed: string[] = []
  let version: string | undefined
  let delivered: string | undefined
  try {
    for await (const page of kube.listPages(set.type, set, signal)) {
      // Every page has the version of the first one.
      version ??= page.resourceVersion
      delivered = isAtMost(place.delivered, version) ? place.delivered : undefined
      for (const object of page.items) {
        if (notifier.upsert(object) && isAtMost(object.metadata.resourceVersion, delivered)) missed.push(idOf(object))
        if (notifier.isKnown(object)) present.add(idOf(object))
      }
    }
    for (const id of notifier.gone(present)) {
      notifier.forget(id)
      if (isAtMost(version, delivered)) missed.push(id)
    }
    notifier.synced()
  } finally {
    // Also if a later page failed: the next list finds no new difference.
    observe?.relisted(set.type.plural, missed.length)
    if (missed.length > 0)
      log.warn({ kind: set.type.plural, count: missed.length, message: missed.join(' ') }, 'a list found changes that the watch missed')
  }
  place.version = version ?? ''
  place.delivered = place.version
}

/** The versions of one type grow. One that is not a number is never compared. */
function isAtMost(version: string | undefined, other: string | undefined): boolean {
  if (version === undefined || other === undefined || !/^\d+$/.test(version) || !/^\d+$/.test(other)) return false
  return BigInt(version) <= BigInt(other)
}

/** Watches until the server ends it; `place` moves with each event. Throws Conflict when its version is gone. */
async function watchOnce<Item, Kind extends KubeObject>(
  { kube, clock, silenceMs = defaultSilenceMs }: ListWatchDeps,
  set: WatchedSet<Item, Kind>,
  notifier: Notifier<Kind>,
  place: ListPosition,
  signal: AbortSignal,
): Promise<void> {
  const timeoutSeconds = Math.round(watchSeconds.least + watchSeconds.spread * clock.random())
  const events = kube.watch(set.type, { ...set, resourceVersion: place.version ?? '', timeoutSeconds, silenceMs }, signal)
  for await (const { type, object } of events) {
    place.version = takeEvent(type, object, notifier) ?? place.version
    place.delivered = place.version
  }
}

/** Returns the version of the event. Throws Conflict for an expired version, ApiUnavailable for any other error event. */
function takeEvent<Kind extends KubeObject>(phase: string, object: Kind, notifier: Notifier<Kind>): string | undefined {
  if (phase === 'ERROR') {
    const { code = 0, message = '' } = object as unknown as { code?: number; message?: string }
    throw new Fault(code === 410 ? 'Conflict' : 'ApiUnavailable', `watch ended with ${code} ${message}`)
  }
  if (phase === 'ADDED' || phase === 'MODIFIED') notifier.upsert(object)
  if (phase === 'DELETED') notifier.remove(object)
  return object.metadata.resourceVersion
}
