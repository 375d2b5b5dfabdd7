/**
 * Finds damage in a JSON file, and its line, as caused by editors, merges, transfers and power losses. Reads in pieces and does not build
 * the value. Pure.
 */
import { isUtf8 } from 'node:buffer'
import { printable } from '../../api/values.ts'

/** The kinds of damage; each kind has its own rule. */
export type DamageKind =
  | 'encrypted-file'
  | 'merge-conflict'
  | 'zero-bytes'
  | 'byte-order-mark'
  | 'not-utf-8'
  | 'empty-file'
  | 'truncated-json'
  | 'invalid-json'
  | 'duplicate-key'

/**
 * `problem` completes a sentence: "<file> …". Lines count from 1. `isTemplate`: the first fault is the mark of a template; `isReadable`: a
 * gateway reads the file in spite of it.
 */
export type Damage = { kind: DamageKind; line: number; problem: string; isTemplate?: true; isReadable?: true }

const [tab, lineFeed, carriageReturn, space] = [0x09, 0x0a, 0x0d, 0x20]
const [quote, comma, slash, colon, backslash] = [0x22, 0x2c, 0x2f, 0x3a, 0x5c]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]
const conflictMarks: ReadonlySet<number> = new Set(Buffer.from('<>=|'))
const markLength = 7
/** Deeper JSON is not searched further; no file of a gateway comes near this depth. */
const maxDepth = 1_000
/** Numbers, `true`, `false` and `null`. */
const atom = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/
const maxAtomBytes = 400
const isAtomByte = bytesOf('+-.0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ')
const isEscape = bytesOf('"\\/bfnrtu')

function bytesOf(text: string): Uint8Array {
  const table = new Uint8Array(256)
  for (const byte of Buffer.from(text)) table[byte] = 1
  return table
}

/** The worst damage of a whole content; `keys`: also searches for repeated keys, which takes memory for each. */
export function damageOf(content: Uint8Array, { keys = false } = {}): Damage | undefined {
  const found = encryptionOf(content) ?? encodingDamage(content)
  if (found !== undefined && found.kind !== 'byte-order-mark') return found
  const scan = createDamageScan({ keys })
  scan.take(found === undefined ? content : content.subarray(3))
  return scan.end() ?? found
}

/** The header of each file that git-crypt encrypts. */
const gitCryptMark = Buffer.from('\0GITCRYPT\0')
/** The prefix of each value that SOPS encrypts, and the key of its metadata in every format. */
const sopsMarks = [Buffer.from('ENC[AES256_GCM,data:'), Buffer.from('sops')] as const

/** Whether a tool that gateways lack encrypted the content, or values in it. */
export function encryptionOf(content: Uint8Array): Damage | undefined {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
  if (bytes.subarray(0, gitCryptMark.length).equals(gitCryptMark)) return encryptedBy('is encrypted by git-crypt')
  return sopsMarks.every((mark) => bytes.includes(mark)) ? encryptedBy('contains values encrypted by SOPS') : undefined
}

function encryptedBy(problem: string): Damage {
  return { kind: 'encrypted-file', line: 1, problem }
}

/** Damage that is visible in the bytes before they are decoded. */
function encodingDamage(content: Uint8Array): Damage | undefined {
  if (startsWith(content, 0xff, 0xfe) || startsWith(content, 0xfe, 0xff)) return utf16
  const zeros = content.indexOf(0) < 0 ? 0 : content.reduce((count, byte) => count + (byte === 0 ? 1 : 0), 0)
  if (zeros > 0 && zeros === content.length) return onlyZeros
  if (zeros > 0 && zeros * 3 > content.length && isEveryOther(content)) return utf16
  if (zeros === 0 && !isUtf8(content)) return { kind: 'not-utf-8', line: 1, problem: 'is not UTF-8 text' }
  if (!startsWith(content, 0xef, 0xbb, 0xbf)) return undefined
  return { kind: 'byte-order-mark', line: 1, problem: 'begins with a byte order mark' }
}

/** The damage of a text that is not JSON: an unresolved merge, zero bytes, another encoding. */
export function textDamage(content: Uint8Array): Damage | undefined {
  const found = encodingDamage(content)
  if (found?.kind === 'not-utf-8' && found !== utf16) return { ...found, isReadable: true }
  if (found !== undefined) return found.kind === 'byte-order-mark' ? undefined : found
  const zero = content.indexOf(0)
  if (zero >= 0)
    return { kind: 'zero-bytes', line: lineAt(content, zero), problem: `contains null bytes, the first on line ${lineAt(content, zero)}` }
  const start = markAt(content, '<<<<<<< ')
  if (start < 0 || markAt(content, '>>>>>>> ') < start) return undefined
  const line = lineAt(content, start)
  return { kind: 'merge-conflict', line, problem: `contains an unresolved merge conflict that begins on line ${line}` }
}

/** The offset of the first line that begins with a mark of git, or -1. */
function markAt(content: Uint8Array, mark: string): number {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length)
  return bytes.subarray(0, mark.length).equals(Buffer.from(mark)) ? 0 : bytes.indexOf(`\n${mark}`) + 1 || -1
}

function lineAt(content: Uint8Array, end: number): number {
  let line = 1
  for (let at = content.indexOf(lineFeed); at >= 0 && at < end; at = content.indexOf(lineFeed, at + 1)) line += 1
  return line
}

const utf16: Damage = { kind: 'not-utf-8', line: 1, problem: 'is UTF-16 text, not UTF-8' }
const onlyZeros: Damage = { kind: 'zero-bytes', line: 1, problem: 'contains only null bytes, as after a power loss' }

function startsWith(content: Uint8Array, ...bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => content[index] === byte)
}

/** Whether zeros are only at even or only at odd offsets, as in UTF-16. */
function isEveryOther(content: Uint8Array): boolean {
  const first = content.indexOf(0)
  return content.every((byte, index) => byte !== 0 || index % 2 === first % 2)
}

type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end' | 'nothing'

/** Takes a content in pieces; `keys`: also searches for repeated keys, which takes memory for each. */
export function createDamageScan({ keys = false } = {}): { take(piece: Uint8Array): void; end(): Damage | undefined } {
  return new DamageScan(keys)
}

/** Reads JSON byte by byte and tracks the position in its grammar. */
class DamageScan {
  readonly #keys: boolean
  #found: Damage | undefined
  #repeated: Damage | undefined
  #expected: Expected = 'value'
  #inside: 'gap' | 'text' | 'atom' = 'gap'
  #line = 1
  /** The line where the previous value ends. */
  #lineOfValue = 1
  #isEscaped = false
  #isLineStart = true
  #isEmpty = true
  #isTooDeep = false
  /** An atom, or the text of a key. */
  #word = ''
  #previous = 0
  readonly #open: number[] = []
  /** The keys that each open object has so far. */
  readonly #names: Set<string>[] = []

  constructor(keys: boolean) {
    this.#keys = keys
  }

  take(piece: Uint8Array): void {
    for (let at = 0; at < piece.length && this.#found === undefined && !this.#isTooDeep; at += 1) {
      const byte = piece[at] ?? 0
      if (this.#inside === 'atom') {
        if (isAtomByte[byte] === 1 && this.#word.length < maxAtomBytes) this.#word += String.fromCharCode(byte)
        else this.#endAtom()
      }
      if (this.#inside === 'text') this.#textByte(byte)
      else if (this.#inside === 'gap' && this.#found === undefined && !this.#gapByte(byte)) this.#refuse(piece, at)
      if (byte === lineFeed) this.#line += 1
      this.#isLineStart = byte === lineFeed
      this.#previous = byte
    }
  }

  end(): Damage | undefined {
    if (this.#found !== undefined || this.#isTooDeep) return this.#found
    if (this.#isEmpty) return { kind: 'empty-file', line: 1, problem: 'is empty' }
    if (this.#inside === 'atom' && this.#open.length === 0) this.#endAtom()
    if (this.#found === undefined && (this.#inside === 'text' || this.#open.length > 0 || this.#expected !== 'nothing'))
      this.#fail('truncated-json', 'is truncated')
    return this.#found ?? this.#repeated
  }

  #isKey(): boolean {
    return this.#expected === 'key' || this.#expected === 'key or end'
  }

  #fail(kind: DamageKind, problem: string, more: Partial<Damage> = {}): void {
    this.#found ??= { kind, line: this.#line, problem: `${problem} on line ${this.#line}`, ...more }
  }

  #afterValue(): void {
    this.#lineOfValue = this.#line
    this.#expected = this.#open.length === 0 ? 'nothing' : 'comma or end'
  }

  #endAtom(): void {
    if (!atom.test(this.#word)) this.#fail('invalid-json', 'is not valid JSON: there is an invalid value')
    this.#inside = 'gap'
    this.#afterValue()
  }

  #endText(): void {
    this.#inside = 'gap'
    if (!this.#isKey()) return this.#afterValue()
    const seen = this.#names.at(-1)
    if (seen?.has(this.#word) === true) {
      const name = printable(Buffer.from(this.#word, 'latin1').toString('utf8'), 80)
      this.#repeated ??= { kind: 'duplicate-key', line: this.#line, problem: `has the key "${name}" twice, again on line ${this.#line}` }
    }
    seen?.add(this.#word)
    this.#expected = 'colon'
  }

  #textByte(byte: number): void {
    if (this.#isEscaped && isEscape[byte] !== 1) this.#fail('invalid-json', 'is not valid JSON: a string has an invalid escape sequence')
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === quote) return this.#endText()
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === 0) return this.#fail('zero-bytes', 'contains null bytes, the first')
    else if (byte < space) return this.#fail('invalid-json', 'is not valid JSON: a string has a line break or another control character')
    if (this.#keys && this.#isKey()) this.#word += String.fromCharCode(byte)
  }

  #begin(byte: number, expected: Expected): void {
    this.#open.push(byte)
    if (this.#keys && byte === openBrace) this.#names.push(new Set())
    this.#isTooDeep ||= this.#open.length > maxDepth
    this.#expected = expected
  }

  #close(byte: number): boolean {
    const isObject = byte === closeBrace
    if (this.#open.at(-1) !== (isObject ? openBrace : openBracket)) return false
    if (this.#expected !== 'comma or end' && this.#expected !== (isObject ? 'key or end' : 'value or end')) return false
    this.#open.pop()
    if (isObject) this.#names.pop()
    this.#afterValue()
    return true
  }

  #value(byte: number): boolean {
    if (this.#expected !== 'value' && this.#expected !== 'value or end') return false
    if (byte === openBrace) this.#begin(byte, 'key or end')
    else if (byte === openBracket) this.#begin(byte, 'value or end')
    else if (isAtomByte[byte] === 1) [this.#inside, this.#word] = ['atom', String.fromCharCode(byte)]
    else return false
    return true
  }

  #gapByte(byte: number): boolean {
    if (byte === space || byte === tab || byte === carriageReturn || byte === lineFeed) return true
    this.#isEmpty = false
    if (byte === quote && this.#expected !== 'colon' && this.#expected !== 'comma or end' && this.#expected !== 'nothing') {
      ;[this.#inside, this.#word] = ['text', '']
      return true
    }
    if (byte === closeBrace || byte === closeBracket) return this.#close(byte)
    if (byte === colon && this.#expected === 'colon') this.#expected = 'value'
    else if (byte === comma && this.#expected === 'comma or end') this.#expected = this.#open.at(-1) === openBrace ? 'key' : 'value'
    else return this.#value(byte)
    return true
  }

  /** Whether another entry must follow. */
  #isAfterComma(): boolean {
    return this.#expected === 'key' || (this.#expected === 'value' && this.#open.at(-1) === openBracket)
  }

  #refuse(piece: Uint8Array, at: number): void {
    const byte = piece[at] ?? 0
    const mark = piece.subarray(at, at + markLength)
    if (byte === 0) this.#fail('zero-bytes', 'contains null bytes, the first')
    else if (this.#isLineStart && conflictMarks.has(byte) && mark.every((each) => each === byte)) {
      this.#fail('merge-conflict', 'contains an unresolved merge conflict that begins')
    } else if (this.#previous === openBrace && (byte === openBrace || byte === 0x25)) {
      this.#fail('invalid-json', 'contains a template expression outside a string', { isTemplate: true })
    } else if (this.#expected === 'nothing') this.#fail('invalid-json', 'is not valid JSON: there is text after the end')
    else if (this.#isAfterComma() && (byte === closeBrace || byte === closeBracket))
      this.#fail('invalid-json', 'is not valid JSON: there is a comma before a closing bracket')
    else if (byte === slash) this.#fail('invalid-json', 'is not valid JSON: there is a comment')
    else {
      const problem = `is not valid JSON: a ${this.#expected.replace('end', 'closing bracket')} is missing`
      const line = this.#lineOfValue
      // What is missing belongs after the previous value.
      const isAbove = this.#expected === 'comma or end' && line < this.#line
      this.#fail('invalid-json', problem, isAbove ? { line, problem: `${problem} at the end of line ${line}` } : {})
    }
  }
}
