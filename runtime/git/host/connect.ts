/**
 * Prepares the settings, environment and files with which one git call reaches its host, or a local repository.
 */
import { addressesOf, type Network } from '../remote/network.ts'
import { type Prepare, prepareHttp } from '../credentials/http.ts'
import { prepareSsh } from '../credentials/ssh.ts'
import type { GitRun } from '../command/git.ts'
import { proxyFor } from '../remote/proxy.ts'
import type { Remote } from '../remote/remote.ts'
import { realpathSync } from 'node:fs'
import path from 'node:path'
import { shellWord } from '../command/shell-word.ts'

/** `forGit` goes into the call's `GitRun`. To be released when git has ended. */
export type Connection = { forGit: Pick<GitRun, 'settings' | 'environment' | 'files' | 'about'>; release(): Promise<void> }

/**
 * Finds the addresses of the host, and a token where one has to be requested. The result opens the connection of one git call; that uses only
 * this machine. Throws RepositoryNotAllowed, GitHostUnknown, CredentialsInvalid, and the faults of a GitHub App; opening throws
 * CredentialsInvalid, ToolMissing, GitKilled and Timeout.
 */
export async function connect(
  { url, access }: Remote,
  network: Network,
  signal: AbortSignal,
): Promise<(signal: AbortSignal) => Promise<Connection>> {
  signal.throwIfAborted()
  if (url.protocol === 'file') return async () => ({ forGit: { about: { url, access, proxy: undefined } }, release: async () => undefined })
  const proxy = url.protocol === 'ssh' ? undefined : proxyFor(url, access.proxy, network.proxy)
  const about = { url, access, proxy }
  const addresses = await addressesOf(url.host, proxy, network, signal)
  const prepare: Prepare =
    url.protocol === 'ssh'
      ? async (own) => await prepareSsh(url, access.credentials, addresses?.[0], own)
      : await prepareHttp({ url, access, proxy, addresses }, signal)
  return async (own) => {
    const { forGit, release } = await prepare(own)
    return { forGit: { ...forGit, about }, release }
  }
}

/**
 * Returns the `--upload-pack` option for `fetch` and `ls-remote`. In a local repository git starts a second git, without the limits that
 * protect against content of other hosts. It reads the repository that the user named, like the user's own git. Naming a repository in the spec is
 * the consent (safe.directory) that git requires when another user owns it, and git accepts that only on its own command line. The memory
 * limit is raised because packing a large file needs more than unpacking it.
 */
export function localUploadPack(repository: string): string {
  return `--upload-pack=${localService(repository, 'upload-pack')}`
}

/** Returns the `--receive-pack` option for a push. */
export function localReceivePack(repository: string): string {
  return `--receive-pack=${localService(repository, 'receive-pack')}`
}

function localService(repository: string, service: 'upload-pack' | 'receive-pack'): string {
  const real = realPath(repository)
  const trusted = [...new Set([repository, real, path.join(real, '.git')])].map((folder) => `-c ${shellWord(`safe.directory=${folder}`)}`)
  return `ulimit -S -d "$(ulimit -H -d)" && GIT_NO_LAZY_FETCH=1 git ${trusted.join(' ')} ${service}`
}

/** The path with links resolved, which is what git compares with safe.directory. */
function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
