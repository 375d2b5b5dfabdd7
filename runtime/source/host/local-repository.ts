/**
 * A repository on this machine: git starts a second git in it, for which the bounds that protect us from other hosts' content make no
 * sense. It reads what the user named, as the user's own git would.
 */
import { realpathSync } from 'node:fs'
import path from 'node:path'

/**
 * The option that makes `fetch` and `ls-remote` read it. Naming a repository in the spec is the consent that git asks for when another
 * user owns it, and git takes that only from its own command line; a large file needs more memory to be packed than to be unpacked.
 */
export function localUploadPack(repository: string): string {
  const real = realPath(repository)
  const trusted = [...new Set([repository, real, path.join(real, '.git')])].map((folder) => `-c ${quoted(`safe.directory=${folder}`)}`)
  return `--upload-pack=ulimit -S -d "$(ulimit -H -d)" && GIT_NO_LAZY_FETCH=1 git ${trusted.join(' ')} upload-pack`
}

/** git compares what is behind all links. */
function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

/** For a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
