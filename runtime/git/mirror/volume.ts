/**
 * The volume that all mirrors share. Each fetch reserves space before it begins and gets no more than that. When space runs short, mirrors
 * are tidied up, then dropped: first unused ones, then those of namespaces that hold more than their share, the least recently used first.
 * A namespace within its share keeps its mirrors. One beyond its share leaves room for the small repositories of others.
 */
import { deadline } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { leftToOthers, maxLeftBytes, planRoom, type Reserved, type StoredMirror } from './volume-plan.ts'

/** A mirror as a tenant of the volume. Both `IfIdle` act only while the mirror is not in use, and return whether they did. */
export type Tenant = {
  /** The current disk usage in bytes. */
  measure(): number
  packs(): number
  /** Ends early with the signal. */
  tidyIfIdle(signal: AbortSignal): Promise<boolean>
  dropIfIdle(): Promise<boolean>
}

/** Space for one fetch, to be released when it has ended. `maxPackBytes`: the maximum size that git may write. */
export type Reservation = { maxPackBytes: number; release(): void }

/** One for each process. */
export type Volume = {
  /** Records a mirror and the namespace that uses it; call it on each use. */
  use(key: string, tenant: Tenant, namespace: string): void
  forget(key: string): void
  /**
   * Reserves space for a fetch of `key` for a namespace: `usual` suffices for most fetches, `most` is the largest allowed. At once if there
   * is space; otherwise mirrors are tidied up and dropped first, for one at a time. Throws SourceVolumeFull.
   */
  reserve(key: string, namespace: string, size: 'usual' | 'most'): Promise<Reservation>
}

type Options = {
  /** Limit of all mirrors together. */
  maxBytes: number
  /** Limit of one pack. */
  maxPackBytes: number
  nowMs(): number
  /** Receives what the volume's metrics show. */
  figures?: VolumeFigures
}

/** `fetchedBytes`: after each fetch, by how much its mirror grew. `volume`: each time that a mirror is measured. */
export type VolumeFigures = { fetchedBytes(bytes: number): void; volume(room: { usedBytes: number; limitBytes: number }): void }

const mebibyte = 1024 * 1024
/** Default space of a fetch, which brings the changes of a push. At least the mirror's own size, in case a damaged one is fetched again. */
const defaultBytes = 64 * mebibyte
/** How long mirrors are tidied up for one reservation; others wait for it if they need space as well. */
const tidyMs = 20_000

type Entry = { tenant: Tenant; bytes: number; namespaces: Set<string>; usedAtMs: number }

/** Accounts for all mirrors of one process; `nowMs` is monotonic. */
export function createVolume({ maxBytes, maxPackBytes, nowMs, figures }: Options): Volume {
  const entries = new Map<string, Entry>()
  /** Of running fetches, so few. */
  const reserved = new Set<Reserved & { key: string }>()
  let queue: Promise<unknown> = Promise.resolve()

  const used = (): number => [...entries.values(), ...reserved].reduce((sum, { bytes }) => sum + bytes, 0)
  const isBusy = (key: string): boolean => reserved.values().some((reservation) => reservation.key === key)
  const measure = (entry: Entry): void => {
    entry.bytes = entry.tenant.measure()
    figures?.volume({ usedBytes: used(), limitBytes: maxBytes })
  }
  const stored = (): StoredMirror[] =>
    [...entries].map(([key, { bytes, namespaces, usedAtMs }]) => ({
      key,
      bytes,
      namespaces: [...namespaces],
      usedAtMs,
      isBusy: isBusy(key),
    }))

  /** Repacks idle mirrors, which drops unneeded objects; while it runs it needs as much additional space as the mirror has. */
  const tidyUp = async (needed: number): Promise<void> => {
    const worth = [...entries].flatMap(([key, entry]) => (!isBusy(key) && entry.tenant.packs() > 1 ? [entry] : []))
    const signal = deadline(tidyMs)
    for (const entry of worth.toSorted((a, b) => b.bytes - a.bytes)) {
      const free = maxBytes - used()
      if (free >= needed || signal.aborted) return
      if (free >= entry.bytes && (await entry.tenant.tidyIfIdle(signal))) measure(entry)
    }
  }

  const makeRoom = async (key: string, namespace: string, needed: number): Promise<void> => {
    if (maxBytes - used() >= needed) return
    for (const entry of entries.values()) measure(entry)
    await tidyUp(needed)
    const { drop } = planRoom({ mirrors: stored(), reserved, maxBytes, needed, key, namespace })
    for (const victim of drop) {
      const entry = entries.get(victim)
      if (entry !== undefined && (await entry.tenant.dropIfIdle())) measure(entry)
    }
  }

  const request = (key: string, namespace: string, size: 'usual' | 'most') => {
    const entry = entries.get(key)
    if (entry === undefined) throw new Fault('Unexpected', `mirror ${key} is not known to the volume`)
    measure(entry)
    const desiredBytes = Math.min(maxPackBytes, size === 'most' ? maxPackBytes : Math.max(defaultBytes, entry.bytes))
    const isTight = maxBytes - used() < desiredBytes + maxLeftBytes
    const left = isTight ? leftToOthers({ mirrors: stored(), reserved, maxBytes, needed: desiredBytes, key, namespace }) : 0
    const grant = (bytes: number): Reservation => {
      const reservation = { key, namespace, bytes }
      reserved.add(reservation)
      return {
        maxPackBytes: bytes,
        release() {
          if (!reserved.delete(reservation)) return
          const before = entry.bytes
          measure(entry)
          if (entry.bytes > before) figures?.fetchedBytes(entry.bytes - before)
        },
      }
    }
    return { desiredBytes, left, free: () => maxBytes - used() - left, grant }
  }

  const reserveInTurn = async (key: string, namespace: string, size: 'usual' | 'most'): Promise<Reservation> => {
    const { desiredBytes, left, free, grant } = request(key, namespace, size)
    await makeRoom(key, namespace, desiredBytes + left)
    const granted = Math.min(desiredBytes, free())
    if (granted >= (size === 'most' ? desiredBytes : Math.min(desiredBytes, mebibyte))) return grant(granted)
    throw new Fault(
      'SourceVolumeFull',
      `${mib(used())} MiB of ${mib(maxBytes)} MiB for mirrors are in use, and ${mib(desiredBytes)} MiB may be needed`,
    )
  }

  return {
    use(key, tenant, namespace) {
      const known = entries.get(key)
      const entry = known ?? { tenant, bytes: tenant.measure(), namespaces: new Set<string>(), usedAtMs: 0 }
      entry.tenant = tenant
      entry.usedAtMs = nowMs()
      if (namespace !== '') entry.namespaces.add(namespace)
      if (known === undefined) entries.set(key, entry)
    },
    forget(key) {
      if (!isBusy(key)) entries.delete(key)
    },
    async reserve(key, namespace, size) {
      const { desiredBytes, free, grant } = request(key, namespace, size)
      if (free() >= desiredBytes) return grant(desiredBytes)
      const run = queue.then(() => reserveInTurn(key, namespace, size))
      queue = run.catch(() => undefined)
      return await run
    },
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / mebibyte)
}
