/**
 * Manages the folder of a mirror: creates it, and removes the leftovers of a killed git and everything that could make git do more than
 * read and fetch. Losing it costs a fetch, so nothing in it is repaired.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { Fault } from '../../platform/fault.ts'
import type { CommitHash, ObjectFormat } from '../../api/values.ts'
import { type GitLimits, runGit } from '../command/git.ts'
import { volumeFault } from '../command/volume-fault.ts'

const timeoutMs = 60_000
/** The refs that keep commits have their own folder, separate from any name that a host may use. */
const refFolder = 'refs/w/'
/** The ref with the result of the last fetch. */
export const incomingRef = `${refFolder}incoming`

/** The ref that keeps a commit. */
export function keepRef(commit: CommitHash): string {
  return `${refFolder}${commit}`
}

/**
 * Creates the ref that keeps a commit, as `git update-ref` would: the file is complete on disk before it gets its name. Starting git for it took some
 * 10 ms for each push.
 */
export function keepCommit(folder: string, commit: CommitHash): void {
  const file = path.join(folder, keepRef(commit))
  fs.mkdirSync(path.dirname(file), { recursive: true })
  const descriptor = fs.openSync(`${file}.lock`, 'w', 0o600)
  try {
    fs.writeSync(descriptor, `${commit}\n`)
    fs.fsyncSync(descriptor)
  } finally {
    fs.closeSync(descriptor)
  }
  fs.renameSync(`${file}.lock`, file)
}

/** Removes the ref with the result of the last fetch. */
export function forgetIncoming(folder: string): void {
  fs.rmSync(path.join(folder, incomingRef), { force: true })
}

/** The commits whose parents git omits (gitformat-shallow): those that were fetched without history. */
export function shallowCommits(folder: string): string[] {
  const file = path.join(folder, 'shallow')
  return fs.existsSync(file) ? fs.readFileSync(file, 'latin1').split('\n').filter(Boolean) : []
}

/** No git process may run in the mirror meanwhile. */
export function setShallow(folder: string, commits: Iterable<string>): void {
  const file = path.join(folder, 'shallow')
  fs.writeFileSync(`${file}.lock`, Array.from(commits, (commit) => `${commit}\n`).join(''), { mode: 0o600 })
  fs.renameSync(`${file}.lock`, file)
}

/** All members of a mirror's folder; anything else is removed. */
const members = new Set(['HEAD', 'config', 'objects', 'refs', 'packed-refs', 'shallow'])
/** `objects/info/alternates` names further folders to read from. */
const objectsOfOthers = 'objects/info'
/** Longer than any configuration that this module writes. */
const maxConfigBytes = 4096

/**
 * Makes a mirror safe to read: only files that this module writes, its own configuration, no lock and no half-written pack. No git may run
 * in it meanwhile. Returns `absent` when there is none (a folder that others may write to is removed), `damaged` when git cannot work with
 * it.
 */
export async function openFolder(
  folder: string,
  limits: GitLimits,
  signal: AbortSignal,
): Promise<{ kind: 'sound'; format: ObjectFormat } | { kind: 'absent' } | { kind: 'damaged'; why: string }> {
  if (!isOurs(folder)) {
    // The owner of the folder decides what git does in it.
    fs.rmSync(folder, { recursive: true, force: true })
    return { kind: 'absent' }
  }
  const format = configuredFormat(folder)
  try {
    writeConfig(folder, format)
    sweep(folder)
    // Reads every ref and every commit that is kept.
    await runGit({ folder, args: ['for-each-ref', '--format=%(objecttype)'], timeoutMs }, { limits, signal })
    return { kind: 'sound', format }
  } catch (error) {
    if (!isOwnFailure(error)) throw error
    return { kind: 'damaged', why: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Whether a failure may come from the mirror's own files: any error of git or of the disk about them, except errors of the git host,
 * missing programs on this machine, and the end of a deadline or signal.
 */
export function isOwnFailure(error: unknown): boolean {
  if (error instanceof Fault) return ownFailures.has(error.reason)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR'
}

/**
 * An object that the host seems to lack may be one that it did not send because the damaged local pack claims to hold it: a new mirror
 * shows which.
 */
const ownFailures = new Set(['GitFailed', 'GitObjectMissing', 'CommitGone', 'DeliveryFailed'])

/**
 * Creates an empty mirror in place of anything that exists there, like `git init --bare`. Without a process, because a first fetch waits
 * for it.
 */
export function createFolder(folder: string, format: ObjectFormat): void {
  fs.rmSync(folder, { recursive: true, force: true })
  for (const below of ['objects/pack', 'refs/heads', 'refs/tags']) {
    fs.mkdirSync(path.join(folder, below), { recursive: true, mode: 0o700 })
  }
  // A branch that never exists: HEAD of a mirror is unused.
  fs.writeFileSync(path.join(folder, 'HEAD'), 'ref: refs/heads/none\n', { mode: 0o600, flag: 'wx' })
  writeConfig(folder, format)
}

/** Replaces a mirror by another complete one with a rename, so that an incomplete one is never used. */
export function replaceFolder(folder: string, by: string): void {
  fs.rmSync(folder, { recursive: true, force: true })
  fs.renameSync(by, folder)
}

/**
 * Checked before every git process in this folder, because a setting such as `core.alternateRefsCommand` runs programs. Written only if it
 * differs: a full volume can still be read.
 */
export function writeConfig(folder: string, format: ObjectFormat): void {
  const version = format === 'sha1' ? '\trepositoryformatversion = 0\n' : '\trepositoryformatversion = 1\n'
  const extensions = format === 'sha1' ? '' : `[extensions]\n\tobjectformat = ${format}\n`
  const text = `[core]\n${version}\tbare = true\n${extensions}`
  const file = path.join(folder, 'config')
  if (isOurs(file, 'file') && readStart(file) === text) return
  fs.rmSync(`${file}.lock`, { force: true })
  fs.writeFileSync(`${file}.lock`, text, { mode: 0o600, flag: 'wx' })
  fs.renameSync(`${file}.lock`, file)
}

function configuredFormat(folder: string): ObjectFormat {
  const text = fs.existsSync(path.join(folder, 'config')) ? readStart(path.join(folder, 'config')) : ''
  return text.includes('objectformat = sha256\n') ? 'sha256' : 'sha1'
}

function readStart(file: string): string {
  const buffer = Buffer.alloc(maxConfigBytes)
  const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK)
  try {
    return buffer.toString('latin1', 0, fs.readSync(descriptor, buffer, 0, maxConfigBytes, 0))
  } finally {
    fs.closeSync(descriptor)
  }
}

/** Whether a folder or file exists, is not a link, belongs to this user, and is not writable for other users. */
function isOurs(at: string, kind: 'folder' | 'file' = 'folder'): boolean {
  const found = fs.lstatSync(at, { throwIfNoEntry: false })
  if (found === undefined || !(kind === 'file' ? found.isFile() : found.isDirectory()) || found.uid !== process.getuid?.()) return false
  // Kubernetes makes the folders of a volume writable for the pod's own group (fsGroup).
  const foreign = found.gid === process.getgid?.() ? 0o002 : 0o022
  return (found.mode & foreign) === 0
}

/**
 * Creates the folder if it is absent. Throws InvalidConfiguration when another user could place a mirror in it, and SourceVolumeFull.
 */
export function requireOwnFolder(folder: string): void {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw volumeFault(error)
  }
  if (isOurs(folder)) return
  throw new Fault(
    'InvalidConfiguration',
    `${folder}: the folder of the mirrors must belong to the user of this process, and no other user may write to it; remove it or choose another`,
  )
}

/**
 * Removes the leftovers of a killed git (locks that fail every later call, half-written packs that fill the disk) and all foreign files. No
 * git may run meanwhile.
 */
export function sweep(folder: string): void {
  for (const name of fs.readdirSync(folder)) if (!members.has(name)) fs.rmSync(path.join(folder, name), { recursive: true, force: true })
  fs.rmSync(path.join(folder, objectsOfOthers), { recursive: true, force: true })
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const { name } = entry
    const isLink = entry.isSymbolicLink()
    if (!isLink && (!entry.isFile() || !/(?:\.lock|\.keep)$|^tmp_(?:pack|idx|obj|rev)_|^\.tmp-/.test(name))) continue
    fs.rmSync(path.join(entry.parentPath, name), { force: true })
  }
}

/** The number of packs in the mirror. Each fetch adds one, so the count shows, also after a restart, when to repack. */
export function countPacks(folder: string): number {
  const packs = path.join(folder, 'objects', 'pack')
  return fs.existsSync(packs) ? fs.readdirSync(packs).filter((name) => name.endsWith('.pack')).length : 0
}

/** The disk usage of a mirror in bytes; 0 without a mirror. */
export function sizeOfFolder(folder: string): number {
  // Any other file in its place is removed when the mirror is opened.
  if (fs.lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return 0
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => {
    const found = fs.lstatSync(path.join(parentPath, name), { throwIfNoEntry: false })
    return sum + (found === undefined ? 0 : Math.max(found.size, found.blocks * blockBytes))
  }, 0)
}

/** The unit of `blocks` in stat(2). */
const blockBytes = 512

/** A mirror of this size is repacked in 50 ms; one of 20,000 files takes 2 s, during which a push would have to wait. */
const smallBytes = 4 * 1024 * 1024
/** Unneeded bytes that may stay in a mirror of any size; they are removed when the volume runs short of space. */
const harmlessBytes = 32 * 1024 * 1024

/**
 * Whether a clean-up should be thorough: when it is almost free, or when more may have been fetched since the last one than is needed.
 * `bytes`: the mirror's current size; `lastBytes`: its size after the last thorough clean-up, 0 if unknown.
 */
export function isThoroughDue(bytes: number, lastBytes: number): boolean {
  return bytes < smallBytes || bytes > 2 * lastBytes + harmlessBytes
}

/** Runs a git without network in the mirror and returns its output. Throws the faults of git. */
export type Local = (args: readonly string[], signal: AbortSignal, input?: string) => Promise<Buffer>

/** Whether a name leads to a commit that the mirror has. Throws the faults of git. */
export async function isCommit(local: Local, name: string, signal: AbortSignal): Promise<boolean> {
  const found = await local(['cat-file', '--batch-check=%(objecttype)'], signal, `${name}\n`)
  return found.toString('latin1').startsWith('commit')
}

/**
 * Merges packs. `thorough`: into one, without objects that no kept commit needs, in time that grows with the repository; otherwise only the
 * small packs of the latest fetches are merged, which a git older than 2.32 can do only thoroughly. `kept` undefined: all refs stay.
 * `local` runs git in the mirror. Returns whether it was thorough. Throws the faults of git.
 */
export async function repack(
  local: Local,
  { kept, thorough }: { kept: ReadonlySet<string> | undefined; thorough: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  if (kept !== undefined) {
    const refs = (await local(['for-each-ref', '--format=%(refname)', refFolder], signal)).toString('latin1').split('\n').filter(Boolean)
    // The commit of the last fetch stays: without it the next fetch would bring a whole commit instead of the difference.
    const dropped = refs.filter((ref) => ref !== incomingRef && !kept.has(ref.slice(refFolder.length)))
    await local(['update-ref', '--stdin'], signal, dropped.map((ref) => `delete ${ref}\n`).join(''))
  }
  if (!thorough) {
    try {
      await local(['repack', '--geometric=2', ...quietly], signal)
      return false
    } catch (error) {
      if (!(error instanceof Fault) || error.reason !== 'ToolMissing') throw error
    }
  }
  await local(['repack', '-a', ...quietly], signal)
  await local(['prune', '--expire=now'], signal)
  return true
}

/** Removes the old packs, and writes no `objects/info`, which is not used here. */
const quietly = ['-d', '-q', '-n']
