/**
 * Pages as they are sent, compressed and kept until something has changed: two hundred viewers who fetch the same page at once cost one
 * rendering. The longest unread one makes room.
 */
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'

const compress = promisify(gzip)

/** What is kept is the page compressed; `forget` throws all away, for something has changed. */
export type Rendered = {
  /** The page of this key, made unless it is kept. Rejects with what `make` rejects with; that is not kept. */
  of(key: string, make: () => Promise<string>): Promise<Uint8Array<ArrayBuffer>>
  forget(): void
}

/** `most`: how many pages are kept. */
export function createRendered(most: number): Rendered {
  const kept = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  return {
    async of(key, make) {
      const page = kept.get(key) ?? make().then(async (text) => new Uint8Array(await compress(text)))
      kept.delete(key)
      kept.set(key, page)
      const [oldest] = kept.keys()
      if (kept.size > most && oldest !== undefined) kept.delete(oldest)
      try {
        return await page
      } catch (error) {
        if (kept.get(key) === page) kept.delete(key)
        throw error
      }
    },
    forget: () => kept.clear(),
  }
}

/** A page for somebody who does not take gzip, decompressed piece by piece as it is read. */
export function plain(page: Uint8Array): ReadableStream<Uint8Array> {
  const pieces = createGunzip()
  pieces.end(page)
  return ReadableStream.from<Uint8Array>(pieces)
}
