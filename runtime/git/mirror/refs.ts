/**
 * Provides faults for refs that a git host lacks, or has twice. Pure.
 */
import { counted } from '../../platform/text/counted.ts'
import { Fault } from '../../platform/fault.ts'
import { commonPrefix, isTagSelector, selectorText } from '../../api/followed-ref.ts'
import { printable } from '../../api/values.ts'

/** AmbiguousRef, for a short name that is both a branch and a tag. */
export function ambiguousRef(ref: string): Fault {
  const name = printable(ref)
  return new Fault('AmbiguousRef', `"${name}" is both a branch and a tag at the git host; write refs/heads/${name} or refs/tags/${name}`)
}

/** RefNotFound with advice if the name may be a short hash, which no git host resolves. */
export function refNotFound(asked: string): Fault {
  const kinds = asked.startsWith('refs/') ? 'ref' : 'branch or tag'
  const isShortHash = /^[0-9a-f]{4,63}$/.test(asked)
  const advice = isShortHash ? '; where a commit is meant, write its full hash of 40 or 64 digits' : ''
  return new Fault('RefNotFound', `the git host has no ${kinds} "${printable(asked)}"${advice}`)
}

/** RefNotFound for a git host without a default branch, or without a matching tag; `count`: its tags with the prefix of the selector. */
export function nothingFollowed(followed: string, count: number): Fault {
  if (!isTagSelector(followed)) return new Fault('RefNotFound', 'the git host names no default branch; write a branch into spec.git.ref')
  const what = `no tag that matches ${selectorText(followed)}`
  const prefix = commonPrefix(followed)
  const which = prefix === '' ? 'in total' : `whose names begin with "${prefix}"`
  return new Fault('RefNotFound', `the git host has ${what}; it has ${counted(count, 'tag')} ${which}`)
}
