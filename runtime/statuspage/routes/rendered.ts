/**
 * Caches rendered, compressed pages until something changes: two hundred viewers who fetch the same page at the same time cost one
 * rendering. Evicts the least recently used page.
 */
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import type { Html } from '../views/page.ts'

const compress = promisify(gzip)

/** Holds compressed pages; `forget` clears the cache after a change. */
export type Rendered = {
  /** The page with this key, rendered unless it is cached. Rejects with the error of `make`, which is not cached. */
  of(key: string, make: () => Promise<string>): Promise<Uint8Array<ArrayBuffer>>
  forget(): void
}

/** `maxPages`: the maximum number of cached pages. */
export function createRendered(maxPages: number): Rendered {
  const kept = new Map<string, Promise<Uint8Array<ArrayBuffer>>>()
  return {
    async of(key, make) {
      const page = kept.get(key) ?? make().then(async (text) => new Uint8Array(await compress(text)))
      kept.delete(key)
      kept.set(key, page)
      const [oldest] = kept.keys()
      if (kept.size > maxPages && oldest !== undefined) kept.delete(oldest)
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

/** Decompresses a page for a client without gzip, chunk by chunk as it is read. */
export function plain(page: Uint8Array): ReadableStream<Uint8Array> {
  const gunzip = createGunzip()
  gunzip.end(page)
  return ReadableStream.from<Uint8Array>(gunzip)
}

/** `type` is the content type. `text` is not called if the client has the current version. */
export type LazyResponse = { type: string; status: 200 | 404; text(): Promise<string> }

/** An HTML page that is rendered only if the client does not have the current version. */
export function htmlOf(make: () => Html | Promise<Html>, status: LazyResponse['status'] = 200): LazyResponse {
  return { type: 'text/html; charset=utf-8', status, text: async () => String(await make()) }
}
