/**
 * A local repository: git starts a second git in it, without the limits that protect against content of other hosts. It reads the
 * repository that the user named, like the user's own git.
 */
import { realpathSync } from 'node:fs'
import path from 'node:path'
import { shellWord } from '../command/shell-word.ts'

/**
 * The option with which `fetch` and `ls-remote` read it. Naming a repository in the spec is the consent (safe.directory) that git requires
 * when another user owns it, and git accepts that only on its own command line. The memory limit is raised because packing a large file
 * needs more than unpacking it.
 */
export function localUploadPack(repository: string): string {
  return `--upload-pack=${localService(repository, 'upload-pack')}`
}

/** The same for a push. */
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
