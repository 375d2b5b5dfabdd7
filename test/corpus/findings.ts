/**
 * The findings of `cluster-sync lint` in a repository.
 */
import { lint } from '../../runtime/cli/collections/lint.ts'
import { FileTable } from '../../runtime/validation/model/file-table.ts'
import { listingOf } from '../../runtime/validation/model/listing.ts'
import type { CheckFinding } from '../../runtime/validation/rules/findings.ts'
import { noSettings } from '../../runtime/validation/rules/severities.ts'
import type { Files } from '../support/collection-tree.ts'

const signal = new AbortController().signal

export async function lintOf(files: Files): Promise<CheckFinding[]> {
  const listing = listingOf(files)
  const table = await FileTable.list(listing, '', signal)
  const input = { listing, files: table, below: '', settings: noSettings, close: async () => undefined }
  return (await lint(input, undefined, signal)).findings
}

/** `<rule> <path>` of each finding. */
export async function findingsIn(files: Files): Promise<string[]> {
  return (await lintOf(files)).map(({ rule, path }) => `${rule} ${path}`)
}
