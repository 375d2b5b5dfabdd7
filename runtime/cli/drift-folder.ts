/**
 * What was changed on a gateway since its last sync, told by resource, without secrets.
 */
import { type CommitHash, parentOf, visible } from '../gatewaysync/values.ts'
import { sourceRoots } from '../gatewaysync/decide/source-roots.ts'
import { Fault } from '../fault.ts'
import { jsonOrUndefined } from '../json.ts'
import { findLocalChanges, type LocalChange, type LocalChanges, presentContent } from '../capture/local-changes.ts'
import { readManifest } from '../sync/disk/manifest-file.ts'
import type { Wanted } from '../sync/model/wanted.ts'
import { lineDiff } from '../sync/plan/line-diff.ts'
import { maskSecrets } from '../sync/plan/mask.ts'
import { type JsonDifference, differences } from './json-diff.ts'
import { type FolderOptions, type OpenedFolder, withFolder } from './opened-folder.ts'
import { workSignal } from './stop.ts'

export type DriftOptions = FolderOptions & { format: 'text' | 'json' }

/** `keys`: of JSON; `lines`: of other text. Neither for what is no text, too large, or there on one side only. */
type ToldChange = { path: string; op: LocalChange['op']; keys?: JsonDifference[]; lines?: string[]; why?: string }

const timeoutMs = 600_000
/** A change that is longer is told by its number of lines. */
const maxLines = 40
const maxComparedBytes = 1024 * 1024

/** Throws InvalidConfiguration where the folder was never synced, and what reading throws. */
export async function driftOfFolder(options: DriftOptions): Promise<{ text: string; changes: boolean }> {
  const signal = workSignal(timeoutMs)
  return await withFolder(
    options,
    async (opened) => {
      const { wanted, found } = await lookAtFolder(opened, options, signal)
      const own = found.changes.filter(({ kind }) => kind === 'change')
      const told = own.map((change) => tell(change, found, wanted))
      const left = found.changes.length - own.length
      const text =
        options.format === 'json'
          ? `${JSON.stringify({ commit: wanted.commit, changes: told }, undefined, 2)}\n`
          : asText(told, left, wanted.commit)
      return { text, changes: told.length > 0 }
    },
    signal,
  )
}

/** As people name a commit. */
export function shortHash(commit: string): string {
  return commit.slice(0, 8)
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

function tell({ path, op, obstacle }: LocalChange, { written }: LocalChanges, wanted: Wanted): ToldChange {
  if (obstacle !== undefined) return { path, op, why: obstacle }
  const before = written(path)
  const after = op === 'removed' ? undefined : presentContent(wanted, path, maxComparedBytes)
  if (op !== 'changed' || before === undefined || after === undefined) return { path, op }
  const [a, b] = [jsonOf(before), jsonOf(after)]
  if (a !== undefined && b !== undefined) return { path, op, keys: differences(a, b) }
  const sides = maskSecrets(before, after)
  const lines = sides === undefined ? undefined : lineDiff(sides.before, sides.after)?.split('\n').filter(Boolean)
  return lines === undefined ? { path, op } : { path, op, lines }
}

function jsonOf(content: Uint8Array): unknown {
  return jsonOrUndefined(Buffer.from(content).toString('utf8'))
}

const marks = { added: '+', changed: '~', removed: '-' } as const

function asText(changes: readonly ToldChange[], left: number, commit: string): string {
  const lines: string[] = []
  let folder: string | undefined
  for (const change of changes) {
    if (parentOf(change.path) !== folder) {
      folder = parentOf(change.path)
      lines.push(folder === '' ? '.' : folder)
    }
    const name = change.path.slice(folder === '' ? 0 : folder.length + 1)
    lines.push(`  ${marks[change.op]} ${name}${change.why === undefined ? '' : ` (${change.why})`}`, ...details(change))
  }
  const count = (op: LocalChange['op']): number => changes.filter((change) => change.op === op).length
  const ignored = left === 0 ? '' : `; ${left} more differ in what a gateway writes by itself`
  const sum = `${count('changed')} changed, ${count('added')} added, ${count('removed')} removed since commit ${shortHash(commit)}${ignored}`
  return visible(`${[...lines, sum].join('\n')}\n`)
}

function details({ keys, lines }: ToldChange): string[] {
  const all = keys === undefined ? (lines ?? []) : keys.map(({ at, a, b }) => `${at}: ${a ?? '(absent)'} -> ${b ?? '(absent)'}`)
  const shown = all.slice(0, maxLines).map((line) => `      ${line}`)
  return all.length > maxLines ? [...shown, `      … ${all.length - maxLines} more`] : shown
}
