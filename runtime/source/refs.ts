/**
 * Which ref of a git host a user's name means, and what `ls-remote` says about it. Pure.
 */
import { Fault } from '../fault.ts'
import { type CommitHash, isCommitHash, printable } from '../gatewaysync/values.ts'

/** The full names that a name may stand for, the likeliest first: a branch wins over a tag of the same name. */
export function candidateRefs(ref: string): string[] {
  return ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
}

export type FoundRef = {
  name: string
  /** What the ref holds: a commit, or an annotated tag. */
  id: CommitHash
  /** The commit behind an annotated tag, or the id itself where the host tells of no tag object. */
  commit: CommitHash
}

/** Reads the output of `ls-remote` for the candidates and their peeled forms. Throws RefNotFound. */
export function pickRef(output: string, candidates: readonly string[], asked: string): FoundRef {
  const ids = new Map<string, CommitHash>()
  for (const line of output.split('\n')) {
    const [id = '', name = ''] = line.split('\t')
    if (isCommitHash(id)) ids.set(name, id)
  }
  for (const name of candidates) {
    const id = ids.get(name)
    if (id !== undefined) return { name, id, commit: ids.get(`${name}^{}`) ?? id }
  }
  const kinds = candidates.length > 1 ? 'branch or tag' : 'ref'
  throw new Fault('RefNotFound', `the git host has no ${kinds} "${printable(asked)}"`)
}
