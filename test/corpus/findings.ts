/**
 * What `cluster-sync lint` finds in a repository.
 */
import { lint } from '../../runtime/cli/collections/lint.ts'
import { FileTable } from '../../runtime/collections/model/file-table.ts'
import { listingOf } from '../../runtime/collections/model/listing.ts'
import { noSettings } from '../../runtime/collections/rules/severities.ts'
import type { Files } from '../support/collection-tree.ts'

const signal = new AbortController().signal

/** `<rule> <path>` of each finding. */
export async function findingsIn(files: Files): Promise<string[]> {
  const listing = listingOf(files)
  const table = await FileTable.list(listing, '', signal)
  const input = { listing, files: table, below: '', settings: noSettings, close: async () => undefined }
  const { findings } = await lint(input, undefined, signal)
  return findings.map(({ rule, path }) => `${rule} ${path}`)
}
