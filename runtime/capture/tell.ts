/**
 * What an agent tells in its report of the changes on its gateway, for whoever asks: by folder, without secrets, as much as a report has room
 * for. Nothing is read before somebody asks.
 */
import type { Source } from '../delivery/protocol.ts'
import { type AskedBy, isSameRequest } from '../gatewaysync/decide/capture.ts'
import { mostToldText, type ToldChanges } from '../gatewaysync/schema/report.ts'
import type { Wanted } from '../sync/model/wanted.ts'
import { changeLines, sumLine, sumOf, tellChange, type ToldChange } from './describe.ts'
import { lookInPlace } from './in-place.ts'
import type { LocalChange } from './local-changes.ts'

/** The answer to one request; undefined while the folder is between two commits, or has none. Throws what reading and the source throw. */
export type TellChanges = (source: Source, wanted: Wanted, asked: AskedBy, signal: AbortSignal) => Promise<ToldChanges | undefined>

/** The last lines of a text, which count what has no room in it. */
const endLength = 300
/** So many changed files are compared that have no room in the end; of later ones only the name is told. */
const mostTooLong = 20

/** Looks once for each request: what is told stays as it was when it was asked for. */
export function createChangesTeller(): TellChanges {
  let told: { of: AskedBy; changes: ToldChanges } | undefined
  return async (source, wanted, asked, signal) => {
    if (told !== undefined && isSameRequest(told.of, asked)) return told.changes
    told = undefined
    const seen = await lookInPlace(source, wanted, signal)
    if (seen === undefined) return undefined
    const { at, found } = seen
    const lines: string[] = []
    let room = mostToldText - endLength
    let before: LocalChange | undefined
    let [tooLong, notShown] = [0, 0]
    for (const change of found.changes) {
      if (change.kind !== 'change') continue
      const whole = tooLong < mostTooLong ? changeLines(tellChange(change, found, at), before) : undefined
      const isWhole = whole !== undefined && lengthOf(whole) <= room
      if (!isWhole && change.op === 'changed') tooLong += 1
      const own = isWhole ? whole : changeLines(nameOf(change), before)
      const length = lengthOf(own)
      if (length > room) {
        notShown += 1
        continue
      }
      room -= length
      before = change
      lines.push(...own)
    }
    if (notShown > 0) lines.push(`… ${notShown} more files`)
    const sum = sumOf(found)
    const text = [...lines, sumLine(sum, at.commit)].join('\n')
    told = { of: asked, changes: { request: asked.request, commit: at.commit, ...sum, text } }
    return told.changes
  }
}

function nameOf({ path, op, obstacle }: LocalChange): ToldChange {
  const why = obstacle ?? (op === 'changed' ? 'differences not shown' : undefined)
  return { path, op, ...(why === undefined ? {} : { why }) }
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0)
}
