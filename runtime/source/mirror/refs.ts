/**
 * Which refs of a git host a user's name may mean. Pure.
 */
import { Fault } from '../../fault.ts'
import { printable } from '../../gatewaysync/values.ts'

/** The full names that a name may stand for, the likeliest first: a branch wins over a tag of the same name. */
export function candidateRefs(ref: string): string[] {
  return ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
}

/** Says what may have been meant: a beginning of a hash names nothing at a git host. */
export function refNotFound(asked: string): Fault {
  const kinds = asked.startsWith('refs/') ? 'ref' : 'branch or tag'
  const isShortHash = /^[0-9a-f]{4,63}$/.test(asked)
  const advice = isShortHash ? '; where a commit is meant, write its full hash of 40 or 64 digits' : ''
  return new Fault('RefNotFound', `the git host has no ${kinds} "${printable(asked)}"${advice}`)
}
