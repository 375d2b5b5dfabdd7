/**
 * The journal of one apply: once it is on disk, the apply will be finished or undone, even if the process ends. It lists the renames and
 * the changes to the manifest. Encoding is pure; reading and writing follow below.
 */
import * as fs from 'node:fs'
import { crc32 } from 'node:zlib'
import * as v from 'valibot'
import { Fault } from '../../platform/fault.ts'
import { isOfOtherVersion, jsonOrUndefined } from '../../platform/text/json.ts'
import { diskFault, isMissing, writeDurably } from '../disk/disk.ts'
import { withEngineFolder } from '../disk/folders.ts'
import type { Step } from './steps.ts'
import type { ManifestChange, ManifestChanges, State } from '../model/manifest.ts'
import { changeLines, decodeLine, encodeState, inPieces } from '../model/manifest-lines.ts'
import { dropDurably, eachLine, maxRecordBytes, tooLarge } from '../disk/manifest-file.ts'
import { mayBeOwned, mayHoldOwned } from '../model/paths.ts'

/** Everything that recovery needs to know about one apply. */
export type Journal = {
  /** Name of the folder with staged and kept content, below the operator's own. */
  run: string
  bootId: string
  /** Id of the apply that the manifest named when this one began; null for the first. */
  base: string | null
  steps: Step[]
  /** Folders to remove at the end if they are empty then. */
  emptied: string[]
  changes: ManifestChanges
  state: State
}

/** Names below the run's folder, as steps.ts makes them: each is a single name, so none leads elsewhere. */
const name = (kinds: string) => v.pipe(v.string(), v.regex(new RegExp(`^[${kinds}]\\d{1,9}$`)))
const file = v.custom<string>(mayBeOwned)
const folder = v.custom<string>(mayHoldOwned)
const step = v.variant('op', [
  v.object({ op: v.literal('put'), path: file, stage: name('s'), keep: name('k'), had: v.boolean() }),
  v.object({ op: v.literal('tree'), path: folder, stage: name('t') }),
  v.object({ op: v.literal('move'), path: file, keep: name('od') }),
])
const version = 3
const head = v.object({
  version: v.literal(version),
  base: v.nullable(v.string()),
  run: v.pipe(v.string(), v.regex(/^run-[0-9a-f-]{1,64}$/)),
  bootId: v.string(),
})
const tail = v.object({ end: v.number(), crc: v.number() })

/** The first and the last line are shorter. */
const endBytes = 4_096

/** The journal's text in chunks. `changed`: the encoded lines of its changes, as in the manifest, if they exist already. */
export function* encodeJournal(journal: Journal, changed: Iterable<Buffer> = inPieces(changeLines(journal.changes))): Generator<Buffer> {
  const { steps, emptied, changes, state } = journal
  let crc = 0
  for (const pieces of [inPieces(firstLines(journal)), changed, inPieces([encodeState(state)])]) {
    for (const piece of pieces) {
      crc = crc32(piece, crc)
      yield piece
    }
  }
  yield Buffer.from(`${JSON.stringify({ end: steps.length + emptied.length + changes.length + 2, crc })}\n`)
}

function* firstLines({ run, bootId, base, steps, emptied }: Journal): Generator<string> {
  yield `${JSON.stringify({ version, run, bootId, base })}\n`
  for (const entry of steps) yield `${JSON.stringify(['s', entry])}\n`
  for (const folder of emptied) yield `${JSON.stringify(['e', folder])}\n`
}

/**
 * Decodes line by line, because the text of a large journal should not be in memory as a whole. Both throw StateUnreadable, `finish` also for an
 * incomplete journal: it is renamed into place when complete, so anything else is damage.
 */
export function journalReader(): { line(text: string): void; finish(): Journal } {
  const steps: Step[] = []
  const emptied: string[] = []
  const changes: ManifestChange[] = []
  let begin: v.InferOutput<typeof head> | undefined
  let state: State | undefined
  let latest: string | undefined
  let count = 0
  let crc = 0
  const take = (line: string): void => {
    count += 1
    crc = crc32(`${line}\n`, crc)
    if (begin === undefined) {
      begin = headOf(line)
      return
    }
    const entry = decodeLine(line)
    const fields = entry === undefined ? jsonOrUndefined(line) : undefined
    const [kind, value] = Array.isArray(fields) ? (fields as unknown[]) : []
    if (entry?.kind === 'change') changes.push(entry.change)
    else if (entry?.kind === 'state') state = entry.state
    else if (kind === 's' && v.is(step, value)) steps.push(value)
    else if (kind === 'e' && mayHoldOwned(value)) emptied.push(value)
    else throw damaged(count)
  }
  return {
    line(text) {
      if (latest !== undefined) take(latest)
      latest = text
    },
    finish() {
      const { run, bootId, base } = begin ?? headOf(latest)
      const last = v.safeParse(tail, jsonOrUndefined(latest ?? ''))
      if (!last.success || last.output.end !== count || last.output.crc !== crc || state === undefined) throw damaged(count + 1)
      return { run, bootId, base, steps, emptied, changes, state }
    },
  }
}

function headOf(line: string | undefined): v.InferOutput<typeof head> {
  const found = jsonOrUndefined(line ?? '')
  const parsed = v.safeParse(head, found)
  if (parsed.success) return parsed.output
  if (isOfOtherVersion(found, version))
    throw new Fault('StateUnreadable', 'another version of this program wrote the journal of an interrupted sync')
  throw damaged(1)
}

function damaged(line: number): Fault {
  return new Fault('StateUnreadable', `the journal of an interrupted sync is damaged at line ${line}`)
}

/** Writes the journal; when this returns it is complete and durable. `changed` as in `encodeJournal`. Throws errors of the file system. */
export function writeJournal(dataDir: string, journal: Journal, changed?: Iterable<Buffer>): void {
  withEngineFolder(dataDir, (engine) => writeDurably(engine.at('journal'), encodeJournal(journal, changed)))
}

/** Whether an apply has neither ended nor been undone. Throws what `interruptedApply` throws. */
export function isInterrupted(dataDir: string): boolean {
  return interruptedApply(dataDir) !== undefined
}

/** Like `isInterrupted`, but never throws, so that it cannot hide an earlier failure; true if unknown. */
export function mayBeInterrupted(dataDir: string): boolean {
  try {
    return isInterrupted(dataDir)
  } catch {
    return true
  }
}

/** Identifies the interrupted apply; undefined: none. Throws NotWritable, SymbolicLink, PublishFailed. */
export function interruptedApply(dataDir: string): string | undefined {
  try {
    return withEngineFolder(dataDir, (engine) => {
      const stat = fs.lstatSync(engine.at('journal'), { throwIfNoEntry: false })
      return stat === undefined ? undefined : `${stat.ino} ${stat.mtimeMs}`
    })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw diskFault(error, '.cluster-sync/journal')
  }
}

/** Reads the journal; undefined if there is none. Throws StateUnreadable, NotWritable, SymbolicLink. */
export function readJournal(dataDir: string): Journal | undefined {
  try {
    return withEngineFolder(dataDir, (engine) => {
      const fd = fs.openSync(engine.at('journal'), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
      try {
        const stat = fs.fstatSync(fd)
        if (!stat.isFile()) throw damaged(1)
        if (stat.size > maxRecordBytes())
          throw new Fault('StateUnreadable', `the journal of an interrupted sync cannot be used: ${tooLarge(stat.size)}`)
        checkEnds(fd, stat.size)
        const reader = journalReader()
        let lines = 0
        const problem = eachLine(fd, stat.size, (text) => {
          lines += 1
          reader.line(text)
          return true
        })
        if (problem !== undefined) throw damaged(lines + 1)
        return reader.finish()
      } finally {
        fs.closeSync(fd)
      }
    })
  } catch (error) {
    if (isMissing(error)) return undefined
    throw diskFault(error, '.cluster-sync/journal')
  }
}

/** Throws StateUnreadable unless both ends have the expected form, so that another file is not read into memory. */
function checkEnds(fd: number, size: number): void {
  const ends = Buffer.alloc(2 * endBytes)
  const first = fs.readSync(fd, ends, 0, Math.min(size, endBytes), 0)
  const last = fs.readSync(fd, ends, endBytes, Math.min(size, endBytes), Math.max(0, size - endBytes))
  headOf(ends.toString('utf8', 0, first).split('\n', 1)[0])
  const end = ends
    .toString('utf8', endBytes, endBytes + last)
    .trimEnd()
    .split('\n')
    .at(-1)
  if (!v.is(tail, jsonOrUndefined(end ?? ''))) throw damaged(1)
}

/** Removes the journal durably: the apply is over, finished or undone. */
export function dropJournal(dataDir: string): void {
  withEngineFolder(dataDir, (engine) => dropDurably(engine.at('journal'), engine.folder()))
}
