/**
 * Reads resources in one stream and returns them sequentially: the hash of each file, the damage of its JSON, and the value of small ones.
 * Never holds more than one resource.
 */
import { isUtf8 } from 'node:buffer'
import { createHash, hash, type Hash } from 'node:crypto'
import { createDamageScan, type Damage, damageOf, encryptionOf, textDamage } from '../model/json-damage.ts'
import type { ContentSink, FileEntry, Listing } from '../model/listing.ts'
import { isLfsPointer } from '../model/lfs-pointer.ts'
import { maxManifestBytes, type ParsedResource, parseResource } from '../model/manifests.ts'
import type { Resource } from '../model/resources.ts'
import type { Collection } from '../model/tree.ts'
import { nameInResource } from '../rules/input.ts'
import { jsonOrUndefined, type Complexity, createCounter, isWithinComplexity } from '../../platform/text/json.ts'

/** A resource and its collection. */
export type LocatedResource = { collection: Collection; resource: Resource }

/**
 * `json` holds the parsed JSON files other than the manifest; `pointers` the paths of files that are pointers of Git LFS, `damaged` those of
 * damaged JSON. `isPartial`: some JSON has no value here, because it is damaged or too large.
 */
export type ResourceContent = LocatedResource & {
  manifest: ParsedResource
  hashes: ReadonlyMap<string, string>
  json: ReadonlyMap<string, unknown>
  pointers: readonly string[]
  damaged: ReadonlyMap<string, Damage>
  isPartial: boolean
}

/** Larger files are hashed while they stream, and not searched. */
const maxBufferedBytes = maxManifestBytes

/** The limit of parsed JSON of one resource, in all its files; it is held at once, and takes up to 60 bytes for each of these. */
const maxComplexity: Complexity = { depth: 64, keys: 40_000, containers: 40_000, entries: 150_000 }

/** Calls `take` once for each resource, in the given order. Throws what reading throws, and nothing else for any content. */
export async function readResources(
  listing: Listing,
  placed: readonly LocatedResource[],
  take: (content: ResourceContent) => void,
  signal: AbortSignal,
): Promise<void> {
  const entries = placed.flatMap(({ resource }) => [resource.manifest, ...resource.files])
  await listing.read(entries, createSink(placed, take), signal)
}

type Open = {
  manifest: ParsedResource
  hashes: Map<string, string>
  json: Map<string, unknown>
  pointers: string[]
  damaged: Map<string, Damage>
  isPartial: boolean
  parsed: Complexity
  left: number
}

function createSink(placed: readonly LocatedResource[], take: (content: ResourceContent) => void): ContentSink {
  const file = createFileReader()
  let index = 0
  let open: Open | undefined
  let entry: FileEntry = { path: '' }
  const current = (): LocatedResource => {
    const now = placed[index]
    if (now === undefined) throw new Error('the listing returned more contents than requested')
    return now
  }
  return {
    begin(next, size) {
      open ??= {
        manifest: parseResource(undefined),
        hashes: new Map(),
        json: new Map(),
        pointers: [],
        damaged: new Map(),
        isPartial: false,
        parsed: none,
        left: 1 + current().resource.files.length,
      }
      entry = next
      file.begin(size, next.path.endsWith('.json'))
    },
    data: (chunk) => file.data(chunk),
    end() {
      const { resource, collection } = current()
      if (open === undefined) return
      const content = file.held()
      const isPointer = content !== undefined && isLfsPointer(content)
      if (isPointer) open.pointers.push(entry.path)
      const isManifest = entry.path === resource.manifest.path
      const name = nameInResource(resource, entry.path)
      if (isManifest) open.manifest = parseResource(content)
      else open.hashes.set(name, file.hash())
      const encryption = content === undefined ? undefined : encryptionOf(content)
      if (encryption !== undefined) {
        open.isPartial = true
        open.damaged.set(entry.path, encryption)
      } else if (!isPointer && name.endsWith('.json')) readJson(open, { path: entry.path, name, isManifest }, content, () => file.damage())
      if (content !== undefined && encryption === undefined && !isPointer && isSource(name))
        noteTextDamage(content, entry.path, open.damaged)
      open.left -= 1
      if (open.left > 0) return
      const { manifest, hashes, json, pointers, damaged, isPartial } = open
      open = undefined
      index += 1
      take({ collection, resource, manifest, hashes, json, pointers, damaged, isPartial })
    },
  }
}

type JsonFile = { path: string; name: string; isManifest: boolean }

/** Adds the value or the damage of a JSON file; `content` is undefined if it is too large to be held. */
function readJson(
  open: Open,
  { path, name, isManifest }: JsonFile,
  content: Uint8Array | undefined,
  damageOfLarge: () => Damage | undefined,
): void {
  const { value, damage, parsed } =
    content === undefined
      ? { value: undefined, damage: damageOfLarge(), parsed: open.parsed }
      : read(content, open.parsed, isManifest && open.manifest.kind === 'ok' ? open.manifest.value : undefined)
  open.parsed = parsed
  if (value === undefined) open.isPartial = true
  if (damage !== undefined) open.damaged.set(path, damage)
  if (value !== undefined && !isManifest) open.json.set(name, value)
}

/**
 * Reads one file after the other into the same memory: with a buffer and a hash object for each, the garbage collector cannot keep up on a
 * large repository.
 */
function createFileReader() {
  let buffer = Buffer.allocUnsafe(64 * 1024)
  let length = 0
  let streamed: Hash | undefined
  let scan: ReturnType<typeof createDamageScan> | undefined
  return {
    begin(size: number, isJson: boolean): void {
      length = 0
      scan = isJson && size > maxBufferedBytes ? createDamageScan() : undefined
      streamed = size > maxBufferedBytes ? createHash('sha256') : undefined
      if (streamed === undefined && size > buffer.length) buffer = Buffer.allocUnsafe(size)
    },
    data(chunk: Uint8Array): void {
      if (streamed === undefined && length + chunk.length > buffer.length) {
        // The file has grown since it was listed.
        streamed = createHash('sha256').update(buffer.subarray(0, length))
        scan = undefined
      }
      if (streamed === undefined) buffer.set(chunk, length)
      else streamed.update(chunk)
      scan?.take(chunk)
      length += chunk.length
    },
    /** The content until the next `begin`; undefined if it is too large to be held. */
    held: (): Uint8Array | undefined => (streamed === undefined ? buffer.subarray(0, length) : undefined),
    /** For JSON that is too large to be held. */
    damage: (): Damage | undefined => scan?.end(),
    hash: (): string => (streamed === undefined ? hash('sha256', buffer.subarray(0, length), 'hex') : streamed.digest('hex')),
  }
}

/** Scripts and queries, which users write by hand and merge. */
function isSource(name: string): boolean {
  return name.endsWith('.py') || name.endsWith('.sql')
}

function noteTextDamage(content: Uint8Array, path: string, damaged: Map<string, Damage>): void {
  const damage = textDamage(content)
  if (damage !== undefined) damaged.set(path, damage)
}

const none: Complexity = { depth: 0, keys: 0, containers: 0, entries: 0 }

/** The parsed amount of a resource with one more file; undefined if it exceeds the limit. */
function withMore(parsed: Complexity, bytes: Uint8Array): Complexity | undefined {
  const counter = createCounter()
  counter.take(bytes)
  const { depth, keys, containers, entries } = counter.counted()
  const sum = { depth, keys: parsed.keys + keys, containers: parsed.containers + containers, entries: parsed.entries + entries }
  return isWithinComplexity(sum, maxComplexity) ? sum : undefined
}

/**
 * The value of a JSON file and its damage. A file that would take too much memory is scanned without being parsed; `known` is the value if
 * it was parsed before.
 */
function read(bytes: Uint8Array, before: Complexity, known?: unknown): { value: unknown; damage: Damage | undefined; parsed: Complexity } {
  const sum = withMore(before, bytes)
  if (sum === undefined) return { value: undefined, damage: damageOf(bytes), parsed: before }
  const value = known ?? jsonOrUndefined(decoder.decode(bytes))
  if (value === undefined || !isUtf8(bytes)) return { value, damage: damageOf(bytes) ?? unexplained, parsed: sum }
  // A repeated key is counted more often than the parsed object holds it.
  const keys = sum.keys - before.keys !== countKeys(value)
  return { value, damage: keys || bytes[0] === firstOfMark ? damageOf(bytes, { keys }) : undefined, parsed: sum }
}

const unexplained: Damage = { kind: 'invalid-json', line: 1, problem: 'is not valid JSON' }
/** The first byte of a byte order mark, which the decoder removes. */
const firstOfMark = 0xef

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((count: number, each) => count + countKeys(each), 0)
  // Avoids a list of the members of each object, which would be most of the garbage of a check. Parsed objects have no inherited members.
  const members = value as Record<string, unknown>
  let count = 0
  for (const name in members) {
    const member = members[name]
    count += typeof member === 'object' ? 1 + countKeys(member) : 1
  }
  return count
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: false })
