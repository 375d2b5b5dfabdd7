/**
 * The folder of a mirror: made where there is none, cleared of what a killed git leaves and of everything that could make git do more
 * than read and fetch. Losing one costs a fetch, so nothing in it is repaired.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { Fault } from '../../fault.ts'
import type { CommitHash } from '../../gatewaysync/values.ts'
import { type GitLimits, runGit } from '../git/git.ts'

const timeoutMs = 60_000
/** Where the refs that hold commits stand: out of the way of whatever a host may name. */
const refFolder = 'refs/w/'
/** What the last fetch brought. */
export const incomingRef = `${refFolder}incoming`

/** The ref that keeps a commit. */
export function keepRef(commit: CommitHash): string {
  return `${refFolder}${commit}`
}

/** What the objects of a repository are named by; a mirror has that of its repository. */
export type ObjectFormat = 'sha1' | 'sha256'

/** Everything that we have in a mirror. */
const members = new Set(['HEAD', 'config', 'objects', 'refs', 'packed-refs', 'shallow'])
/** `objects/info/alternates` names further folders to read from. */
const objectsOfOthers = 'objects/info'
/** Longer than any configuration of ours. */
const maxConfigBytes = 4096

/**
 * Makes a mirror safe to be read: its files are those that we write, its configuration is ours, no lock or half of a pack is left. No
 * git may run in it meanwhile. Returns `absent` where there is none, and `damaged` where git could not work with it.
 */
export async function openFolder(
  folder: string,
  limits: GitLimits,
  signal: AbortSignal,
): Promise<{ kind: 'sound'; format: ObjectFormat } | { kind: 'absent' } | { kind: 'damaged'; why: string }> {
  if (!isOurs(folder)) {
    // Whoever owns the folder decides what git does in it.
    fs.rmSync(folder, { recursive: true, force: true })
    return { kind: 'absent' }
  }
  const format = formatOf(folder)
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
 * Whether a failure may come from the mirror's own files: whatever git or the disk says about them, except what the git host said, what
 * this machine lacks, and the end of a deadline or signal.
 */
export function isOwnFailure(error: unknown): boolean {
  if (error instanceof Fault) return ownFailures.has(error.reason)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR'
}

/** An object that the host seems to lack may be one that it did not send because a damaged pack of ours should hold it: a new mirror shows which. */
const ownFailures = new Set(['GitFailed', 'GitObjectMissing', 'CommitGone', 'DeliveryFailed'])

/** A new mirror in place of whatever is there. */
export async function createFolder(folder: string, format: ObjectFormat, limits: GitLimits, signal: AbortSignal): Promise<void> {
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const args = ['init', '-q', '--bare', '--template=', `--object-format=${format}`, '.']
  await runGit({ folder, args, timeoutMs }, { limits, signal })
  writeConfig(folder, format)
}

/** Puts a whole mirror in place of another, so that half of one is never taken for whole. */
export function replaceFolder(folder: string, by: string): void {
  fs.rmSync(folder, { recursive: true, force: true })
  fs.renameSync(by, folder)
}

/** Written anew before git works here: a setting such as `core.alternateRefsCommand` runs programs. */
export function writeConfig(folder: string, format: ObjectFormat): void {
  const version = format === 'sha1' ? '\trepositoryformatversion = 0\n' : '\trepositoryformatversion = 1\n'
  const extensions = format === 'sha1' ? '' : `[extensions]\n\tobjectformat = ${format}\n`
  const file = path.join(folder, 'config')
  fs.rmSync(`${file}.lock`, { force: true })
  fs.writeFileSync(`${file}.lock`, `[core]\n${version}\tbare = true\n${extensions}`, { mode: 0o600, flag: 'wx' })
  fs.renameSync(`${file}.lock`, file)
}

function formatOf(folder: string): ObjectFormat {
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

/** Whether a folder is there, is no link, belongs to this user, and nobody else may write to it. */
function isOurs(folder: string): boolean {
  const found = fs.lstatSync(folder, { throwIfNoEntry: false })
  if (found === undefined || !found.isDirectory() || found.uid !== process.getuid?.()) return false
  // Kubernetes makes a claim's folders writable to the pod's own group.
  const foreign = found.gid === process.getgid?.() ? 0o002 : 0o022
  return (found.mode & foreign) === 0
}

/** Throws InvalidConfiguration where somebody else could put a mirror of his own making among ours. */
export function requireOwnFolder(folder: string): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (isOurs(folder)) return
  throw new Fault(
    'InvalidConfiguration',
    `${folder}: the folder of the mirrors must belong to the user of this process, and nobody else may write to it; remove it or choose another`,
  )
}

/**
 * Removes what a killed git leaves, locks that fail every later call and halves of packs that fill the disk, and everything that is not
 * ours. No git may run meanwhile.
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

/** How many packs there are: one more with each fetch, so that the count outlives the process. */
export function countPacks(folder: string): number {
  const packs = path.join(folder, 'objects', 'pack')
  return fs.existsSync(packs) ? fs.readdirSync(packs).filter((name) => name.endsWith('.pack')).length : 0
}

/** What a mirror takes on the disk, in bytes; 0 where there is none. */
export function sizeOfFolder(folder: string): number {
  if (!fs.existsSync(folder)) return 0
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => {
    const found = fs.lstatSync(path.join(parentPath, name), { throwIfNoEntry: false })
    return sum + (found === undefined ? 0 : Math.max(found.size, found.blocks * blockBytes))
  }, 0)
}

/** Of `stat`. */
const blockBytes = 512

/** A mirror of this size is made one pack in 50 ms; one of 20,000 files takes 2 s, for which a push would have to wait. */
const smallBytes = 4 * 1024 * 1024
/** Bytes that are not needed any more and may stay, in a mirror of any size; a volume that is short of room has them removed. */
const harmlessBytes = 32 * 1024 * 1024

/**
 * Whether a clean-up should be a thorough one: where it takes no time, and when what was fetched since the last one may be more than what
 * is needed. `lastBytes`: what the mirror took after that; 0 where it is not known.
 */
export function isThoroughDue(bytes: number, lastBytes: number): boolean {
  return bytes < smallBytes || bytes > 2 * lastBytes + harmlessBytes
}

/**
 * Makes few packs of many. `thorough`: one pack, without what no ref of the kept commits needs, which takes as long as the repository is
 * large; else what the latest fetches brought is put together, and large packs stay as they are. `kept` undefined: all refs stay.
 */
export async function repack(
  local: (args: readonly string[], signal: AbortSignal, input?: string) => Promise<Buffer>,
  { kept, thorough }: { kept: ReadonlySet<string> | undefined; thorough: boolean },
  signal: AbortSignal,
): Promise<void> {
  if (kept !== undefined) {
    const refs = (await local(['for-each-ref', '--format=%(refname)', refFolder], signal)).toString('latin1').split('\n').filter(Boolean)
    // Without what the last fetch brought the next one would bring the whole commit, and not what has changed since.
    const dropped = refs.filter((ref) => ref !== incomingRef && !kept.has(ref.slice(refFolder.length)))
    await local(['update-ref', '--stdin'], signal, dropped.map((ref) => `delete ${ref}\n`).join(''))
  }
  if (!thorough) {
    await local(['repack', '--geometric=2', '-d', '-q'], signal)
    return
  }
  await local(['repack', '-a', '-d', '-q'], signal)
  await local(['prune', '--expire=now'], signal)
}
