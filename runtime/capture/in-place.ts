/**
 * What was changed since the commit that is in place, whatever is wanted there now: how an agent sees its gateway. Nothing is written.
 */
import type { Source } from '../delivery/protocol.ts'
import { Fault } from '../fault.ts'
import { type CommitHash, isCommitHash } from '../gatewaysync/values.ts'
import { readManifest } from '../sync/disk/manifest-file.ts'
import type { Wanted } from '../sync/model/wanted.ts'
import { isInterrupted } from '../sync/publish/journal.ts'
import { findLocalChanges, type LocalChanges } from './local-changes.ts'

/**
 * `at` is `wanted` with the commit and the mode that are in place; undefined while the folder is between two commits, or has none. Throws
 * StateUnreadable, and what reading and the source throw.
 */
export async function lookInPlace(
  source: Source,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<{ at: Wanted & { commit: CommitHash }; found: LocalChanges } | undefined> {
  if (isInterrupted(wanted.dataDir)) return undefined
  const manifest = readManifest(wanted.dataDir)
  const { state } = manifest
  if (state?.commit === undefined || state.commit === null || !isCommitHash(state.commit)) return undefined
  if (manifest.doubt !== undefined)
    throw new Fault('StateUnreadable', 'the records of the data directory are damaged; the next sync mends them')
  const facts = state.mode === undefined ? wanted.facts : { ...wanted.facts, mode: state.mode }
  const at = { ...wanted, commit: state.commit, ref: state.ref, facts }
  return { at, found: await findLocalChanges(source, at, manifest, signal) }
}
