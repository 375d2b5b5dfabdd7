/**
 * The version of this product, from the one place that states it: its documentation pages, and how it compares with other versions. Pure.
 */
import manifest from '../../package.json' with { type: 'json' }

export const version: string = manifest.version

/** Domains that no project can own (RFC 2606): the home is not set yet. */
const reserved = /^https:\/\/(?:[^/]+\.)?example\.(?:com|net|org)\//

/** Returns the URL of a page; undefined while the home is not set. `page`: the path in the repository, possibly with a section. */
export function docsUrl(page: string, repository: string = manifest.repository.url): string | undefined {
  const home = repository.replace(/^git\+/, '').replace(/\.git$/, '')
  return reserved.test(home) ? undefined : `${home}/blob/v${version}/${page}`
}

/** The URL, or the path in the repository while the home is not set. */
export function docsPage(page: string): string {
  return docsUrl(page) ?? page
}

/** `unknown`: the agent has reported no comparable version. */
export const skews = ['same', 'older', 'newer', 'unknown'] as const
/** How an agent's version compares with the controller's. */
type Skew = (typeof skews)[number]

/** Counts the agents of each kind. Versions are semantic versions; everything after a hyphen or plus sign is ignored. */
export function countSkews(own: string, theirs: Iterable<string | undefined>): Record<Skew, number> {
  const counts: Record<Skew, number> = { same: 0, older: 0, newer: 0, unknown: 0 }
  for (const version of theirs) counts[skewOf(own, version)] += 1
  return counts
}

function skewOf(own: string, version: string | undefined): Skew {
  if (version === own) return 'same'
  const [ours, other] = [numbersOf(own), numbersOf(version ?? '')]
  if (ours === undefined || other === undefined) return 'unknown'
  const index = ours.findIndex((number, at) => number !== other[at])
  if (index < 0) return 'same'
  return (other[index] ?? 0) < (ours[index] ?? 0) ? 'older' : 'newer'
}

function numbersOf(version: string): number[] | undefined {
  return /^(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:[-+]|$)/.exec(version)?.slice(1).map(Number)
}

type VersionDistance = 'same' | 'neighbors' | 'apart'

/**
 * Adjacent minor versions are compatible. Versions that do not have the form `major.minor.patch` are the same only if they are equal.
 */
export function compareVersions(one: string, other: string): VersionDistance {
  if (one === other) return 'same'
  const [a, b] = [partsOf(one), partsOf(other)]
  if (a === undefined || b === undefined || a.major !== b.major) return 'apart'
  return Math.abs(a.minor - b.minor) <= 1 ? 'neighbors' : 'apart'
}

function partsOf(version: string): { major: number; minor: number } | undefined {
  const [, major, minor] = /^v?([0-9]+)\.([0-9]+)\.[0-9]+/.exec(version) ?? []
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) }
}
