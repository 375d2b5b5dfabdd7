/**
 * The resources of a collection: three numbers each. An object for a resource is created on access and short-lived; as permanent objects,
 * tens of thousands of them would survive the collector's quick cycles and stay until its next long one.
 */
import type { FileEntry } from './listing.ts'
import { FileTable } from './file-table.ts'

/** One resource of one collection. */
export type Resource = {
  /** `<module>/<type>[/<name>...]` with decoded names; a unary resource ends in `/_unary`. */
  readonly key: string
  readonly module: string
  readonly type: string
  /** Relative to the collections root. */
  readonly folder: string
  readonly kind: 'singleton' | 'named' | 'unary'
  readonly manifest: FileEntry
  /** The files beside the manifest and, unless it is unary, below it. */
  readonly files: readonly FileEntry[]
}

/** Many resources, each created when it is requested. `at` throws a RangeError beyond the end. */
export type Resources = Iterable<Resource> & {
  readonly length: number
  at(index: number): Resource
  map<T>(of: (resource: Resource) => T): T[]
  filter(predicate: (resource: Resource) => boolean): Resource[]
  find(predicate: (resource: Resource) => boolean): Resource | undefined
  some(predicate: (resource: Resource) => boolean): boolean
}

/** The position of a resource in the list: the files below its folder, and its manifest among them. */
export type ResourceRange = { start: number; end: number; manifest: number; kind: Resource['kind'] }

/** A list that still grows; resources of one type must be added consecutively. */
export type ResourceList = Resources & { add(module: string, type: string, place: ResourceRange): void }

const kinds = ['singleton', 'named', 'unary'] as const
/** Last part of the key of a unary resource. */
export const unaryName = '_unary'

/** Resources in insertion order; `offset` is the length of the root's path prefix, -1 if the root is above the repository. */
export function createResources(files: FileTable, offset: number): ResourceList {
  let places = new Int32Array(0)
  let length = 0
  // Resources of one type follow each other.
  const types: { module: string; type: string; from: number }[] = []
  const make = (index: number, { module, type }: { module: string; type: string }): Resource =>
    new ListedResource({ files, offset }, { module, type }, places, 4 * index)
  const list: ResourceList = {
    get length() {
      return length
    },
    add(module, type, { start, end, manifest, kind }) {
      const last = types.at(-1)
      if (last === undefined || last.module !== module || last.type !== type) types.push({ module, type, from: length })
      if (4 * length === places.length) places = new Int32Array(places.buffer.transfer(16 * Math.max(16, 2 * length)))
      places.set([start, end, manifest, kinds.indexOf(kind)], 4 * length)
      length += 1
    },
    at(index) {
      const run = types.findLast(({ from }) => from <= index)
      if (run === undefined || index >= length) throw new RangeError(`there is no resource ${index}`)
      return make(index, run)
    },
    *[Symbol.iterator]() {
      for (const [number, run] of types.entries()) {
        const end = types[number + 1]?.from ?? length
        for (let index = run.from; index < end; index += 1) yield make(index, run)
      }
    },
    map: (of) => Array.from(list, of),
    filter: (predicate) => [...list].filter(predicate),
    find(predicate) {
      for (const resource of list) if (predicate(resource)) return resource
      return undefined
    },
    some: (predicate) => list.find(predicate) !== undefined,
  }
  return list
}

/** An empty list. */
export const noResources: Resources = createResources(new FileTable(), 0)

/** Names with `%` are form-encoded; one that cannot be decoded is returned unchanged. */
export function decodeName(name: string): string {
  if (!name.includes('%')) return name
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}

/** Files of git itself, which keep empty folders or configure the handling of files. */
export function isPlaceholder(path: string): boolean {
  return /(?:^|\/)\.git(?:keep|ignore|attributes)$/.test(path)
}

/** Files that file managers create. */
export function isLitter(path: string): boolean {
  return /(?:^|\/)(?:\.ds_store|thumbs\.db|desktop\.ini|\._[^/]*)$/i.test(path)
}

/** Files that describe a folder, unless they belong to a resource. */
export function isReadme(path: string): boolean {
  return /(?:^|\/)readme(?:\.[a-z]{2,8})?$/i.test(path)
}

/** Has no fields for its parts: a large tree would need tens of thousands of objects per traversal. */
class ListedResource implements Resource {
  readonly module: string
  readonly type: string
  readonly #list: FileTable
  readonly #offset: number
  readonly #places: Int32Array
  readonly #at: number
  #folder: string | undefined
  #key: string | undefined
  #manifest: FileEntry | undefined
  #files: readonly FileEntry[] | undefined

  constructor(
    { files, offset }: { files: FileTable; offset: number },
    { module, type }: { module: string; type: string },
    places: Int32Array,
    at: number,
  ) {
    this.#list = files
    this.#offset = offset
    this.module = module
    this.type = type
    this.#places = places
    this.#at = at
  }

  get kind(): Resource['kind'] {
    return kinds[this.#number(3)] ?? 'named'
  }

  get #manifestIndex(): number {
    return this.#number(2)
  }

  #number(which: number): number {
    return this.#places[this.#at + which] ?? 0
  }

  get folder(): string {
    if (this.#folder === undefined) {
      const manifest = this.#manifestIndex
      this.#folder = this.#list.partFrom(manifest, this.#offset, this.#list.lastSlash(manifest))
    }
    return this.#folder
  }

  get key(): string {
    this.#key ??= keyOf(this.folder, this.kind)
    return this.#key
  }

  get manifest(): FileEntry {
    this.#manifest ??= this.#list.entry(this.#manifestIndex)
    return this.#manifest
  }

  get files(): readonly FileEntry[] {
    this.#files ??= filesOf(this.#list, { start: this.#number(0), end: this.#number(1), manifest: this.#manifestIndex, kind: this.kind })
    return this.#files
  }
}

/** `folder` is `<collection>/<module>/<type>[/<name>...]`; only names are decoded. */
function keyOf(folder: string, kind: Resource['kind']): string {
  const written = folder.slice(folder.indexOf('/') + 1)
  const key = written.includes('%')
    ? written
        .split('/')
        .map((segment, index) => (index < 2 ? segment : decodeName(segment)))
        .join('/')
    : written
  return kind === 'unary' ? `${key}/${unaryName}` : key
}

function filesOf(list: FileTable, { start, end, manifest, kind }: ResourceRange): FileEntry[] {
  const files: FileEntry[] = []
  const own = list.path(manifest)
  const folder = own.lastIndexOf('/') + 1
  for (let index = start; index < end; index += 1) {
    if (index === manifest) continue
    const entry = list.entry(index)
    if (isPlaceholder(entry.path) || (kind === 'unary' && entry.path.includes('/', folder))) continue
    files.push(entry)
  }
  return files
}
