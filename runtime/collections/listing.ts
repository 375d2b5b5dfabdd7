/**
 * What the checks read: a list of files and a way to read them, the same for a commit and for a directory. Pure: types, and two listings
 * made of other things.
 */

/** One ordinary file. `path` is relative and uses `/`; `size` is in bytes; `id` is whatever the listing needs to find the content again. */
export type Entry = { path: string; size: number; id?: string }

/** Takes contents in the order in which they were asked for. A chunk is valid only during its call. */
export type ContentSink = {
  begin(entry: Entry): void
  data(chunk: Uint8Array): void
  end(): void
}

export type Listing = {
  /** Every ordinary file, in batches; links and submodules are left out, for they are never delivered. */
  list(signal: AbortSignal): AsyncIterable<readonly Entry[]>
  /** Streams the contents of entries of this listing. */
  read(entries: readonly Entry[], sink: ContentSink, signal: AbortSignal): Promise<void>
}

/** The same listing, listed only once. */
export async function remembered(listing: Listing, signal: AbortSignal): Promise<Listing> {
  const entries: Entry[] = []
  for await (const batch of listing.list(signal)) for (const entry of batch) entries.push(entry)
  return {
    async *list() {
      yield entries
    },
    read: listing.read,
  }
}

/** A listing of texts by path, for trees that are made in memory. */
export function listingOf(files: Readonly<Record<string, string | Uint8Array>>): Listing {
  const contentOf = (path: string): Uint8Array => {
    const content = files[path] ?? ''
    return typeof content === 'string' ? Buffer.from(content) : content
  }
  return {
    async *list() {
      yield Object.keys(files).map((path) => ({ path, size: contentOf(path).length }))
    },
    async read(entries, sink) {
      for (const entry of entries) {
        sink.begin(entry)
        sink.data(contentOf(entry.path))
        sink.end()
      }
    },
  }
}

/** The text of each entry up to `maxBytes`; a larger one is undefined. */
export async function readTexts(
  listing: Listing,
  entries: readonly Entry[],
  maxBytes: number,
  signal: AbortSignal,
): Promise<Map<string, Buffer>> {
  const texts = new Map<string, Buffer>()
  let chunks: Uint8Array[] = []
  let path = ''
  await listing.read(
    entries.filter(({ size }) => size <= maxBytes),
    {
      begin(entry) {
        path = entry.path
        chunks = []
      },
      data: (chunk) => void chunks.push(Buffer.from(chunk)),
      end: () => void texts.set(path, Buffer.concat(chunks)),
    },
    signal,
  )
  return texts
}
