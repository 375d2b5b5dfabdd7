/**
 * Reads resources in one stream and hands over one after the other: the hash of each file, and the JSON of small ones. Never holds more
 * than one resource.
 */
import { createHash, type Hash } from 'node:crypto'
import type { ContentSink, Entry, Listing } from './listing.ts'
import { maxManifestBytes } from './manifests.ts'
import type { Collection, Resource } from './tree.ts'
import { nameInResource } from './facts.ts'

export type Placed = { collection: Collection; resource: Resource }

/** `manifest` is undefined where it is larger than a manifest may be; `json` holds the parsed JSON files other than the manifest. */
export type ResourceContent = Placed & {
  manifest: Uint8Array | undefined
  hashes: ReadonlyMap<string, string>
  json: ReadonlyMap<string, unknown>
}

/** JSON files beyond this are hashed and not searched. */
const maxSearchedBytes = 1024 * 1024

export async function readResources(
  listing: Listing,
  placed: readonly Placed[],
  take: (content: ResourceContent) => void,
  signal: AbortSignal,
): Promise<void> {
  const entries = placed.flatMap(({ resource }) => [resource.manifest, ...resource.files])
  await listing.read(entries, createSink(placed, take), signal)
}

function createSink(placed: readonly Placed[], take: (content: ResourceContent) => void): ContentSink {
  let index = 0
  let left = 0
  let open: { manifest: Uint8Array | undefined; hashes: Map<string, string>; json: Map<string, unknown> } | undefined
  let entry: Entry = { path: '', size: 0 }
  let kept: Uint8Array[] | undefined
  let hash: Hash = createHash('sha256')

  const current = (): Placed => {
    const now = placed[index]
    if (now === undefined) throw new Error('the listing gave more contents than were asked for')
    return now
  }
  return {
    begin(next) {
      const { resource } = current()
      if (open === undefined) {
        open = { manifest: undefined, hashes: new Map(), json: new Map() }
        left = 1 + resource.files.length
      }
      entry = next
      const isManifest = next.path === resource.manifest.path
      const keep = isManifest ? next.size <= maxManifestBytes : next.path.endsWith('.json') && next.size <= maxSearchedBytes
      kept = keep ? [] : undefined
      hash = createHash('sha256')
    },
    data(chunk) {
      hash.update(chunk)
      kept?.push(Uint8Array.from(chunk))
    },
    end() {
      const { resource, collection } = current()
      if (open === undefined) return
      if (entry.path === resource.manifest.path) open.manifest = kept === undefined ? undefined : Buffer.concat(kept)
      else {
        const name = nameInResource(resource, entry.path)
        open.hashes.set(name, hash.digest('hex'))
        const value = kept === undefined ? undefined : parseJson(Buffer.concat(kept))
        if (value !== undefined) open.json.set(name, value)
      }
      left -= 1
      if (left > 0) return
      take({ collection, resource, ...open })
      open = undefined
      index += 1
    },
  }
}

/** Data files are the gateway's business: what cannot be read is not searched. */
function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
