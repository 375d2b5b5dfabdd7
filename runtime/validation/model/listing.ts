/**
 * The input of the checks: a list of files and a way to read them, the same for a commit and for a directory. Pure: types, and a listing of
 * texts.
 */

/** One ordinary file. `path` is relative and uses `/`; `id` identifies the content within the listing. */
export type FileEntry = { path: string; id?: string }

/**
 * Receives contents in the order of the request. `size` is in bytes and known only now: a list of sizes would need every file opened. A
 * chunk is valid only during its call.
 */
export type ContentSink = {
  begin(entry: FileEntry, size: number): void
  data(chunk: Uint8Array): void
  end(): void
}

/** A source of files. Both methods throw what the source throws (a fault of git or of the disk), and the reason of the signal. */
export type Listing = {
  /** Every ordinary file, in batches; links and submodules are left out, because they are never delivered. */
  list(signal: AbortSignal): AsyncIterable<readonly FileEntry[]>
  /** Streams the contents of entries of this listing. */
  read(entries: readonly FileEntry[], sink: ContentSink, signal: AbortSignal): Promise<void>
}

/** A file that differs in another commit. `gone`: it is no longer an ordinary file. */
export type Difference = { path: string; id?: string; gone: boolean }

/** A commit that can be compared with an earlier one. */
export type VersionedListing = Listing & {
  /** The differences from another commit. Throws if the other commit is missing. */
  changesSince(commit: string, signal: AbortSignal): AsyncIterable<readonly Difference[]>
}

/** A listing of texts by path, for in-memory trees. */
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
  entries: readonly FileEntry[],
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
