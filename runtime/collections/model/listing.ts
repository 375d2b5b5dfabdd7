/**
 * What the checks read: a list of files and a way to read them, the same for a commit and for a directory. Pure: types, and a listing of
 * texts.
 */

/** One ordinary file. `path` is relative and uses `/`; `id` is whatever the listing needs to find the content again. */
export type Entry = { path: string; id?: string }

/**
 * Takes contents in the order in which they were asked for. `size` is in bytes and known only now: asking for it in a list would open
 * every file. A chunk is valid only during its call.
 */
export type ContentSink = {
  begin(entry: Entry, size: number): void
  data(chunk: Uint8Array): void
  end(): void
}

/** Where files come from. Both methods throw what the source throws (a fault of git or of the disk), and the reason of the signal. */
export type Listing = {
  /** Every ordinary file, in batches; links and submodules are left out, for they are never delivered. */
  list(signal: AbortSignal): AsyncIterable<readonly Entry[]>
  /** Streams the contents of entries of this listing. */
  read(entries: readonly Entry[], sink: ContentSink, signal: AbortSignal): Promise<void>
}

/** A file that another commit has otherwise. `gone`: it is no ordinary file any more. */
export type Difference = { path: string; id?: string; gone: boolean }

/** A commit that can be compared with an earlier one. */
export type VersionedListing = Listing & {
  /** How this commit differs from another. Throws where the other is not there (any more). */
  changesSince(commit: string, signal: AbortSignal): AsyncIterable<readonly Difference[]>
}

/** A listing of texts by path, for trees that are made in memory. */
export function listingOf(files: Readonly<Record<string, string | Uint8Array>>): Listing {
  const contentOf = (path: string): Uint8Array => {
    const content = files[path] ?? ''
    return typeof content === 'string' ? Buffer.from(content) : content
  }
  return {
    async *list() {
      yield Object.keys(files).map((path) => ({ path }))
    },
    async read(entries, sink) {
      for (const entry of entries) {
        const content = contentOf(entry.path)
        sink.begin(entry, content.length)
        sink.data(content)
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
  let left = 0
  await listing.read(
    entries,
    {
      begin(entry) {
        path = entry.path
        chunks = []
        left = maxBytes
      },
      data(chunk) {
        left -= chunk.length
        if (left >= 0) chunks.push(Buffer.from(chunk))
      },
      end() {
        if (left >= 0) texts.set(path, Buffer.concat(chunks))
      },
    },
    signal,
  )
  return texts
}
