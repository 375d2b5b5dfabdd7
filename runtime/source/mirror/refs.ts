/**
 * Which refs of a git host a name in a spec or request may mean. Pure.
 */
import { Fault } from '../../fault.ts'
import { printable } from '../../gatewaysync/values.ts'

/** The full names that a name may stand for, in the order in which they are tried: a branch wins over a tag of the same name. */
export function candidateRefs(ref: string): string[] {
  return ref.startsWith('refs/') ? [ref] : [`refs/heads/${ref}`, `refs/tags/${ref}`]
}

/** RefNotFound with advice when a short hash may have been meant, which no git host resolves. */
export function refNotFound(asked: string): Fault {
  const kinds = asked.startsWith('refs/') ? 'ref' : 'branch or tag'
  const isShortHash = /^[0-9a-f]{4,63}$/.test(asked)
  const advice = isShortHash ? '; where a commit is meant, write its full hash of 40 or 64 digits' : ''
  return new Fault('RefNotFound', `the git host has no ${kinds} "${printable(asked)}"${advice}`)
}
