/**
 * Shows what a plan would change, file by file and line by line: for `cluster-sync plan` and for dry runs. Reads contents within limits and
 * writes nothing; secrets are hidden.
 */
import type { BlobId, Source } from '../../content/protocol/protocol.ts'
import { visible } from '../../api/values.ts'
import { readBlobs } from '../desired/small-blobs.ts'
import type { SyncTarget } from '../model/desired.ts'
import { readPresent, withFolders } from '../disk/folders.ts'
import { lineDiff } from './shown-diff.ts'
import { maskSecrets } from './mask.ts'
import { recipeOf } from '../desired/mappings.ts'
import type { PlannedPut } from './plan.ts'
import type { Prepared } from './make-plan.ts'

/** `diff` holds lines that begin with `-` or `+`, without secrets; undefined when one side is binary, may not be shown, or was not compared. */
export type FileDiff = { op: 'add' | 'change' | 'remove'; path: string; diff?: string }

/** Limits of a comparison: files, bytes of each side of a file, and bytes in total; further changes are only named. */
export type DiffLimits = { files: number; fileBytes: number; totalBytes: number }

/**
 * Returns every change of the plan in the order of paths, the first ones with their lines. Throws what the source throws, and
 * TemplateFailed.
 */
export async function diffPlan(
  source: Source,
  target: SyncTarget,
  prepared: Prepared,
  limits: DiffLimits,
  signal: AbortSignal,
): Promise<FileDiff[]> {
  const { plan } = prepared
  const compared = comparedPuts(plan.puts, limits)
  const ids = compared.map(({ id }) => id)
  const contents = await readBlobs(source, target, ids, limits.fileBytes, signal)
  return withFolders(target.dataDir, (folders) => {
    const puts = plan.puts.map((put): FileDiff => {
      const op = put.before === 'absent' ? 'add' : 'change'
      const before = op === 'add' ? undefined : readPresent(folders, put.path, limits.fileBytes)
      const after = contents.has(put.id) ? madeContent(prepared, put, contents) : undefined
      const sides = after === undefined ? undefined : maskSecrets(before, after)
      const lines = sides === undefined ? undefined : lineDiff(sides.before, sides.after)
      return { op, path: put.path, ...(lines === undefined ? {} : { diff: lines }) }
    })
    const removals = plan.deletes.map(({ path: file }): FileDiff => ({ op: 'remove', path: file }))
    return [...puts, ...removals].toSorted((a, b) => (a.path < b.path ? -1 : 1))
  })
}

function comparedPuts(puts: readonly PlannedPut[], { files, fileBytes, totalBytes }: DiffLimits): PlannedPut[] {
  const result: PlannedPut[] = []
  let bytes = 0
  for (const put of puts) {
    if (put.size > fileBytes) continue
    bytes += put.size
    if (result.length >= files || bytes > totalBytes) break
    result.push(put)
  }
  return result
}

function madeContent({ diff, renderer }: Prepared, put: PlannedPut, contents: ReadonlyMap<BlobId, Uint8Array>): Uint8Array | undefined {
  const content = contents.get(put.id)
  const mapping = diff.mappings[put.mapping]
  const recipe = mapping === undefined ? undefined : recipeOf(mapping, put.path)
  return content === undefined || recipe === undefined || renderer === undefined
    ? content
    : renderer.file(put.path, put.id, content, recipe).content
}

/** How people see the kind of a change, in front of its path. */
export const changeMarks = { add: '+', change: '~', remove: '-' } as const

/**
 * Formats changes for a terminal: a line per file, its differences indented below. Text over `maxCharacters` is cut after a whole line,
 * with a note.
 */
export function diffText(changes: readonly FileDiff[], maxCharacters = Number.POSITIVE_INFINITY): string {
  const shownLines: string[] = []
  const last = '… more is not shown'
  let length = last.length + 1
  for (const { op, path: file, diff: shown = '' } of changes) {
    const own = shown.split('\n').filter(Boolean)
    for (const line of [`${changeMarks[op]} ${JSON.stringify(file).slice(1, -1)}`, ...own.map((text) => `    ${text}`)].map(visible)) {
      length += line.length + 1
      if (length > maxCharacters) return [...shownLines, last].join('\n')
      shownLines.push(line)
    }
  }
  return shownLines.join('\n')
}
