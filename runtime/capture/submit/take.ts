/**
 * Commits the changes of one gateway, validates the commit, and pushes it to the gateway's branch: a new one, or one with only this
 * gateway's commits. Never force-pushes.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import type { Verdict } from '../../reconcile/decide/observation.ts'
import { newFindings } from '../../api/findings.ts'
import type { StatusFinding } from '../../api/schema/status.ts'
import { type CommitHash, foldName, parseCommitHash, type RefName } from '../../api/values.ts'
import { committer, fileOf } from '../../git/content/make-commit.ts'
import { treeChanges } from '../../git/content/tree-changes.ts'
import type { Mirror, Remote } from '../../git/mirrors.ts'
import { type Complexity, createScan, isObject, jsonOrUndefined } from '../../platform/text/json.ts'
import { plainPlacesOfAny } from '../../validation/rules/about-secrets.ts'
import type { AcceptedEdit } from './accept.ts'
import { type Origin, ownerTrailer, subjectOf, savedBy, withTrailers } from './commit.ts'

export type TakeDeps = {
  mirror: Mirror
  /** The same repository with the credentials to push with. Throws SecretNotFound and what reading throws. */
  pushAs(signal: AbortSignal): Promise<Remote>
  /** Returns the findings of a commit of the mirror; plain-text credentials are errors. */
  validate(commit: CommitHash, signal: AbortSignal): Promise<Verdict>
  clock: Clock
}

type Taking = Origin & { owner: string; commit: CommitHash; branch: RefName; edits: readonly AcceptedEdit[] }

const maxMessage = 900

/** The branch that holds the changes, and its head commit. */
export type Taken = { commit: CommitHash; branch: RefName }

/**
 * Returns the branch with the changes: the requested one, or a numbered one if that branch holds other changes that would be lost. The
 * commit is the existing one if the branch has the same content already. Throws CollectionsInvalid with the first new finding, ValidationFailed
 * if validation did not finish, PayloadMalformed if an edit would remove other files, PayloadTooLarge for JSON with too many values,
 * PushRefused, and the faults of git and of reading Secrets.
 */
export async function takeChanges({ mirror, pushAs, validate, clock }: TakeDeps, taking: Taking, signal: AbortSignal): Promise<Taken> {
  const { commit: parent, edits, gateway } = taking
  await mirror.ensure(parent, signal)
  await refuseCredentials(mirror, taking, signal)
  const { branch, head } = await branchFor(mirror, taking, signal)
  const text = withTrailers(subjectOf(edits.length, gateway), taking)
  const at = Math.floor(clock.now().epochMilliseconds / 1000)
  const message = { author: savedBy(edits, gateway), text, at, follows: head?.commit }
  const commit = await mirror.commit(parent, edits, message, signal)
  const made = await readHead(mirror, commit, taking, signal)
  if (head?.tree === made.tree) return { commit: head.commit, branch }
  await refuseNewErrors({ validate }, { parent, commit, edits }, signal)
  await mirror.push({ commit, branch, moves: head !== undefined, as: await pushAs(signal) }, signal)
  return { commit, branch }
}

type Head = { commit: CommitHash; tree: CommitHash; on: CommitHash | undefined }

/** Limit on the unmerged branches of a gateway that drifts repeatedly. */
const maxBranches = 3

/**
 * Selects the branch to push to, and its head. A branch whose earlier change is neither merged nor still on the gateway stays unchanged,
 * because a commit without that change would revert it on merge: the next numbered branch is used instead. Throws PushRefused if all of
 * them hold unmerged changes.
 */
async function branchFor(mirror: Mirror, taking: Taking, signal: AbortSignal): Promise<{ branch: RefName; head: Head | undefined }> {
  for (let number = 1; number <= maxBranches; number += 1) {
    const branch = (number === 1 ? taking.branch : `${taking.branch}-${number}`) as RefName
    const head = await headOf(mirror, { ...taking, branch }, signal)
    if (head === undefined || !(await wouldLose(mirror, head, taking, signal))) return { branch, head }
  }
  throw new Fault(
    'PushRefused',
    `${taking.branch} and ${maxBranches - 1} more branches of gateway ${taking.gateway} contain unmerged changes; merge or delete one of them`,
  )
}

/** A capture never has more paths. */
const maxPaths = 1_000

/** Whether the head holds a change that is neither in the new parent nor in the edits. If that cannot be determined, the change is kept. */
async function wouldLose(mirror: Mirror, head: Head, { commit: parent, edits }: Taking, signal: AbortSignal): Promise<boolean> {
  const edited = new Set(edits.map(({ source }) => source))
  const { on } = head
  /** Undefined: too many to compare. */
  const changedSince = async (from: CommitHash, among?: readonly string[]): Promise<Set<string> | undefined> => {
    const trees = { from, to: head.commit, ...(among === undefined ? {} : { among }) }
    const changes = await mirror.readBy(head.commit, (repository) => treeChanges(repository, trees, signal), signal)
    return changes === undefined ? undefined : new Set(changes.map(({ path }) => path).filter((path) => !edited.has(path)))
  }
  const missing = await changedSince(parent)
  if (missing?.size === 0) return false
  if (on === parent || on === undefined) return true
  try {
    await mirror.ensure(on, signal)
  } catch (error) {
    if (error instanceof Fault && (error.reason === 'CommitGone' || error.reason === 'CommitNotServed')) return true
    throw error
  }
  const own = await changedSince(on)
  if (own === undefined || own.size > maxPaths) return true
  if (missing !== undefined) return !missing.isDisjointFrom(own)
  return own.size > 0 && (await changedSince(parent, [...own]))?.size !== 0
}

/** Returns the head of the branch; undefined: none. Throws PushRefused if another author or gateway has committed to it. */
async function headOf(mirror: Mirror, { branch, owner }: Pick<Taking, 'branch' | 'owner'>, signal: AbortSignal): Promise<Head | undefined> {
  const ref = `refs/heads/${branch}` as RefName
  const resolved = await mirror.resolve(ref, { fresh: true }, signal).catch((error: unknown) => {
    if (error instanceof Fault && error.reason === 'RefNotFound') return undefined
    throw error
  })
  if (resolved === undefined) return undefined
  const head = await readHead(mirror, resolved.commit, { branch: ref, owner }, signal)
  if (!head.isOurs)
    throw new Fault(
      'PushRefused',
      `branch ${branch} contains commits that are not captures of ${owner}; it was left unchanged. Set another spec.capture.branch`,
    )
  return head
}

async function readHead(
  mirror: Mirror,
  commit: CommitHash,
  { branch, owner }: Pick<Taking, 'branch' | 'owner'>,
  signal: AbortSignal,
): Promise<Head & { isOurs: boolean }> {
  const text = (await mirror.rawObject('commit', commit, branch, signal)).toString('utf8')
  const [, tree = '', on] = /^tree ([0-9a-f]+)\n(?:parent ([0-9a-f]+)\n)?/.exec(text) ?? []
  const [heading = '', ...message] = text.split('\n\n')
  const isOurs =
    heading.includes(`\ncommitter ${committer.name} <${committer.email}> `) &&
    (message.at(-1) ?? '').split('\n').includes(ownerTrailer(owner))
  return { commit, tree: parseCommitHash(tree), on: on === undefined ? undefined : parseCommitHash(on), isOurs }
}

/**
 * A credential stays in the history of a repository, so the files themselves are searched, including those that validation does not cover.
 */
async function refuseCredentials(mirror: Mirror, { commit: parent, edits }: Taking, signal: AbortSignal): Promise<void> {
  for (const edit of edits) {
    // A search of 1 MiB takes half a second.
    await yieldToEventLoop()
    if (newCredentials(edit, undefined).length === 0) continue
    const before = await mirror.readBy(parent, (repository) => fileOf(repository, parent, edit.source, signal), signal)
    const [place] = newCredentials(edit, before)
    if (place === undefined) continue
    const message = `${edit.source}: contains a password in plain text at ${place} (plain-credential)`
    throw new Fault('CollectionsInvalid', message.slice(0, maxMessage))
  }
}

/** A commit that validation would refuse or could not check is not pushed; errors that the parent has too are not new. */
async function refuseNewErrors(
  { validate }: Pick<TakeDeps, 'validate'>,
  { parent, commit, edits }: { parent: CommitHash; commit: CommitHash; edits: readonly AcceptedEdit[] },
  signal: AbortSignal,
): Promise<void> {
  const verdict = await validate(commit, signal)
  const found = errorsOf(verdict)
  if (verdict.kind === 'checked' && verdict.unfinished !== undefined)
    throw new Fault('ValidationFailed', `nothing was pushed: ${found[0]?.message ?? 'validation did not finish'}`.slice(0, maxMessage))
  const config = edits.flatMap(({ paths }) => paths).find((each) => each.startsWith('config/'))
  if (config !== undefined && verdict.kind === 'notChecked')
    throw new Fault('CollectionsInvalid', `${config}: configuration is captured only if the profile has collections to validate it`)
  if (config !== undefined && verdict.kind === 'checked' && verdict.errors > found.length)
    throw new Fault('CollectionsInvalid', `${config}: validation finds ${verdict.errors} errors, too many to distinguish new ones`)
  if (found.length === 0) return
  const [first, ...more] = newFindings(errorsOf(await validate(parent, signal)), found)
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new Fault('CollectionsInvalid', `${first.path}: ${first.message} (${first.rule})${others}`.slice(0, maxMessage))
}

function errorsOf(verdict: Verdict): StatusFinding[] {
  return verdict.kind === 'checked' ? verdict.items.filter(({ severity }) => severity === 'error') : []
}

/** A file to commit: every place on the gateway where the profile may deliver it, and its content. */
type Captured = { source: string; paths: readonly string[]; content: Uint8Array | undefined }

/**
 * Returns the places of plain-text credentials in `content` that `before`, the same file of the parent commit, does not have. Never returns
 * a value.
 */
function newCredentials({ source, paths, content }: Captured, before: Uint8Array | undefined): string[] {
  const now = jsonOf(content, source)
  if (now === undefined) return []
  const resources = paths.map((path) => ({ key: resourceOf(path), file: path.slice(path.lastIndexOf('/') + 1) }))
  return plainPlacesOfAny(partsNotIn(now, jsonOf(before, source)), resources)
}

/** The folder of a resource below its collection (`config/resources/<collection>`) or its project (`projects/<project>`), folded. */
function resourceOf(path: string): string {
  const names = path.split('/')
  return foldName(names.slice(names[0] === 'config' ? 3 : 2, -1).join('/'))
}

/** Of a file that is searched. A megabyte of empty lists takes fifty in memory, and the parent commit may have eight. */
const maxComplexity: Complexity = { depth: 1_000, keys: 60_000, containers: 60_000, entries: 200_000 }

/** Undefined if the content is not JSON. Throws PayloadTooLarge. */
function jsonOf(content: Uint8Array | undefined, source: string): unknown {
  if (content === undefined) return undefined
  const text = Buffer.from(content)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
  if (!/^\s*[{[]/.test(text) || !createScan(maxComplexity)(content)) return jsonOrUndefined(text)
  const message = `${source}: has too many JSON values, on the gateway or in git, to search it for passwords; commit it without a capture`
  throw new Fault('PayloadTooLarge', message.slice(0, maxMessage))
}

/** Returns the members of a value that differ from the same members of another one. */
function partsNotIn(value: unknown, other: unknown): unknown {
  if (!isObject(value) || !isObject(other)) return isDeepStrictEqual(value, other) ? undefined : value
  const isKept = ([name, member]: [string, unknown]): boolean => !Object.hasOwn(other, name) || !isDeepStrictEqual(member, other[name])
  return Object.fromEntries(
    Object.entries(value)
      .filter(isKept)
      .map(([name, member]) => [name, Object.hasOwn(other, name) ? partsNotIn(member, other[name]) : member]),
  )
}
