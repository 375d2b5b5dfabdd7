/**
 * The folders of a run: selects and prepares the one for its state and mirrors, outside the data directory, which belongs to the gateway,
 * and not writable by other users; and locks them all.
 */
import { createHash } from 'node:crypto'
import { chownSync, lstatSync, mkdirSync, realpathSync, type Stats } from 'node:fs'
import path from 'node:path'
import { Fault, asFault, isAbort } from '../platform/fault.ts'
import { diskFault, errorCode, isMissing, ensureEngineFolder, ownershipOf } from '../sync/disk/disk.ts'
import type { Owner } from './identity.ts'
import type { Clock } from '../platform/clock.ts'
import { releaseLock, takeLock } from '../sync/disk/lock.ts'

/** Environment settings for the location of state. */
export type StateHomes = {
  /** Set by systemd for `StateDirectory=`; of several, the first counts. */
  stateDirectory: string | undefined
  xdgStateHome: string | undefined
  home: string | undefined
}

/** Root's location for persistent state, by the Filesystem Hierarchy Standard. */
const rootState = '/var/lib/cluster-sync'

/**
 * Returns the default folder for the state of a run over `dataDir`: one per data directory. Throws InvalidConfiguration if the environment
 * does not define a location. Pure.
 */
export function defaultStateFolder(dataDir: string, homes: StateHomes, isRoot: boolean): string {
  const hash = createHash('sha256').update(dataDir).digest('hex').slice(0, 12)
  return path.join(stateBase(homes, isRoot), `${path.basename(dataDir)}-${hash}`)
}

function stateBase({ stateDirectory, xdgStateHome, home }: StateHomes, isRoot: boolean): string {
  const [given = ''] = (stateDirectory ?? '').split(':')
  if (path.isAbsolute(given)) return given
  if (isRoot) return rootState
  if (xdgStateHome !== undefined && path.isAbsolute(xdgStateHome)) return path.join(xdgStateHome, 'cluster-sync')
  if (home !== undefined && path.isAbsolute(home) && home !== '/') return path.join(home, '.local/state/cluster-sync')
  throw new Fault('InvalidConfiguration', 'this user has no home directory for the state: specify --state <dir>')
}

/**
 * Creates the folder if necessary, for `owner` if the run continues as another user, and returns its real path. Throws InvalidConfiguration
 * if another user may write to it or to a folder above it; NotWritable, DiskFull.
 */
export function prepareStateFolder(folder: string, owner: Owner | undefined): string {
  const self = process.geteuid?.() ?? 0
  try {
    const parent = makeParents(path.dirname(folder), owner === undefined ? 0o700 : 0o755)
    refuseOpenFolders(parent, self)
    const real = resolved(path.join(parent, path.basename(folder)))
    if (path.dirname(real) !== parent) refuseOpenFolders(path.dirname(real), self)
    if (makeOne(real, 0o700) && owner !== undefined) chownSync(real, owner.uid, owner.gid)
    const stat = lstatSync(real)
    const expected = owner?.uid ?? self
    if (!stat.isDirectory()) throw new Fault('InvalidConfiguration', `the state folder "${real}" is not a folder`)
    if (stat.uid !== expected) {
      const message = `the state folder "${real}" belongs to user ${stat.uid}, and the run continues as user ${expected}`
      throw new Fault('InvalidConfiguration', `${message}: change its owner (chown -R ${expected}), or specify another --state`)
    }
    if (othersMayWrite(stat, self)) throw openFolder(real)
    return real
  } catch (error) {
    throw diskFault(error, folder)
  }
}

/** Creates missing folders from the top down and returns the real path, so that no link is followed later. */
function makeParents(folder: string, mode: number): string {
  const above = path.dirname(folder)
  try {
    return realpathSync(folder)
  } catch (error) {
    if (!isMissing(error) || above === folder) throw error
  }
  const made = path.join(makeParents(above, mode), path.basename(folder))
  makeOne(made, mode)
  return made
}

function makeOne(folder: string, mode: number): boolean {
  try {
    mkdirSync(folder, { mode })
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

function resolved(folder: string): string {
  try {
    return realpathSync(folder)
  } catch (error) {
    if (isMissing(error)) return folder
    throw error
  }
}

/** Refuses folders in which another user could rename the state folder and replace it; the sticky bit prevents that. */
function refuseOpenFolders(real: string, self: number): void {
  for (let folder = real; ; folder = path.dirname(folder)) {
    const stat = lstatSync(folder)
    const owned = stat.uid === 0 || stat.uid === self
    if (!owned || (othersMayWrite(stat, self) && (stat.mode & 0o1000) === 0)) throw openFolder(folder)
    if (path.dirname(folder) === folder) return
  }
}

/** Many systems give each user a private group with write permission: such a group does not count as another user, unless it is root's. */
function othersMayWrite({ mode, gid }: Stats, self: number): boolean {
  const ownGroup = self !== 0 && gid === process.getegid?.()
  return (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && !ownGroup)
}

function openFolder(folder: string): Fault {
  const advice = 'remove that permission (chmod go-w), or specify another --state'
  return new Fault('InvalidConfiguration', `another user may write to "${folder}", so its content cannot be trusted: ${advice}`)
}

/** The locks of one run. */
export type Claim = {
  /** Releases all locks. Never throws. */
  release(): void
}

/**
 * Allows one run per data directory and state folder: all locks are taken before anything is read or written, so that a refused run has
 * changed nothing and no push is accepted by two processes. Takes absolute paths. Throws FolderLocked, with no lock left behind, and the
 * signal's reason. A folder whose lock cannot be written now (on a full disk, for example) does not stop the others: nothing is written to
 * it without its lock, and each sync tries again.
 */
export async function claimFolders(clock: Clock, folders: readonly string[], signal: AbortSignal): Promise<Claim> {
  const taken: string[] = []
  const release = (): void => {
    for (const folder of taken.splice(0)) releaseLock(folder)
  }
  try {
    for (const folder of folders) if (await take(clock, folder, signal)) taken.push(folder)
  } catch (error) {
    release()
    throw error
  }
  return { release }
}

async function take(clock: Clock, folder: string, signal: AbortSignal): Promise<boolean> {
  try {
    ensureEngineFolder(folder, ownershipOf(folder))
    await takeLock(folder, clock, signal)
    return true
  } catch (error) {
    if (isAbort(error, signal) || asFault(error).reason === 'FolderLocked') throw error
    return false
  }
}
