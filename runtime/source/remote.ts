/**
 * What a repository URL means: where it is, by which protocol, and which mirror serves it. Pure.
 */
import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { Fault } from '../fault.ts'
import { printable } from '../gatewaysync/values.ts'
import { redactUrls } from '../redact.ts'

export type Protocol = 'https' | 'http' | 'ssh' | 'file'

export type Remote = {
  /** The repository as the user wrote it. */
  repo: string
  /** A file with the certificate authority of the git host, PEM. */
  caFile?: string | undefined
  /** Whose credentials fetch it; mirrors of different identities are never shared. */
  identity?: string | undefined
}

export type Location = { url: string; protocol: Protocol }

/** Throws RepositoryNotAllowed. */
export function locate(repo: string, allowLocal: boolean): Location {
  const location = locationOf(repo)
  if (location !== undefined && (location.protocol !== 'file' || allowLocal)) return location
  const kinds = allowLocal ? 'https, http, ssh, git@host:path, a path or file:' : 'https, http, ssh or git@host:path'
  throw new Fault('RepositoryNotAllowed', `"${redactUrls(printable(repo))}" is not a repository URL of a permitted kind: ${kinds}`)
}

function locationOf(repo: string): Location | undefined {
  if (repo.startsWith('-')) return undefined
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(repo)?.[1]?.toLowerCase()
  if (scheme === 'https' || scheme === 'http' || scheme === 'ssh') return { url: repo, protocol: scheme }
  if (scheme === 'file') return { url: pathOf(repo), protocol: 'file' }
  if (scheme !== undefined) return undefined
  // `ext::command` and the like run programs.
  if (repo.includes('::')) return undefined
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^\s]+$/.test(repo)) return { url: repo, protocol: 'ssh' }
  return { url: repo, protocol: 'file' }
}

function pathOf(repo: string): string {
  try {
    return fileURLToPath(repo)
  } catch (error) {
    throw new Fault('RepositoryNotAllowed', `"${printable(repo)}" names no path on this machine`, { cause: error })
  }
}

/** Names the folder of a mirror: equal for spellings of one URL, different for different credentials or authorities. */
export function mirrorKey({ repo, caFile, identity }: Remote): string {
  const text = JSON.stringify([normalUrl(repo), caFile ?? '', identity ?? ''])
  return createHash('sha256').update(text).digest('hex').slice(0, 32)
}

/** One spelling for one repository: host in lower case, no default port, no `.git` and no slash at the end. */
function normalUrl(repo: string): string {
  const trimmed = repo.replace(/\/+$/, '').replace(/\.git$/, '')
  const url = URL.parse(trimmed)
  if (url === null || !/^(?:https?|ssh):$/.test(url.protocol)) return trimmed
  if (url.protocol === 'ssh:' && url.port === '22') url.port = ''
  return url.href.replace(/\/+$/, '')
}
