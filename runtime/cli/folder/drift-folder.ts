/**
 * What was changed on a gateway since its last sync, told by resource, without secrets.
 */
import type { CommitHash } from '../../gatewaysync/values.ts'
import { sourceRoots } from '../../gatewaysync/decide/source-roots.ts'
import { Fault } from '../../fault.ts'
import { changeLines, sumLine, sumOf, tellChange } from '../../capture/describe.ts'
import { findLocalChanges, type LocalChanges } from '../../capture/local-changes.ts'
import { readManifest } from '../../sync/disk/manifest-file.ts'
import type { Wanted } from '../../sync/model/wanted.ts'
import { type FolderOptions, type OpenedFolder, withFolder } from './opened-folder.ts'
import { workSignal } from '../stop.ts'

export type DriftOptions = FolderOptions & { format: 'text' | 'json' }

const timeoutMs = 600_000

/** Throws InvalidConfiguration where the folder was never synced, and what reading throws. */
export async function driftOfFolder(options: DriftOptions): Promise<{ text: string; changes: boolean }> {
  const signal = workSignal(timeoutMs)
  return await withFolder(
    options,
    async (opened) => {
      const { wanted, found } = await lookAtFolder(opened, options, signal)
      const told = found.changes.filter(({ kind }) => kind === 'change').map((change) => tellChange(change, found, wanted))
      const lines = (): string[] => [
        ...told.flatMap((change, index) => changeLines(change, told[index - 1])),
        sumLine(sumOf(found), wanted.commit),
      ]
      const text = options.format === 'json' ? JSON.stringify({ commit: wanted.commit, changes: told }, undefined, 2) : lines().join('\n')
      return { text: `${text}\n`, changes: told.length > 0 }
    },
    signal,
  )
}

/** The local changes of a folder against the commit that was last published to it. */
export async function lookAtFolder(
  { mirror, sync, wantedAt }: OpenedFolder,
  { data, mode }: FolderOptions,
  signal: AbortSignal,
): Promise<{ wanted: Wanted & { commit: CommitHash }; found: LocalChanges }> {
  const before = wantedAt('' as CommitHash, sync.spec.git.ref)
  const manifest = readManifest(before.dataDir)
  const { state } = manifest
  if (state?.commit === undefined || state.commit === null) {
    throw new Fault('InvalidConfiguration', `${data} was never synced, or its records are lost: there is no commit to compare it with`)
  }
  // By its ref first: a host that gives no commit by its hash gives the ref.
  await mirror.resolve(before.ref, { fresh: true }, signal)
  await mirror.ensure(state.commit, signal)
  const at = wantedAt(state.commit, state.ref)
  const wanted = mode === undefined && state.mode !== undefined ? { ...at, facts: { ...at.facts, mode: state.mode } } : at
  const found = await findLocalChanges(
    mirror.source(() => sourceRoots(wanted.profile)),
    wanted,
    manifest,
    signal,
  )
  return { wanted, found }
}
