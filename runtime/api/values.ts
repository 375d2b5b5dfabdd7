/**
 * Defines the branded values of the whole runtime and the only functions that create them. Pure.
 */
import { Fault } from '../platform/fault.ts'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** A full object name of git: 40 (SHA-1) or 64 (SHA-256) lower-case hex digits. */
export type CommitHash = Branded<'CommitHash'>

/** A branch, tag, `refs/…` or full hash, 1 to 255 bytes, that git accepts and that cannot be mistaken for an option. */
export type RefName = Branded<'RefName'>

/**
 * A full ref name such as `refs/heads/main`. Git hosts send full names. A short name, as people type it, may be a branch or a tag; a full
 * name is unambiguous and is kept from the webhook to git.
 */
export type FullRef = RefName & `refs/${string}`

/** A path below some root: `/`-separated, no empty, `.` or `..` segment, not absolute; the root itself is `''`. */
export type RelativePath = Branded<'RelativePath'>

/** 40 or 64 lower-case hex digits. */
export function isCommitHash(text: string): text is CommitHash {
  // Checks the length separately: an expression that counts takes twice as long, and a listing holds thousands.
  return (text.length === 40 || text.length === 64) && !/[^0-9a-f]/.test(text)
}

/** Returns the short form of a commit hash for display. */
export function shortCommit(commit: string): string {
  return commit.slice(0, 8)
}

/** Shortens the commit hashes in a text for display. The JSON form has the full hashes. */
export function shortHashes(text: string): string {
  return text.replace(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g, shortCommit)
}

/** Throws InvalidRef. */
export function parseCommitHash(text: string): CommitHash {
  if (isCommitHash(text)) return text
  throw new Fault('InvalidRef', `"${printable(text)}" is not a full commit hash of 40 or 64 lower-case hex digits`)
}

/**
 * Checks a ref as `git check-ref-format --allow-onelevel` does, and more strictly: no leading `-`, no control
 * character, valid Unicode, at most 255 bytes. Throws InvalidRef with the violated rule.
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

/** Whether a text is a full name that `parseRefName` accepts. */
export function isFullRef(text: string): text is FullRef {
  return text.startsWith('refs/') && isRefName(text)
}

/** Returns a branch or tag name without `refs/heads/` or `refs/tags/`; every other ref unchanged. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(?:heads|tags)\//, '')
}

/** The full names that a name may mean, in the order in which they are tried: `main` is a branch or a tag. */
export function candidateRefs(ref: string): string[] {
  return ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
}

/**
 * Returns the canonical form of a user's path: `projects`, `projects/` and `./projects` are equal, `.` is the root `''`. Throws InvalidSpec
 * for an absolute path, a `..` segment, a backslash or a NUL.
 */
export function parseRelativePath(text: string): RelativePath {
  if (text.startsWith('/')) throw new Fault('InvalidSpec', `path "${printable(text)}" must not be absolute`)
  if (text.includes('\\')) throw new Fault('InvalidSpec', `path "${printable(text)}" must use / and not \\`)
  if (text.includes('\0')) throw new Fault('InvalidSpec', `path "${printable(text)}" must not contain a NUL character`)
  const segments = text.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw new Fault('InvalidSpec', `path "${printable(text)}" must not contain a .. segment`)
  return segments.join('/') as RelativePath
}

/**
 * Whether a text from another program is a canonical file path: not empty, not absolute, without an empty, `.` or `..` segment, without
 * NUL, well-formed. Linear time, because a listing holds thousands.
 */
export function isRelativePath(text: string): text is RelativePath {
  return !/(?:^|\/)\.{0,2}(?:\/|$)/.test(text) && !text.includes('\0') && text.isWellFormed()
}

/** Joins two canonical paths; either may be the root `''`. */
export function joinPath(parent: RelativePath, child: RelativePath): RelativePath {
  return (parent === '' ? child : child === '' ? parent : `${parent}/${child}`) as RelativePath
}

/** The hash algorithm of a repository's object names; a mirror uses that of its repository. */
export type ObjectFormat = 'sha1' | 'sha256'

/** Returns the hash algorithm of an object id, by its length in hex digits. */
export function objectFormatOf(id: string): ObjectFormat {
  return id.length === 64 ? 'sha256' : 'sha1'
}

/** Returns the folder of a relative path; `''` for one without a folder. */
export function parentOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '' : path.slice(0, slash)
}

/** Whether `path` is directly in `folder`; for many paths of one folder this saves the strings that `parentOf` creates. */
export function isDirectlyIn(path: string, folder: string): boolean {
  if (folder === '') return !path.includes('/')
  return path.startsWith(folder) && path[folder.length] === '/' && !path.includes('/', folder.length + 1)
}

/** Whether `path` is `ancestor` or below it. */
export function isWithin(path: string, ancestor: string): boolean {
  return ancestor === '' || (path.startsWith(ancestor) && (path.length === ancestor.length || path[ancestor.length] === '/'))
}

/** The nearest of `folders` that a path is below; undefined: none. Its time does not grow with the number of folders. */
export function folderAbove(path: string, folders: { has(folder: string): boolean }): string | undefined {
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) if (folders.has(folder)) return folder
  return undefined
}

/** Most names are lower-case ASCII already; copying each would take a third of a validation's memory. */
const isFolded = /^[ -@[-~]*$/

/**
 * Returns the form in which names of collections and resources, and paths of files, are compared: a gateway keys its names that way, and
 * two paths with the same fold are one file on a case-insensitive volume.
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

/** Escapes lines of a file or a name for a terminal or a log: replaces control characters and line ends except tabs and line feeds. */
export function visible(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\uFFFD')
}

/** Prepares a user's text for a message: cut to `max` characters, control characters replaced. */
export function printable(text: string, max = 120): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  const clean = text.slice(0, max).replace(/[\u0000-\u001f\u007f]/g, '\uFFFD')
  return text.length > max ? `${clean}…` : clean
}
