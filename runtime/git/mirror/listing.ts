/**
 * Reads a git host's listing of its refs: the default branch, or the newest tag of a selector.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { counted } from '../../platform/text/counted.ts'
import { Fault } from '../../platform/fault.ts'
import { commonPrefix, defaultBranch, isTagSelector, NewestTag, type TagSelector } from '../../api/followed-ref.ts'
import { type CommitHash, isCommitHash } from '../../api/values.ts'

/** `tag` is the annotated tag that a ref points to; undefined when it points to the commit itself. */
export type Fetched = {
  commit: CommitHash
  tag: CommitHash | undefined
  /** The commit time if the fetch has read it, RFC 3339; undefined if the commit claims an impossible time. */
  committed?: { at: string | undefined }
  /** The revision of an artifact. */
  name?: string
  /** The key that signed an artifact, by its fingerprint and the name that the Secret gives it. */
  signer?: { key: string; by: string }
}

/** A ref by its full name, with the commit or other object that it leads to, and the annotated tag in between. Of HEAD: the branch that it is. */
export type ListedRef = { name: string } & Fetched

/** Something followed that is not the name of a ref: the default branch, or the newest tag of a selector. */
export type Indirect = typeof defaultBranch | TagSelector

/** `found`: the followed ref in the listing; undefined: the host has no such ref. `tags`: the number of compared tags. */
export type Listing = { found: ListedRef | undefined; tags: number }

/** All tags are compared at each poll: 20,000 take some 50 ms. */
const maxTags = 20_000
/** The number of lines that are read before other work gets its turn. */
const linesPerTurn = 1_000

/** Reads what `git ls-remote` prints for HEAD or for tags. Throws RepositoryTooLarge, and the signal's reason. */
export async function readListing(output: Buffer, followed: Indirect, signal: AbortSignal): Promise<Listing> {
  return await (isTagSelector(followed) ? newestListed(output, followed, signal) : listedHead(output, signal))
}

/** One line of `git ls-remote`: `<object>\t<name>`, after an annotated tag `<commit>\t<name>^{}`, or `ref: <branch>\tHEAD`. */
type Line = { target: string; name: string }

/** Reads a listing line by line, because a host may list a hundred thousand refs: no more than one line is decoded at a time. */
async function* linesOf(output: Buffer, signal: AbortSignal): AsyncGenerator<Line> {
  let count = 0
  for (let [start, end] = [0, output.indexOf('\n')]; end !== -1; [start, end] = [end + 1, output.indexOf('\n', end + 1)]) {
    const [target = '', name = ''] = output.toString('utf8', start, end).split('\t')
    yield { target, name }
    count += 1
    if (count % linesPerTurn !== 0) continue
    await yieldToEventLoop()
    signal.throwIfAborted()
  }
}

async function listedHead(output: Buffer, signal: AbortSignal): Promise<Listing> {
  let [branch, commit]: [string?, CommitHash?] = []
  // The pattern HEAD also matches other names that end with it.
  for await (const { target, name } of linesOf(output, signal)) {
    if (name !== defaultBranch) continue
    if (target.startsWith('ref: ')) branch = target.slice('ref: '.length)
    else if (isCommitHash(target)) commit = target
  }
  return { found: commit === undefined ? undefined : { name: branch ?? defaultBranch, commit, tag: undefined }, tags: 0 }
}

async function newestListed(output: Buffer, selector: TagSelector, signal: AbortSignal): Promise<Listing> {
  const newest = new NewestTag(selector)
  let found: ListedRef | undefined
  let tags = 0
  for await (const { target, name } of linesOf(output, signal)) {
    if (!isCommitHash(target)) continue
    if (name.endsWith('^{}')) {
      if (found !== undefined && name === `${found.name}^{}`) found = { ...found, commit: target, tag: found.commit }
      continue
    }
    tags += 1
    if (tags > maxTags) throw tooManyTags(selector)
    if (newest.offer(name)) found = { name, commit: target, tag: undefined }
  }
  return { found, tags }
}

function tooManyTags(selector: TagSelector): Fault {
  const prefix = commonPrefix(selector)
  const which = prefix === '' ? '' : ` that begin with "${prefix}"`
  const advice = 'follow spec.git.tagPattern with a longer beginning (v2.*), name a tag or branch in spec.git.ref, or delete old tags'
  return new Fault('RepositoryTooLarge', `the git host has more than ${counted(maxTags, 'tag')}${which}; ${advice}`)
}
