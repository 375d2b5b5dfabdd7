/**
 * Keeps a consumer informed about a set of objects: lists in pages, watches from there, and lists again when the watch cannot go on. Each
 * object is projected at once, so that only what is needed is ever kept.
 */
import { type Clock, pause, spreadBackoffMs } from '../clock.ts'
import { asFault, Fault, isAbort } from '../fault.ts'
import type { Log } from '../log.ts'
import type { Kube } from './client.ts'
import { ServerAway } from './transport.ts'
import type { KubeObject, ObjectKey, ResourceType } from './types.ts'

/** Which objects are watched, and what is kept of each. */
export type WatchedSet<Item> = {
  type: ResourceType
  namespace?: string
  labelSelector?: string
  fieldSelector?: string
  /** Undefined: the object does not belong to the set, or no longer does; an object known before is then removed. */
  project(object: KubeObject): Item | undefined
}

/** What the consumer is told. A handler that throws is called again for the same object after the next list. */
export type WatchHandlers<Item> = {
  upsert(key: ObjectKey, item: Item): void
  remove(key: ObjectKey): void
  /** Called after each list: every object that existed has been passed to `upsert`, and those that are gone to `remove`. */
  synced(): void
  /** A list or a watch has failed and will be retried. */
  failed?(fault: Fault): void
}

/** The server ends each watch after five to ten minutes, as client-go asks it to: clients that returned together after a restart spread out. */
const watchSeconds = { least: 300, spread: 300 }
/**
 * The server sends a bookmark every minute, so after two missing ones the connection is most likely dead. (With an old etcd none come while
 * nothing happens.) Either way the watch resumes from its version, over a new connection.
 */
const usualSilenceMs = 150_000
/** As client-go begins, with the whole wait as jitter: all agents and replicas lose their watches in the moment in which an API server goes. */
const firstRetryMs = 800
/**
 * After this many refusals in a row the version to resume from is suspect too, and everything is listed again. An API server that is away says
 * nothing of the version: it tells by 410, once it is back, whether the version is too old, so that an outage of an hour costs no lists.
 */
const mostRefusals = 5
const usualLongestRetryMs = 30_000
/** A watch that lasted this long counts as a success and resets the backoff. */
const goodWatchMs = 5_000

/** What `runListWatch` works with. */
export type ListWatchDeps = {
  kube: Kube
  clock: Clock
  log: Log
  /** How long a watch may be silent before it is requested again. Default: 150 s, the time of two bookmarks and a margin. */
  silenceMs?: number
  /** The longest wait after failures in a row. Default: half a minute. */
  longestRetryMs?: number
  /** The longest wait after a refusal by RBAC, where the right is expected soon. Default: as after any failure. */
  longestForbiddenMs?: number
  /** Receives what nothing else shows: that a watch failed, and how much it had missed. */
  observe?: WatchFigures
}

/** `kind` is the plural of what is watched. */
export type WatchFigures = {
  /** A watch failed; `place`: it resumes from its version; `list`: everything is listed again. */
  restarted(kind: string, from: 'place' | 'list'): void
  /** A list found this many changes that the watch before it had gone past without telling of them. Other than zero is a defect. */
  relisted(kind: string, differences: number): void
}

/** Runs until the signal. Any fault is logged and tried again. */
export async function runListWatch<Item>(
  deps: ListWatchDeps,
  set: WatchedSet<Item>,
  handlers: WatchHandlers<Item>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, observe, longestRetryMs = usualLongestRetryMs, longestForbiddenMs = longestRetryMs } = deps
  const known: Known = new Map()
  const notifier = createNotifier(set, handlers, known)
  const place: Place = { version: undefined, told: undefined }
  let failures = 0
  let refusals = 0
  const wait = (mostMs: number): Promise<void> => pause(clock, spreadBackoffMs(failures, firstRetryMs, mostMs, clock.random()), signal)
  while (!signal.aborted) {
    const startedMs = clock.monotonicMs()
    try {
      if (place.version === undefined) await listAll(deps, set, notifier, place, signal)
      await watchOnce(deps, set, notifier, place, signal)
      // A server or proxy that ends each watch at once must not be asked in a loop.
      refusals = 0
      failures = clock.monotonicMs() - startedMs > goodWatchMs ? 0 : failures + 1
      if (failures > 0) await wait(longestRetryMs)
    } catch (error) {
      if (isAbort(error, signal) || signal.aborted) return
      const fault = asFault(error)
      const lasted = clock.monotonicMs() - startedMs > goodWatchMs
      failures = lasted ? 1 : failures + 1
      refusals = (lasted ? 0 : refusals) + (fault instanceof ServerAway ? 0 : 1)
      // A cut connection can resume: everything is listed again only when the server has dropped the version or a handler threw.
      const isKept = (fault.reason === 'ApiUnavailable' || fault.reason === 'Forbidden') && refusals <= mostRefusals
      if (!isKept) place.version = undefined
      observe?.restarted(set.type.plural, isKept ? 'place' : 'list')
      if (fault.reason !== 'Conflict')
        log.warn({ component: set.type.plural, reason: fault.reason, message: fault.message }, 'watch interrupted')
      handlers.failed?.(fault)
      await wait(fault.reason === 'Forbidden' ? longestForbiddenMs : longestRetryMs)
    }
  }
}

/** The resource version of each object that the consumer knows, by id: a few bytes each, for there may be thousands. */
type Known = Map<string, string>

type Notifier = {
  /** Whether the consumer was called: an object that it knows in this version is skipped. */
  upsert(object: KubeObject): boolean
  remove(object: KubeObject): void
  /** The ids of the known objects that are not among those of a list. */
  gone(present: ReadonlySet<string>): string[]
  forget(id: string): void
  synced(): void
}

function createNotifier<Item>(set: WatchedSet<Item>, handlers: WatchHandlers<Item>, known: Known): Notifier {
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
      handlers.upsert(keyOf(id), item)
      // Noted after the handler has returned: one that throws is called again.
      known.set(id, version)
      return true
    },
    remove: (object) => void forget(idOf(object)),
    gone: (present) => [...known.keys()].filter((id) => !present.has(id)),
    forget: (id) => void forget(id),
    synced: () => handlers.synced(),
  }
}

function idOf({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace ?? ''}/${name}`
}

/** No name of Kubernetes holds a slash. */
function keyOf(id: string): ObjectKey {
  const slash = id.indexOf('/')
  const name = id.slice(slash + 1)
  return slash === 0 ? { name } : { namespace: id.slice(0, slash), name }
}

/** Where a watch goes on from; undefined: everything must be listed first. Up to `told` the consumer has been told of every change. */
type Place = { version: string | undefined; told: string | undefined }

/**
 * Lists everything, and moves `place` to where a watch goes on from. What changed while nobody watched is no difference: only a change in a
 * version that the watch had gone past is one. Of objects that are gone no list says since when, so they count only where it is no newer. A
 * list that is older than the watch is of a restored etcd, whose versions say nothing beside those of before.
 */
async function listAll<Item>(
  { kube, log, observe }: ListWatchDeps,
  set: WatchedSet<Item>,
  notifier: Notifier,
  place: Place,
  signal: AbortSignal,
): Promise<void> {
  const present = new Set<string>()
  const untold: string[] = []
  let version: string | undefined
  let told: string | undefined
  try {
    for await (const page of kube.listPages(set.type, set, signal)) {
      // Every page is of the first one's version.
      version ??= page.resourceVersion
      told = isAtMost(place.told, version) ? place.told : undefined
      for (const object of page.items) {
        present.add(idOf(object))
        if (notifier.upsert(object) && isAtMost(object.metadata.resourceVersion, told)) untold.push(idOf(object))
      }
    }
    for (const id of notifier.gone(present)) {
      notifier.forget(id)
      if (isAtMost(version, told)) untold.push(id)
    }
    notifier.synced()
  } finally {
    // Also where a later page failed: the next list finds nothing new about what this one has told.
    observe?.relisted(set.type.plural, untold.length)
    if (untold.length > 0)
      log.warn({ component: set.type.plural, count: untold.length, message: untold.join(' ') }, 'a list found what no watch had told of')
  }
  place.version = version ?? ''
  place.told = place.version
}

/** The versions of one type grow. One that is no number is never compared. */
function isAtMost(version: string | undefined, other: string | undefined): boolean {
  if (version === undefined || other === undefined || !/^\d+$/.test(version) || !/^\d+$/.test(other)) return false
  return BigInt(version) <= BigInt(other)
}

/** Watches until the server ends it; `place` moves with each event. Throws Conflict when its version is gone. */
async function watchOnce<Item>(
  { kube, clock, silenceMs = usualSilenceMs }: ListWatchDeps,
  set: WatchedSet<Item>,
  notifier: Notifier,
  place: Place,
  signal: AbortSignal,
): Promise<void> {
  const timeoutSeconds = Math.round(watchSeconds.least + watchSeconds.spread * clock.random())
  const events = kube.watch(set.type, { ...set, resourceVersion: place.version ?? '', timeoutSeconds, silenceMs }, signal)
  for await (const { type, object } of events) {
    place.version = takeEvent(type, object, notifier) ?? place.version
    place.told = place.version
  }
}

/** Returns the version that the event brings. Throws Conflict for an expired version, ApiUnavailable for any other error event. */
function takeEvent(phase: string, object: KubeObject, notifier: Notifier): string | undefined {
  if (phase === 'ERROR') {
    const { code = 0, message = '' } = object as unknown as { code?: number; message?: string }
    throw new Fault(code === 410 ? 'Conflict' : 'ApiUnavailable', `watch ended with ${code} ${message}`)
  }
  if (phase === 'ADDED' || phase === 'MODIFIED') notifier.upsert(object)
  if (phase === 'DELETED') notifier.remove(object)
  return object.metadata.resourceVersion
}
