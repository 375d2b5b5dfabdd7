/**
 * Branded values that the whole runtime shares and the only functions that make them. Pure.
 */
import { Fault } from '../fault.ts'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** A full object name of git: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits. */
export type CommitHash = Branded<'CommitHash'>

/** A branch, tag, `refs/…` or full hash, 1 to 255 bytes, that git accepts and no option of git can be mistaken for. */
export type RefName = Branded<'RefName'>

/** A path below some root: `/`-separated, no empty, `.` or `..` segment, not absolute; the root itself is `''`. */
export type RelativePath = Branded<'RelativePath'>

/** 40 or 64 lower-case hex digits. */
export function isCommitHash(text: string): text is CommitHash {
  // The length by itself: an expression that counts takes twice as long, and a listing holds thousands.
  return (text.length === 40 || text.length === 64) && !/[^0-9a-f]/.test(text)
}

/** As much of a commit's hash as people read and compare. */
export function shortCommit(commit: string): string {
  return commit.slice(0, 8)
}

/** A text with the hashes of commits as people read them. Whole hashes are for programs; they have them in the JSON form. */
export function shortHashes(text: string): string {
  return text.replace(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g, shortCommit)
}

/** Throws InvalidRef. */
export function parseCommitHash(text: string): CommitHash {
  if (isCommitHash(text)) return text
  throw new Fault('InvalidRef', `"${printable(text)}" is not a full commit hash of 40 or 64 lower-case hex digits`)
}

/**
 * Checks a ref as `git check-ref-format --allow-onelevel` does, and more strictly: no leading `-`, no control or
 * non-ASCII-printable-unsafe character, at most 255 bytes. Throws InvalidRef with the rule that is broken.
 */
export function parseRefName(text: string): RefName {
  const broken = brokenRefRule(text)
  if (broken === undefined) return text as RefName
  throw new Fault('InvalidRef', `"${printable(text)}" is not a valid ref: ${broken}`)
}

/** Whether `parseRefName` accepts a text. */
export function isRefName(text: string): text is RefName {
  return brokenRefRule(text) === undefined
}

/** The branch or tag behind `refs/heads/` or `refs/tags/`; every other ref unchanged. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(?:heads|tags)\//, '')
}

/**
 * The one canonical form of a path that a user wrote: `projects`, `projects/` and `./projects` are one, `.` is the root `''`.
 * Throws InvalidSpec for an absolute path, a `..` segment, a backslash or a NUL.
 */
export function parseRelativePath(text: string): RelativePath {
  if (text.startsWith('/')) throw new Fault('InvalidSpec', `path "${printable(text)}" must not be absolute`)
  if (text.includes('\\')) throw new Fault('InvalidSpec', `path "${printable(text)}" must use / and not \\`)
  if (text.includes('\0')) throw new Fault('InvalidSpec', `path "${printable(text)}" must not hold a NUL character`)
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw new Fault('InvalidSpec', `path "${printable(text)}" must not hold a .. segment`)
  return segments.join('/') as RelativePath
}

/**
 * Whether a text that another program wrote is a canonical path of a file: not empty, not absolute, without an empty, `.` or `..` segment,
 * without NUL, well-formed. In linear time, for a listing holds thousands.
 */
export function isRelativePath(text: string): text is RelativePath {
  return !/(?:^|\/)\.{0,2}(?:\/|$)/.test(text) && !text.includes('\0') && text.isWellFormed()
}

/** Joins two canonical paths; either may be the root `''`. */
export function joinPath(parent: RelativePath, child: RelativePath): RelativePath {
  return (parent === '' ? child : child === '' ? parent : `${parent}/${child}`) as RelativePath
}

/** With which hash a repository names its objects; a mirror does as its repository does. */
export type ObjectFormat = 'sha1' | 'sha256'

/** The hash that an object id was made with, told by its length in hex digits. */
export function objectFormatOf(id: string): ObjectFormat {
  return id.length === 64 ? 'sha256' : 'sha1'
}

/** The folder that holds a relative path; `''` for one that has no folder. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '' : path.slice(0, slash)
}

/** Whether `path` lies in `folder` itself; where most of many paths do, one after the other, this saves the text that `parentOf` makes of each. */
export function isDirectlyIn(path: string, folder: string): boolean {
  if (folder === '') return !path.includes('/')
  return path.startsWith(folder) && path[folder.length] === '/' && !path.includes('/', folder.length + 1)
}

/** Whether `path` is `ancestor` or lies below it. */
export function isWithin(path: string, ancestor: string): boolean {
  return ancestor === '' || (path.startsWith(ancestor) && (path.length === ancestor.length || path[ancestor.length] === '/'))
}

/** Most names are lower-case ASCII already; copying each would take a third of a check's memory. */
const isFolded = /^[ -@[-~]*$/

/**
 * The form in which names of collections and resources, and paths of files, are compared: a gateway keys its names that way, and two paths
 * with the same fold are one file on a volume that ignores case.
 */
export function foldName(text: string): string {
  return isFolded.test(text) ? text : text.normalize('NFC').toLowerCase()
}

function brokenRefRule(text: string): string | undefined {
  if (text === '') return 'it is empty'
  if (Buffer.byteLength(text) > 255) return 'it is longer than 255 bytes'
  if (text.startsWith('-')) return 'it begins with -'
  if (text === '@') return 'it is a single @'
  if (text.startsWith('/') || text.endsWith('/') || text.includes('//')) return 'it has an empty component'
  if (text.endsWith('.')) return 'it ends with a dot'
  if (text.includes('..')) return 'it contains ..'
  if (text.includes('@{')) return 'it contains @{'
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(text)) return 'it contains a space, a control character or one of ~ ^ : ? * [ \\'
  if (text.split('/').some((part) => part.startsWith('.') || part.endsWith('.lock')))
    return 'a component begins with a dot or ends with .lock'
  if (!text.isWellFormed()) return 'it is not valid Unicode'
  return undefined
}

/** Lines of a file or a name made fit for a terminal or a log: whatever could steer it or end a line, but tabs and line feeds, is replaced. */
export function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\uFFFD')
}

/** A user's text made fit for a message: cut to `max` characters, control characters replaced. */
export function printable(text: string, max = 120): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  const clean = text.slice(0, max).replace(/[\u0000-\u001f\u007f]/g, '\uFFFD')
  return text.length > max ? `${clean}…` : clean
}
