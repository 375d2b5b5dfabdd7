/**
 * Parses untrusted JSON, and estimates the memory cost before: a megabyte of it may become fifty in memory. Serializes JSON in one order.
 * Pure.
 */

/** Returns the value of a text; undefined if it is not JSON. The caller bounds the size. */
export function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether a JSON value is an object: neither null nor a list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a record has the number of another format version, so that it is readable by another release and not damaged. */
export function isOfOtherVersion(value: unknown, version: number): boolean {
  return isObject(value) && typeof value['version'] === 'number' && value['version'] !== version
}

/** Nesting, members, lists and objects, and entries of both. Parsed, an entry costs 16 bytes or more, a list or an object 60. */
export type Complexity = { depth: number; keys: number; containers: number; entries: number }

const [quote, backslash, colon, openBrace, closeBrace, openBracket, closeBracket, comma] = [0x22, 0x5c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c]

/** How many bytes take as long to read as the start of a search: escapes may follow one another. */
const searchCost = 16

/** Counts over the pieces so far; invalid JSON is counted by the same characters. */
export function createCounter(): { take(piece: Uint8Array): void; counted(): Complexity } {
  let [depth, deepest, keys, containers, commas] = [0, 0, 0, 0, 0]
  let [inText, escaped] = [false, false]
  return {
    take(piece) {
      // Long strings are most of a body and are skipped by a search. Each delimiter is searched again only when it is passed, so bytes are
      // not read repeatedly.
      let [quoteAt, backslashAt] = [piece.indexOf(quote), piece.indexOf(backslash)]
      for (let at = 0; at < piece.length; at += 1) {
        if (escaped) {
          escaped = false
          continue
        }
        if (inText) {
          const end = Math.min(at + searchCost, piece.length)
          while (at < end && piece[at] !== quote && piece[at] !== backslash) at += 1
          if (at === end) {
            if (quoteAt >= 0 && quoteAt < at) quoteAt = piece.indexOf(quote, at)
            if (backslashAt >= 0 && backslashAt < at) backslashAt = piece.indexOf(backslash, at)
            at = Math.min(quoteAt < 0 ? piece.length : quoteAt, backslashAt < 0 ? piece.length : backslashAt)
          }
          escaped = piece[at] === backslash
          inText = piece[at] !== quote
          continue
        }
        const byte = piece[at]
        if (byte === quote) inText = true
        else if (byte === colon) keys += 1
        else if (byte === openBrace || byte === openBracket) {
          depth += 1
          containers += 1
          if (depth > deepest) deepest = depth
        } else if (byte === closeBrace || byte === closeBracket) depth -= 1
        else if (byte === comma) commas += 1
      }
    },
    counted: () => ({ depth: deepest, keys, containers, entries: commas + 1 }),
  }
}

/** Whether no count exceeds its maximum. */
export function isWithinComplexity({ depth, keys, containers, entries }: Complexity, most: Complexity): boolean {
  return depth <= most.depth && keys <= most.keys && containers <= most.containers && entries <= most.entries
}

/** Bytes after which a scan of a large piece may end. */
const scannedAtOnce = 64 * 1024

/** Scans JSON piece by piece; returns true once it exceeds a maximum, and from then on. */
export function createScan(most: Complexity): (piece: Uint8Array) => boolean {
  const counter = createCounter()
  let tooComplex = false
  return (piece) => {
    for (let at = 0; at < piece.length && !tooComplex; at += scannedAtOnce) {
      counter.take(piece.subarray(at, at + scannedAtOnce))
      tooComplex = !isWithinComplexity(counter.counted(), most)
    }
    return tooComplex
  }
}

/** Serializes JSON with sorted keys and without undefined members: equal values give equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
