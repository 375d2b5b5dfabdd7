/**
 * Selects the user that a run continues as. A gateway's user may change anything in its data directory during a run, so root never works
 * there: a run that is started as root switches to the owner of the data directory before it touches anything.
 */
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { Fault } from '../platform/fault.ts'

/** Numeric user and group. */
export type Owner = { uid: number; gid: number }

/** What to do about this process's user. */
export type Identity = { kind: 'stay' } | { kind: 'become'; owner: Owner } | { kind: 'refuse'; message: string }

/** A data directory with its owner and permission bits. */
export type OwnedFolder = Owner & { path: string; mode: number }

/** Decides for a process of user `uid` (undefined: the system has no users) and these data directories. Pure. */
export function identityFor(uid: number | undefined, folders: readonly OwnedFolder[]): Identity {
  if (uid !== 0) return { kind: 'stay' }
  const [first, ...others] = folders
  if (first === undefined) return { kind: 'stay' }
  const stranger = others.find((folder) => folder.uid !== first.uid)
  if (stranger !== undefined) {
    const message =
      `"${first.path}" belongs to user ${first.uid} and "${stranger.path}" to user ${stranger.uid}: ` +
      'start one run for the gateways of each user, as that user'
    return { kind: 'refuse', message }
  }
  if (first.uid !== 0) return { kind: 'become', owner: { uid: first.uid, gid: first.gid } }
  const open = folders.find(({ mode }) => (mode & 0o022) !== 0)
  if (open === undefined) return { kind: 'stay' }
  const message =
    `"${open.path}" belongs to root, and other users may write to it, so they could make a run as root write anywhere: ` +
    `give it to the user of the gateway (chown -R) or remove that permission (chmod go-w)`
  return { kind: 'refuse', message }
}

/** The owner that a run over these data directories must become, if any. Throws InvalidConfiguration if one run cannot serve them all. */
export function requiredOwner(dataDirs: readonly string[]): Owner | undefined {
  const identity = identityFor(
    process.geteuid?.(),
    dataDirs.map((path) => {
      const { uid, gid, mode } = statSync(path)
      return { path, uid, gid, mode }
    }),
  )
  if (identity.kind === 'refuse') throw new Fault('InvalidConfiguration', identity.message)
  return identity.kind === 'become' ? { uid: identity.owner.uid, gid: groupOf(identity.owner) } : undefined
}

/** Drops root permanently. Throws InvalidConfiguration if the new user could not read the program. */
export function become({ uid, gid }: Owner): void {
  process.setgroups?.([])
  process.setgid?.(gid)
  process.setuid?.(uid)
  try {
    accessSync(import.meta.filename, constants.R_OK)
  } catch (error) {
    const message =
      `the data directory belongs to user ${uid}, so the run continues as that user, who cannot read this program; ` +
      'install it where every user can read it, as in /opt or /usr/local'
    throw new Fault('InvalidConfiguration', message, { cause: error })
  }
}

/** The user's own group: the folder's may be root's, as often on volumes of containers, and would restore permissions. */
function groupOf({ uid, gid }: Owner): number {
  const entry = passwordFile()
    .split('\n')
    .map((line) => line.split(':'))
    .find((fields) => fields[2] === String(uid))
  const own = Number(entry?.[3] ?? Number.NaN)
  if (Number.isSafeInteger(own) && own > 0) return own
  return gid === 0 ? uid : gid
}

function passwordFile(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8')
  } catch {
    return ''
  }
}
