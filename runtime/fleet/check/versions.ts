/**
 * Compares two versions of this product; adjacent minor versions are compatible. Pure.
 */
export type VersionDistance = 'same' | 'neighbors' | 'apart'

/** Versions that do not have the form `major.minor.patch` are the same only if they are equal. */
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
