/**
 * The volume that all mirrors share. Each fetch reserves room before it begins and gets no more than that. When there is too little room,
 * mirrors are tidied up, then dropped: first unused ones, then those of namespaces that hold more than their share, the least recently used
 * first. A namespace within its share keeps what it has.
 */
import { Fault } from '../../fault.ts'
import { planRoom, type StoredMirror } from './volume-plan.ts'

/** A mirror as the volume sees it. Both `IfIdle` act only while the mirror is not in use, and return whether they did. */
export type Tenant = {
  /** Bytes on the disk, as they are now. */
  measure(): number
  packs(): number
  tidyIfIdle(): Promise<boolean>
  dropIfIdle(): Promise<boolean>
}

/** Room for one fetch, returned when it is disposed of; `maxPackBytes`: the most that git may write. */
export type Reservation = { maxPackBytes: number } & Disposable

/** One for each process. */
export type Volume = {
  /** Notes a mirror and the namespace that uses it; to be called at each use. */
  use(key: string, tenant: Tenant, namespace: string): void
  forget(key: string): void
  /**
   * Room for a fetch of `key`: `usual` suffices for most fetches, `most` is the largest allowed. One at a time. Throws SourceVolumeFull.
   */
  reserve(key: string, size: 'usual' | 'most'): Promise<Reservation>
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
/** Usual room of a fetch, which brings what a push changed. At least the mirror's own size, in case a damaged one is fetched again. */
const usualBytes = 64 * mebibyte

type Entry = { tenant: Tenant; bytes: number; namespaces: Set<string>; usedAtMs: number; reserved: number }

/** Accounts for all mirrors of one process; `nowMs` is monotonic. */
export function createVolume({ maxBytes, maxPackBytes, nowMs, figures }: Options): Volume {
  const entries = new Map<string, Entry>()
  let queue: Promise<unknown> = Promise.resolve()

  const used = (): number => [...entries.values()].reduce((sum, { bytes, reserved }) => sum + bytes + reserved, 0)
  const measure = (entry: Entry): void => {
    entry.bytes = entry.tenant.measure()
    figures?.volume({ usedBytes: used(), limitBytes: maxBytes })
  }
  const stored = (): StoredMirror[] =>
    [...entries].map(([key, { bytes, namespaces, usedAtMs, reserved }]) => ({
      key,
      bytes,
      namespaces: [...namespaces],
      usedAtMs,
      isBusy: reserved > 0,
    }))

  /** Repacks idle mirrors, which drops what is not needed; while it runs it takes as much room again as the mirror. */
  const tidyUp = async (needed: number): Promise<void> => {
    const worth = [...entries.values()].filter(({ reserved, tenant }) => reserved === 0 && tenant.packs() > 1)
    for (const entry of worth.toSorted((a, b) => b.bytes - a.bytes)) {
      const free = maxBytes - used()
      if (free >= needed) return
      if (free >= entry.bytes && (await entry.tenant.tidyIfIdle())) measure(entry)
    }
  }

  const makeRoom = async (key: string, needed: number): Promise<void> => {
    if (maxBytes - used() >= needed) return
    for (const entry of entries.values()) measure(entry)
    await tidyUp(needed)
    const { drop } = planRoom({ mirrors: stored(), maxBytes: maxBytes - sumReserved(), needed, key })
    for (const victim of drop) {
      const entry = entries.get(victim)
      if (entry !== undefined && (await entry.tenant.dropIfIdle())) measure(entry)
    }
  }
  const sumReserved = (): number => [...entries.values()].reduce((sum, { reserved }) => sum + reserved, 0)

  const reserveNow = async (key: string, size: 'usual' | 'most'): Promise<Reservation> => {
    const entry = entries.get(key)
    if (entry === undefined) throw new Fault('Unexpected', `mirror ${key} is not known to the volume`)
    measure(entry)
    const wanted = Math.min(maxPackBytes, size === 'most' ? maxPackBytes : Math.max(usualBytes, entry.bytes))
    await makeRoom(key, wanted)
    const free = maxBytes - used()
    const granted = Math.min(wanted, free)
    if (granted < (size === 'most' ? wanted : Math.min(wanted, mebibyte))) {
      throw new Fault(
        'SourceVolumeFull',
        `${mib(used())} MiB of ${mib(maxBytes)} MiB for mirrors are in use, and ${mib(wanted)} MiB may be needed`,
      )
    }
    entry.reserved += granted
    let isHeld = true
    return {
      maxPackBytes: granted,
      [Symbol.dispose]() {
        if (!isHeld) return
        isHeld = false
        entry.reserved -= granted
        const before = entry.bytes
        measure(entry)
        if (entry.bytes > before) figures?.fetchedBytes(entry.bytes - before)
      },
    }
  }

  return {
    use(key, tenant, namespace) {
      const known = entries.get(key)
      const entry = known ?? { tenant, bytes: tenant.measure(), namespaces: new Set<string>(), usedAtMs: 0, reserved: 0 }
      entry.tenant = tenant
      entry.usedAtMs = nowMs()
      if (namespace !== '') entry.namespaces.add(namespace)
      if (known === undefined) entries.set(key, entry)
    },
    forget(key) {
      const entry = entries.get(key)
      if (entry?.reserved === 0) entries.delete(key)
    },
    reserve(key, size) {
      const run = queue.then(() => reserveNow(key, size))
      queue = run.catch(() => undefined)
      return run
    },
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / mebibyte)
}
