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

/** What the resources of a list share. */
type Shared = { readonly files: FileTable; readonly offset: number; places: Int32Array<ArrayBuffer> }
/** Resources of one type, which follow each other from the index `from` on. */
type Run = { readonly list: Shared; readonly module: string; readonly type: string; readonly from: number }

/** Resources in insertion order; `offset` is the length of the root's path prefix, -1 if the root is above the repository. */
export function createResources(files: FileTable, offset: number): ResourceList {
  const shared: Shared = { files, offset, places: new Int32Array(0) }
  let length = 0
  const runs: Run[] = []
  const list: ResourceList = {
    get length() {
      return length
    },
    add(module, type, { start, end, manifest, kind }) {
      const last = runs.at(-1)
      if (last === undefined || last.module !== module || last.type !== type) runs.push({ list: shared, module, type, from: length })
      if (4 * length === shared.places.length) shared.places = new Int32Array(shared.places.buffer.transfer(16 * Math.max(16, 2 * length)))
      shared.places.set([start, end, manifest, kinds.indexOf(kind)], 4 * length)
      length += 1
    },
    at(index) {
      const run = runs.findLast(({ from }) => from <= index)
      if (run === undefined || index >= length) throw new RangeError(`there is no resource ${index}`)
      return new ListedResource(run, index)
    },
    *[Symbol.iterator]() {
      for (const [number, run] of runs.entries()) {
        const end = runs[number + 1]?.from ?? length
        for (let index = run.from; index < end; index += 1) yield new ListedResource(run, index)
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

/** The names between slashes, each decoded. */
export function decodePath(path: string): string {
  return path.includes('%') ? path.split('/').map(decodeName).join('/') : path
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

/** Has few fields: a large tree would need tens of thousands of objects per traversal. */
class ListedResource implements Resource {
  readonly #run: Run
  readonly #index: number
  #folder: string | undefined
  #key: string | undefined
  #manifest: FileEntry | undefined
  #files: readonly FileEntry[] | undefined

  constructor(run: Run, index: number) {
    this.#run = run
    this.#index = index
  }

  get module(): string {
    return this.#run.module
  }

  get type(): string {
    return this.#run.type
  }

  get kind(): Resource['kind'] {
    return kinds[numberOf(this.#run, this.#index, 3)] ?? 'named'
  }

  get folder(): string {
    if (this.#folder === undefined) {
      const { files, offset } = this.#run.list
      const manifest = numberOf(this.#run, this.#index, 2)
      this.#folder = files.partFrom(manifest, offset, files.lastSlash(manifest))
    }
    return this.#folder
  }

  get key(): string {
    this.#key ??= keyOf(this.folder, this.kind)
    return this.#key
  }

  get manifest(): FileEntry {
    this.#manifest ??= this.#run.list.files.entry(numberOf(this.#run, this.#index, 2))
    return this.#manifest
  }

  get files(): readonly FileEntry[] {
    this.#files ??= filesOf(this.#run.list.files, {
      start: numberOf(this.#run, this.#index, 0),
      end: numberOf(this.#run, this.#index, 1),
      manifest: numberOf(this.#run, this.#index, 2),
      kind: this.kind,
    })
    return this.#files
  }
}

function numberOf({ list }: Run, index: number, which: number): number {
  return list.places[4 * index + which] ?? 0
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
