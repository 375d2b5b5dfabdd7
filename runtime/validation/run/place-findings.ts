/**
 * Finds the line of a finding, for users and for code hosts that show it next to the change. Reading is bounded: the first findings get lines, the
 * others only their file.
 */
import { type FileEntry, type Listing, readTexts } from '../model/listing.ts'

/** From 1. `text` is the line, without control characters. */
export type TextPosition = { line: number; column: number; text: string }
/** Without a place if the line was not searched or cannot be determined. */
export type Placed<Finding> = Finding & { place?: TextPosition }

/** Maximum number of files to search for lines; larger files are skipped. */
const maxFiles = 500
const filesAtOnce = 10
const maxFileBytes = 256 * 1024
const maxLine = 160

/** `find` takes the path of a finding, which may be a folder's. Throws what reading throws. */
export async function placeFindings<Finding extends { path: string; message: string }>(
  listing: Listing,
  find: (path: string) => FileEntry | undefined,
  findings: readonly Finding[],
  signal: AbortSignal,
): Promise<Placed<Finding>[]> {
  const files: FileEntry[] = []
  for (const path of new Set(findings.map((finding) => finding.path))) {
    const file = files.length < maxFiles ? find(path) : undefined
    if (file !== undefined) files.push(file)
  }
  const places = new Map<Finding, TextPosition>()
  for (let at = 0; at < files.length; at += filesAtOnce) {
    const texts = await readTexts(listing, files.slice(at, at + filesAtOnce), maxFileBytes, signal)
    for (const finding of findings) {
      const text = texts.get(finding.path)?.toString('utf8')
      const place = text === undefined ? undefined : placeOf(text, finding.message)
      if (place !== undefined) places.set(finding, place)
    }
  }
  return findings.map((finding) => {
    const place = places.get(finding)
    return place === undefined ? finding : { ...finding, place }
  })
}

/**
 * The position that a message refers to: the line and column that it names, otherwise the only occurrence of the first name that it quotes. Undefined
 * if there is none or more than one. Pure.
 */
export function placeOf(text: string, message: string): TextPosition | undefined {
  const [, line, column] = /\(?line (\d+),? column (\d+)\)?/.exec(message) ?? []
  if (line !== undefined) return placeAt(text, Number(line), Number(column))
  const [, onlyLine] = /\b(?:on|of) line (\d+)/.exec(message) ?? []
  if (onlyLine !== undefined) return placeAt(text, Number(onlyLine), 1)
  const [, position] = /at position (\d+)/.exec(message) ?? []
  if (position !== undefined) return placeAtOffset(text, Number(position))
  const [quoted] = /"(?:[^"\\]|\\.)+"/.exec(message) ?? []
  if (quoted === undefined) return undefined
  const at = text.indexOf(quoted)
  return at < 0 || text.includes(quoted, at + 1) ? undefined : placeAtOffset(text, at)
}

function placeAtOffset(text: string, offset: number): TextPosition | undefined {
  const before = text.slice(0, offset).split('\n')
  return placeAt(text, before.length, (before.at(-1) ?? '').length + 1)
}

function placeAt(text: string, line: number, column: number): TextPosition | undefined {
  const found = text.split('\n', line)[line - 1]
  if (found === undefined) return undefined
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  const printable = found.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
  const shown = printable.replaceAll('\t', '  ').trimEnd()
  return { line, column: Math.max(1, column), text: shown.length > maxLine ? `${shown.slice(0, maxLine)}…` : shown }
}
