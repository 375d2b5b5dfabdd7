/**
 * Splits a commit or an annotated tag into the signed payload and the signature. Strict, so that an object has exactly one interpretation: anything
 * that git itself would skip, join or choose between is refused. Pure.
 */
import { createHash } from 'node:crypto'
import type { ObjectFormat } from '../../api/values.ts'

/** The signed payload, byte by byte, and the signature in its ASCII armor. */
export type Signed = { payload: Buffer; armor: string }

/** A commit or tag, split. */
export type Split =
  | { kind: 'signed'; signed: Signed }
  | { kind: 'unsigned' }
  /** Why the object is ambiguous, worded to follow "commit 0123abcd". */
  | { kind: 'refused'; why: string }

/** An annotated tag, read; nothing in it has been verified yet. */
export type ParsedTag = {
  kind: 'tag'
  /** Id and kind of the object that the tag points to. */
  object: string
  type: string
  /** The name that was signed; the ref may carry another one. */
  name: string
  split: Split
}

/** Where a commit of each object format carries its signature. */
const signatureHeaders = { sha1: 'gpgsig', sha256: 'gpgsig-sha256' } as const

/** The id of an object by its contents: hashing verifies that git answered with the right object. */
export function objectId(type: 'commit' | 'tag', raw: Buffer, format: ObjectFormat): string {
  return createHash(format).update(`${type} ${raw.length}\0`).update(raw).digest('hex')
}

/**
 * Splits a commit, as git stores it, into the signed payload and the signature. Never throws: a malformed commit is `refused` with the
 * reason.
 */
export function splitCommit(raw: Buffer, format: ObjectFormat): Split {
  // One character for each byte, so that positions and contents are kept in any encoding.
  const text = raw.toString('latin1')
  const head = headersOf(text)
  if (head === undefined) return refused('has a header that is not well formed')
  const hash = hashPattern(format)
  const names = head.map(({ name }) => name)
  const once = ['tree', 'author', 'committer'].every((name) => names.filter((one) => one === name).length === 1)
  const linked = head.every(({ name, value }) => (name !== 'tree' && name !== 'parent') || hash.test(value))
  if (!once || !linked || names[0] !== 'tree') return refused('has a header that is not well formed')
  const signatures = head.filter(({ name }) => name.startsWith('gpgsig'))
  const [signature, second] = signatures
  if (signature === undefined) return { kind: 'unsigned' }
  if (second !== undefined) return refused('carries more than one signature')
  if (signature.name !== signatureHeaders[format]) return refused('carries a signature of another object format')
  const payload = Buffer.concat([raw.subarray(0, signature.start), raw.subarray(signature.end)])
  return { kind: 'signed', signed: { payload, armor: signature.value } }
}

/**
 * Reads an annotated tag, as git stores it: its target, the signed bytes, and the signature. Never throws: a malformed tag is `refused`
 * with the reason.
 */
export function parseTag(raw: Buffer, format: ObjectFormat): ParsedTag | { kind: 'refused'; why: string } {
  const text = raw.toString('latin1')
  const head = headersOf(text)
  const [object, type, name, tagger, ...others] = head ?? []
  const wellFormed =
    object?.name === 'object' &&
    hashPattern(format).test(object.value) &&
    type?.name === 'type' &&
    name?.name === 'tag' &&
    tagger?.name === 'tagger' &&
    [object, type, name, tagger].every(({ value }) => !value.includes('\n'))
  if (!wellFormed) return refused('has a header that is not well formed')
  if (others.length > 0) return refused(`has the header ${others[0]?.name ?? ''}, which is not a header of git tags`)
  return { kind: 'tag', object: object.value, type: type.value, name: name.value, split: splitTagBody(raw, text) }
}

/** The signature of a tag ends it. */
function splitTagBody(raw: Buffer, text: string): Split {
  const starts = [...text.matchAll(/(?<=\n)-----BEGIN /g)].map(({ index }) => index)
  const [start, second] = starts
  if (start === undefined) return { kind: 'unsigned' }
  if (second !== undefined) return refused('carries more than one signature')
  return { kind: 'signed', signed: { payload: raw.subarray(0, start), armor: text.slice(start) } }
}

type Header = { name: string; value: string; start: number; end: number }

/** The headers up to the first empty line, each with its range; undefined if a line is not a header. */
function headersOf(text: string): Header[] | undefined {
  const headers: Header[] = []
  let at = 0
  while (at < text.length) {
    const lineEnd = text.indexOf('\n', at)
    if (lineEnd < 0) return undefined
    if (lineEnd === at) return headers
    const line = text.slice(at, lineEnd)
    const last = headers.at(-1)
    const [, name, value] = /^([A-Za-z][A-Za-z0-9:-]*) ([^\0]*)$/.exec(line) ?? []
    if (line.startsWith(' ') && last !== undefined) {
      last.value += `\n${line.slice(1)}`
      last.end = lineEnd + 1
    } else if (name !== undefined && value !== undefined) {
      headers.push({ name, value, start: at, end: lineEnd + 1 })
    } else {
      return undefined
    }
    at = lineEnd + 1
  }
  return undefined
}

function hashPattern(format: ObjectFormat): RegExp {
  return format === 'sha256' ? /^[0-9a-f]{64}$/ : /^[0-9a-f]{40}$/
}

function refused(why: string): { kind: 'refused'; why: string } {
  return { kind: 'refused', why }
}
