/**
 * Returns the address of a documentation page of this version, from the project's home that package.json names. Pure.
 */
import manifest from '../../package.json' with { type: 'json' }
import { version } from './version.ts'

/** Domains that no project can own (RFC 2606): the home is not set yet. */
const reserved = /^https:\/\/(?:[^/]+\.)?example\.(?:com|net|org)\//

/** Undefined while the home is not set. `page`: the path in the repository, possibly with a section. */
export function docsUrl(page: string, repository: string = manifest.repository.url): string | undefined {
  const home = repository.replace(/^git\+/, '').replace(/\.git$/, '')
  return reserved.test(home) ? undefined : `${home}/blob/v${version}/${page}`
}

/** The URL, or the path in the repository while the home is not set. */
export function docsPage(page: string): string {
  return docsUrl(page) ?? page
}
