/**
 * Removes members from JSON as it arrives, so that large unused lists of a body are never held. Each removed value becomes `null`. Input
 * that is not JSON is kept, except parts that resemble such a value. Pure.
 */

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
const nothing = new TextEncoder().encode('null')
/** Bytes; a longer name is never removed. */
const longestName = 32

/** Returns the kept parts of a piece; they share its memory. `isLeftOut` gets a name and its level, 1 for a top-level member. */
export type JsonFilter = (piece: Uint8Array) => Uint8Array[]

export function createJsonFilter(isLeftOut: (name: string, level: number) => boolean): JsonFilter {
  /** For each open list or object, whether it is an object. */
  const open: boolean[] = []
  let [inText, escaped, isNameNext] = [false, false, false]
  /** The current or last name. */
  let name: number[] | undefined
  /** How many lists and objects are open within the removed value; undefined: none is removed now. */
  let skipped: number | undefined

  /** Returns the position after the string that continues at `at`; the end of the piece if the string does not end in it. */
  const passText = (piece: Uint8Array, at: number): number => {
    for (let place = at; place < piece.length; place += 1) {
      const byte = piece[place] ?? 0
      if (escaped) escaped = false
      else if (byte === backslash) escaped = true
      else if (byte === quote) {
        inText = false
        return place + 1
      }
      if (isNameNext && name !== undefined && name.length <= longestName) name.push(byte)
    }
    return piece.length
  }
  return (piece) => {
    const kept: Uint8Array[] = []
    let from = 0
    let at = 0
    const endSkip = (next: number): void => {
      skipped = undefined
      from = next
    }
    while (at < piece.length) {
      if (inText) {
        at = passText(piece, at)
        if (!inText && skipped === 0) endSkip(at)
        continue
      }
      const byte = piece[at]
      const opens = byte === openBrace || byte === openBracket
      const closes = byte === closeBrace || byte === closeBracket
      if (skipped !== undefined) {
        if (skipped === 0 && (closes || byte === comma)) {
          endSkip(at)
          continue
        }
        if (opens) skipped += 1
        else if (closes) skipped -= 1
        else if (byte === quote) inText = true
        at += 1
        if (closes && skipped === 0) endSkip(at)
        continue
      }
      at += 1
      if (byte === quote) {
        inText = true
        if (isNameNext) name = []
      } else if (opens) {
        open.push(byte === openBrace)
        isNameNext = byte === openBrace
      } else if (closes) {
        open.pop()
        isNameNext = false
      } else if (byte === comma) isNameNext = open.at(-1) === true
      else if (byte === colon && isNameNext && name !== undefined) {
        isNameNext = false
        if (isLeftOut(Buffer.from(name).toString('latin1'), open.length)) {
          kept.push(piece.subarray(from, at), nothing)
          skipped = 0
          from = piece.length
        }
        name = undefined
      }
    }
    if (skipped === undefined && from < piece.length) kept.push(piece.subarray(from))
    return kept
  }
}
