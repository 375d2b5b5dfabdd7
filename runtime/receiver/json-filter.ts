/**
 * Removes members from JSON as it arrives, so that large unused lists of a body are never held. Each removed value becomes `null`. Input
 * that is not JSON is kept, except parts that resemble such a value. Pure.
 */

const [quote, backslash, colon, comma] = [0x22, 0x5c, 0x3a, 0x2c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]
const nothing = new TextEncoder().encode('null')
/** Bytes; a longer name is never removed. */
const longestName = 32

/** Filters one body. */
export class JsonFilter {
  readonly #isLeftOut: (name: string, level: number) => boolean
  /** For each open list or object, whether it is an object. */
  readonly #open: boolean[] = []
  #inText = false
  #escaped = false
  #isNameNext = false
  /** The current or last name. */
  #name: number[] | undefined
  /** How many lists and objects are open within the removed value; undefined: none is removed now. */
  #skipped: number | undefined

  /** `isLeftOut` gets a name and its level, 1 for a top-level member. */
  constructor(isLeftOut: (name: string, level: number) => boolean) {
    this.#isLeftOut = isLeftOut
  }

  /** Returns the kept parts of a piece; they share its memory. */
  take(piece: Uint8Array): Uint8Array[] {
    const kept: Uint8Array[] = []
    let from = 0
    for (let at = 0; at < piece.length;) {
      const skipped = this.#skipped !== undefined
      if (this.#inText) at = this.#passText(piece, at)
      else at = skipped ? this.#skip(piece, at) : this.#pass(piece, at)
      if (skipped && this.#skipped === undefined) from = at
      if (!skipped && this.#skipped !== undefined) kept.push(piece.subarray(from, at), nothing)
    }
    if (this.#skipped === undefined && from < piece.length) kept.push(piece.subarray(from))
    return kept
  }

  /** Returns the position after the string that continues at `at`; the end of the piece if the string does not end in it. */
  #passText(piece: Uint8Array, at: number): number {
    for (let place = at; place < piece.length; place += 1) {
      const byte = piece[place] ?? 0
      if (this.#escaped) this.#escaped = false
      else if (byte === backslash) this.#escaped = true
      else if (byte === quote) {
        this.#inText = false
        if (this.#skipped === 0) this.#skipped = undefined
        return place + 1
      }
      if (this.#isNameNext && this.#name !== undefined && this.#name.length <= longestName) this.#name.push(byte)
    }
    return piece.length
  }

  /** Reads a byte of a removed value; returns the next position. */
  #skip(piece: Uint8Array, at: number): number {
    const byte = piece[at] ?? 0
    const depth = this.#skipped ?? 0
    if (depth === 0 && (closes(byte) || byte === comma)) {
      this.#skipped = undefined
      return at
    }
    if (opens(byte)) this.#skipped = depth + 1
    else if (closes(byte)) this.#skipped = depth === 1 ? undefined : depth - 1
    else if (byte === quote) this.#inText = true
    return at + 1
  }

  /** Reads a byte of a kept part; returns the next position. */
  #pass(piece: Uint8Array, at: number): number {
    const byte = piece[at] ?? 0
    if (byte === quote) {
      this.#inText = true
      if (this.#isNameNext) this.#name = []
    } else if (opens(byte)) {
      this.#open.push(byte === openBrace)
      this.#isNameNext = byte === openBrace
    } else if (closes(byte)) {
      this.#open.pop()
      this.#isNameNext = false
    } else if (byte === comma) this.#isNameNext = this.#open.at(-1) === true
    else if (byte === colon && this.#isNameNext && this.#name !== undefined) {
      this.#isNameNext = false
      if (this.#isLeftOut(Buffer.from(this.#name).toString('latin1'), this.#open.length)) this.#skipped = 0
      this.#name = undefined
    }
    return at + 1
  }
}

function opens(byte: number): boolean {
  return byte === openBrace || byte === openBracket
}

function closes(byte: number): boolean {
  return byte === closeBrace || byte === closeBracket
}
