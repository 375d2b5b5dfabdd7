/**
 * The volume that all mirrors share. Each fetch reserves space before it begins and gets no more than that. When space runs short, mirrors
 * are tidied up, then dropped: first unused ones, then those of namespaces that hold more than their share, the least recently used first.
 * A namespace within its share keeps its mirrors. One beyond its share leaves space for the small repositories of others.
 */
import { deadline } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { leftToOthers, maxLeftBytes, planEviction, type Reserved, type StoredMirror } from './volume-plan.ts'

/** A mirror as a tenant of the volume. Both `IfIdle` act only while the mirror is not in use, and return whether they did. */
export type StoredFolder = {
  /** The current disk usage in bytes. */
  measure(): number
  packs(): number
  /** Ends early with the signal. */
  tidyIfIdle(signal: AbortSignal): Promise<boolean>
  dropIfIdle(): Promise<boolean>
}

/** Space for one fetch, to be released when it has ended. `maxPackBytes`: the maximum size that git may write. */
export type Reservation = { maxPackBytes: number; release(): void }

type Options = {
  /** Limit of all mirrors together. */
  maxBytes: number
  /** Limit of one pack. */
  maxPackBytes: number
  /** Monotonic. */
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

type Entry = { folder: StoredFolder; bytes: number; namespaces: Set<string>; usedAtMs: number }

/** Accounts for all mirrors of one process. */
export class Volume {
  readonly #options: Options
  readonly #entries = new Map<string, Entry>()
  /** Of running fetches, so few. */
  readonly #reserved = new Set<Reserved & { key: string }>()
  #queue: Promise<unknown> = Promise.resolve()

  constructor(options: Options) {
    this.#options = options
  }

  /** Records a mirror and the namespace that uses it; call it on each use. */
  use(key: string, folder: StoredFolder, namespace: string): void {
    const known = this.#entries.get(key)
    const entry = known ?? { folder, bytes: folder.measure(), namespaces: new Set<string>(), usedAtMs: 0 }
    entry.folder = folder
    entry.usedAtMs = this.#options.nowMs()
    if (namespace !== '') entry.namespaces.add(namespace)
    if (known === undefined) this.#entries.set(key, entry)
  }

  forget(key: string): void {
    if (!this.#isBusy(key)) this.#entries.delete(key)
  }

  /**
   * Reserves space for a fetch of `key` for a namespace: `usual` suffices for most fetches, `most` is the largest allowed. At once if there
   * is space; otherwise mirrors are tidied up and dropped first, for one at a time. Throws SourceVolumeFull.
   */
  async reserve(key: string, namespace: string, size: 'usual' | 'most'): Promise<Reservation> {
    const { desiredBytes, free, grant } = this.#request(key, namespace, size)
    if (free() >= desiredBytes) return grant(desiredBytes)
    const run = this.#queue.then(() => this.#reserveInTurn(key, namespace, size))
    this.#queue = run.catch(() => undefined)
    return await run
  }

  async #reserveInTurn(key: string, namespace: string, size: 'usual' | 'most'): Promise<Reservation> {
    const { desiredBytes, left, free, grant } = this.#request(key, namespace, size)
    await this.#makeRoom(key, namespace, desiredBytes + left)
    const granted = Math.min(desiredBytes, free())
    if (granted >= (size === 'most' ? desiredBytes : Math.min(desiredBytes, mebibyte))) return grant(granted)
    throw new Fault(
      'SourceVolumeFull',
      `${mib(this.#used())} MiB of ${mib(this.#options.maxBytes)} MiB for mirrors are in use, and ${mib(desiredBytes)} MiB may be needed`,
    )
  }

  #request(key: string, namespace: string, size: 'usual' | 'most') {
    const { maxBytes, maxPackBytes } = this.#options
    const entry = this.#entries.get(key)
    if (entry === undefined) throw new Fault('Unexpected', `mirror ${key} is not known to the volume`)
    this.#measure(entry)
    const desiredBytes = Math.min(maxPackBytes, size === 'most' ? maxPackBytes : Math.max(defaultBytes, entry.bytes))
    const isTight = maxBytes - this.#used() < desiredBytes + maxLeftBytes
    const stored = { mirrors: this.#stored(), reserved: this.#reserved, maxBytes, needed: desiredBytes, key, namespace }
    const left = isTight ? leftToOthers(stored) : 0
    const grant = (bytes: number): Reservation => this.#grant(entry, { key, namespace, bytes })
    return { desiredBytes, left, free: () => maxBytes - this.#used() - left, grant }
  }

  #grant(entry: Entry, reservation: Reserved & { key: string }): Reservation {
    this.#reserved.add(reservation)
    return {
      maxPackBytes: reservation.bytes,
      release: () => {
        if (!this.#reserved.delete(reservation)) return
        const before = entry.bytes
        this.#measure(entry)
        if (entry.bytes > before) this.#options.figures?.fetchedBytes(entry.bytes - before)
      },
    }
  }

  async #makeRoom(key: string, namespace: string, needed: number): Promise<void> {
    const { maxBytes } = this.#options
    if (maxBytes - this.#used() >= needed) return
    for (const entry of this.#entries.values()) this.#measure(entry)
    await this.#tidyUp(needed)
    const { drop } = planEviction({ mirrors: this.#stored(), reserved: this.#reserved, maxBytes, needed, key, namespace })
    for (const victim of drop) {
      const entry = this.#entries.get(victim)
      if (entry !== undefined && (await entry.folder.dropIfIdle())) this.#measure(entry)
    }
  }

  /** Repacks idle mirrors, which drops unneeded objects; while it runs it needs as much additional space as the mirror has. */
  async #tidyUp(needed: number): Promise<void> {
    const worth = [...this.#entries].flatMap(([key, entry]) => (!this.#isBusy(key) && entry.folder.packs() > 1 ? [entry] : []))
    const signal = deadline(tidyMs)
    for (const entry of worth.toSorted((a, b) => b.bytes - a.bytes)) {
      const free = this.#options.maxBytes - this.#used()
      if (free >= needed || signal.aborted) return
      if (free >= entry.bytes && (await entry.folder.tidyIfIdle(signal))) this.#measure(entry)
    }
  }

  #used(): number {
    return [...this.#entries.values(), ...this.#reserved].reduce((sum, { bytes }) => sum + bytes, 0)
  }

  #isBusy(key: string): boolean {
    return this.#reserved.values().some((reservation) => reservation.key === key)
  }

  #measure(entry: Entry): void {
    entry.bytes = entry.folder.measure()
    this.#options.figures?.volume({ usedBytes: this.#used(), limitBytes: this.#options.maxBytes })
  }

  #stored(): StoredMirror[] {
    return [...this.#entries].map(([key, { bytes, namespaces, usedAtMs }]) => ({
      key,
      bytes,
      namespaces: [...namespaces],
      usedAtMs,
      isBusy: this.#isBusy(key),
    }))
  }
}

function mib(bytes: number): number {
  return Math.round(bytes / mebibyte)
}
