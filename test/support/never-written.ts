/**
 * Paths below a data directory that the product never writes or deletes (design section 6), the engine's own folder, and the default
 * excludes: skipped when a folder is compared with a commit.
 */
export function isNeverWritten(file: string): boolean {
  return /(?:^|\/)(?:\.resources|\.cluster-sync)\/|^config\/(?:local|resources\/local|ignition\/keys)\/|\.idb$|\.gitkeep$/.test(file)
}
