/**
 * Indexes the GatewaySyncs of one namespace by the source of their keys and by the name of their repository, so that a call visits only
 * those that it may concern.
 */
import type { NamedRepository } from '../payload/parts.ts'
import { anyName, repositoryName, repositoryNamesIn } from '../payload/repository.ts'

/** `keySource`: GatewaySyncs of one namespace with equal sources have equal keys. `repository`: as in `ReceiverTarget`. */
export type IndexedSync = { keySource: string; repository?: string | undefined }

export class SyncIndex {
  readonly #syncs = new Map<string, IndexedSync>()
  readonly #bySource = new Map<string, Set<string>>()
  readonly #byRepository = new Map<string, Set<string>>()

  /** The names of the GatewaySyncs with each source of keys. */
  get bySource(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#bySource
  }

  set(name: string, sync: IndexedSync): void {
    this.delete(name)
    this.#syncs.set(name, sync)
    add(this.#bySource, sync.keySource, name)
    add(this.#byRepository, repositoryName(sync.repository), name)
  }

  delete(name: string): void {
    const sync = this.#syncs.get(name)
    if (sync === undefined) return
    this.#syncs.delete(name)
    remove(this.#bySource, sync.keySource, name)
    remove(this.#byRepository, repositoryName(sync.repository), name)
  }

  keySourceOf(name: string): string | undefined {
    return this.#syncs.get(name)?.keySource
  }

  /** The names of all that may follow one of the repositories, and of some others; undefined: a repository that is not named. */
  following(repositories: Iterable<NamedRepository | undefined>): readonly string[] {
    const named = new Set([...new Set(repositories)].flatMap(repositoryNamesIn))
    if (named.has(anyName)) return [...this.#syncs.keys()]
    return [anyName, ...named].flatMap((name) => [...(this.#byRepository.get(name) ?? [])])
  }
}

function add(groups: Map<string, Set<string>>, key: string, name: string): void {
  groups.set(key, (groups.get(key) ?? new Set<string>()).add(name))
}

function remove(groups: Map<string, Set<string>>, key: string, name: string): void {
  const names = groups.get(key)
  names?.delete(name)
  if (names?.size === 0) groups.delete(key)
}
