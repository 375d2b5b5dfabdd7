/**
 * Reports the local changes of a gateway since its last sync by resource, without secrets.
 */
import { followedRef } from '../../api/followed-ref.ts'
import type { CommitHash } from '../../api/values.ts'
import { sourceRoots } from '../../api/schema/source-roots.ts'
import { Fault } from '../../platform/fault.ts'
import { findLocalChanges, type LocalChanges } from '../../capture/detect/local-changes.ts'
import { readManifest } from '../../sync/disk/manifest-file.ts'
import type { SyncTarget } from '../../sync/model/desired.ts'
import { type FolderOptions, type OpenedFolder, withFolder } from './opened-folder.ts'
import { workSignal } from '../stop.ts'
import { changeLines, sumLine, sumOf, describeChange } from '../../capture/detect/report.ts'

export type DriftOptions = FolderOptions & { format: 'text' | 'json' }

const timeoutMs = 600_000

/** Throws InvalidConfiguration if the folder was never synced, and what reading throws. */
export async function driftOfFolder(options: DriftOptions): Promise<{ text: string; changes: boolean }> {
  const signal = workSignal(timeoutMs)
  return await withFolder(
    options,
    async (opened) => {
      const { target, found } = await compareFolder(opened, options, signal)
      const described = found.changes.filter(({ kind }) => kind === 'change').map((change) => describeChange(change, found, target))
      const lines = (): string[] => [
        ...described.flatMap((change, index) => changeLines(change, described[index - 1])),
        sumLine(sumOf(found), target.commit),
      ]
      const text =
        options.format === 'json' ? JSON.stringify({ commit: target.commit, changes: described }, undefined, 2) : lines().join('\n')
      return { text: `${text}\n`, changes: described.length > 0 }
    },
    signal,
  )
}

/** Compares a folder with the commit that was last applied to it. */
export async function compareFolder(
  { mirror, sync, desiredAt }: OpenedFolder,
  { data, mode }: FolderOptions,
  signal: AbortSignal,
): Promise<{ target: SyncTarget & { commit: CommitHash }; found: LocalChanges }> {
  const before = desiredAt('' as CommitHash, followedRef(sync.spec.git))
  const manifest = readManifest(before.dataDir)
  const { state } = manifest
  if (state?.commit === undefined || state.commit === null) {
    throw new Fault('InvalidConfiguration', `${data} was never synced, or its records are lost, so there is no commit to compare it with`)
  }
  // By its ref first: some hosts serve a ref but not a commit by its hash.
  await mirror.resolve(before.ref, { fresh: true }, signal)
  await mirror.ensure(state.commit, signal)
  const at = desiredAt(state.commit, state.ref)
  const target = mode === undefined && state.mode !== undefined ? { ...at, facts: { ...at.facts, mode: state.mode } } : at
  const found = await findLocalChanges(
    mirror.source(() => sourceRoots(target.profile)),
    target,
    manifest,
    signal,
  )
  return { target, found }
}
