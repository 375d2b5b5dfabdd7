/**
 * What the checks find in a repository, as `cluster-sync lint` looks for it.
 */
import { checkCollections } from '../../runtime/collections/check/check.ts'
import { listingOf } from '../../runtime/collections/model/listing.ts'
import { findProjectRoots } from '../../runtime/collections/model/projects.ts'
import { findRoots } from '../../runtime/collections/model/roots.ts'
import type { Files } from '../support/collection-tree.ts'

const signal = new AbortController().signal

/** `<rule> <path>` of each finding. */
export async function findingsIn(files: Files): Promise<string[]> {
  const paths = Object.keys(files)
  const roots = [
    ...findRoots(paths).map((root) => ({ root, kind: 'collections' as const })),
    ...findProjectRoots(paths).map((root) => ({ root, kind: 'projects' as const })),
  ]
  const found: string[] = []
  for (const options of roots) {
    const { findings } = await checkCollections(listingOf(files), options, signal)
    found.push(...findings.map(({ rule, path }) => `${rule} ${path}`))
  }
  return found
}
