/**
 * Caches rendered, compressed pages until something changes: two hundred viewers who fetch the same page at the same time cost one
 * rendering. Evicts the least recently used page.
 */
import { promisify } from 'node:util'
import { createGunzip, gzip } from 'node:zlib'
import { FairLimiter } from '../../platform/async/fair-limiter.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Html } from '../views/page.ts'

const compress = promisify(gzip)

/** Holds compressed pages; `forget` clears the cache after a change. */
export type Rendered = {
  /**
   * The page with this key, rendered unless it is cached; undefined if too many other pages are being rendered. `reader`: the user, or a
   * client without a login. Rejects with the error of `make`, which is not cached.
   */
  of(key: string, reader: string, make: () => Promise<string>): Promise<Page | undefined>
  forget(): void
}
type Page = Uint8Array<ArrayBuffer>

/** Pages that are rendered at once and wait for it, in all and for one reader. A page of a large fleet takes
 * some ten milliseconds, and other work runs while it is compressed. */
const renderings = { total: 6, perKey: 2, maxWaiting: 16, maxWaitingInAll: 200, waitMs: 5_000 }

/** `maxPages`: the maximum number of cached pages. */
export function createRendered(maxPages: number, clock: Clock): Rendered {
  const kept = new Map<string, Promise<Page | undefined>>()
  const limiter = new FairLimiter({ ...renderings, clock })
  const render = async (reader: string, make: () => Promise<string>): Promise<Page | undefined> => {
    const hold = await limiter.acquire({ tenant: reader })
    if (hold === undefined) return undefined
    try {
      return new Uint8Array(await compress(await make()))
    } finally {
      hold.release()
    }
  }
  return {
    async of(key, reader, make) {
      const page = kept.get(key) ?? render(reader, make)
      kept.delete(key)
      kept.set(key, page)
      const [oldest] = kept.keys()
      if (kept.size > maxPages && oldest !== undefined) kept.delete(oldest)
      let bytes: Page | undefined
      try {
        return (bytes = await page)
      } finally {
        if (bytes === undefined && kept.get(key) === page) kept.delete(key)
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
