/**
 * What an agent tells in its report of the changes on its gateway, for whoever asks: by folder, without secrets, as much as a report has room
 * for. Nothing is read before somebody asks.
 */
import type { Source } from '../delivery/protocol.ts'
import { mostToldText, type ToldChanges } from '../gatewaysync/schema/report.ts'
import type { Wanted } from '../sync/model/wanted.ts'
import { changeLines, sumLine, sumOf, tellChange } from './describe.ts'
import { lookInPlace } from './in-place.ts'
import type { LocalChange } from './local-changes.ts'

/** The answer to one request; undefined while the folder is between two commits, or has none. Throws what reading and the source throw. */
export type TellChanges = (source: Source, wanted: Wanted, request: string, signal: AbortSignal) => Promise<ToldChanges | undefined>

/** The last lines of a text, which count what has no room in it. */
const endLength = 300

/** Looks once for each request: what is told stays as it was when it was asked for. */
export function createChangesTeller(): TellChanges {
  let told: ToldChanges | undefined
  return async (source, wanted, request, signal) => {
    if (told?.request === request) return told
    told = undefined
    const seen = await lookInPlace(source, wanted, signal)
    if (seen === undefined) return undefined
    const { at, found } = seen
    const lines: string[] = []
    let room = mostToldText - endLength
    let before: LocalChange | undefined
    let notShown = 0
    for (const change of found.changes) {
      if (change.kind !== 'change') continue
      const own = notShown > 0 ? [] : changeLines(tellChange(change, found, at), before)
      const length = own.reduce((sum, line) => sum + line.length + 1, 0)
      if (notShown > 0 || length > room) {
        notShown += 1
        continue
      }
      room -= length
      before = change
      lines.push(...own)
    }
    if (notShown > 0) lines.push(`… ${notShown} more files`)
    const sum = sumOf(found)
    told = { request, commit: at.commit, ...sum, text: [...lines, sumLine(sum, at.commit)].join('\n') }
    return told
  }
}
