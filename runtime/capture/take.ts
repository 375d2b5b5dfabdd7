/**
 * Makes the commit of what was changed on one gateway, has it checked, and pushes it to the gateway's branch: a new one, or one on which all
 * is ours. Nothing is ever forced.
 */
import type { Clock } from '../clock.ts'
import { Fault } from '../fault.ts'
import type { Verdict } from '../gatewaysync/decide/observation.ts'
import { newFindings } from '../gatewaysync/new-findings.ts'
import type { StatusFinding } from '../gatewaysync/schema/status.ts'
import { type CommitHash, parseCommitHash, type RefName } from '../gatewaysync/values.ts'
import { committer, fileOf } from '../source/content/make-commit.ts'
import { treeChanges } from '../source/content/tree-changes.ts'
import type { Mirror, Remote } from '../source/mirrors.ts'
import type { TakenEdit } from './accept.ts'
import { newCredentials } from './credentials.ts'
import { digestOf, type Origin, ownerTrailer, subjectOf, whoSaved, withTrailers } from './commit.ts'

export type TakeDeps = {
  mirror: Mirror
  /** The same repository with the credentials to push with. Throws SecretNotFound and what reading throws. */
  pushAs(signal: AbortSignal): Promise<Remote>
  /** The findings of a commit of the mirror, plain credentials among the errors. */
  check(commit: CommitHash, signal: AbortSignal): Promise<Verdict>
  clock: Clock
}

type Taking = Origin & { owner: string; commit: CommitHash; branch: RefName; edits: readonly TakenEdit[] }

const maxMessage = 900

/** The branch that holds the changes, and the commit at which it stands. */
export type Taken = { commit: CommitHash; branch: RefName }

/**
 * Returns where the changes are then: on the branch that was asked for, or on one with a suffix where that branch holds other changes that
 * would be lost. The commit is the one from before where the branch says the same already. Throws CollectionsInvalid with the first new
 * finding, CheckFailed where the checks did not finish, PayloadMalformed where an edit would take other files away, PushRefused, and the
 * faults of git and of reading Secrets.
 */
export async function takeChanges({ mirror, pushAs, check, clock }: TakeDeps, taking: Taking, signal: AbortSignal): Promise<Taken> {
  const { commit: parent, edits, gateway } = taking
  await mirror.ensure(parent, signal)
  await refuseCredentials(mirror, taking, signal)
  const { branch, head } = await branchFor(mirror, taking, signal)
  const text = withTrailers(subjectOf(edits.length, gateway), taking)
  const at = Math.floor(clock.now().epochMilliseconds / 1000)
  const message = { author: whoSaved(edits, gateway), text, at, follows: head?.commit }
  const commit = await mirror.commit(parent, edits, message, signal)
  const made = await readHead(mirror, commit, taking, signal)
  if (head?.tree === made.tree) return { commit: head.commit, branch }
  await refuseNewErrors({ check }, { parent, commit, edits }, signal)
  await mirror.push({ commit, branch, moves: head !== undefined, as: await pushAs(signal) }, signal)
  return { commit, branch }
}

type Head = { commit: CommitHash; tree: CommitHash; on: CommitHash | undefined }

/**
 * The branch to push to, and where it stands. One that holds an earlier repair which is neither merged nor any longer on the gateway stays as it
 * is: a commit without the repair would take it away with the merge.
 */
async function branchFor(mirror: Mirror, taking: Taking, signal: AbortSignal): Promise<{ branch: RefName; head: Head | undefined }> {
  const { branch, edits } = taking
  const head = await headOf(mirror, taking, signal)
  if (head === undefined || !(await wouldLose(mirror, head, taking, signal))) return { branch, head }
  const fresh = `${branch}-${digestOf(edits).slice(0, 8)}` as RefName
  return { branch: fresh, head: await headOf(mirror, { ...taking, branch: fresh }, signal) }
}

/** More paths than an agent hands on are of no capture. */
const mostPaths = 1_000

/** Whether the head holds a change that neither the new parent has nor the edits make anew. What cannot be told from a repair is kept as one. */
async function wouldLose(mirror: Mirror, head: Head, { commit: parent, edits }: Taking, signal: AbortSignal): Promise<boolean> {
  const edited = new Set(edits.map(({ source }) => source))
  const { on } = head
  /** Undefined: too many to tell. */
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
    if (error instanceof Fault && error.reason === 'CommitGone') return true
    throw error
  }
  const own = await changedSince(on)
  if (own === undefined || own.size > mostPaths) return true
  if (missing !== undefined) return !missing.isDisjointFrom(own)
  return own.size > 0 && (await changedSince(parent, [...own]))?.size !== 0
}

/** Where the branch stands; undefined when there is none. Throws PushRefused where somebody else, or another gateway, has committed to it. */
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
      `branch ${branch} holds commits that are not captures of ${owner}; nothing of it was changed, and spec.capture.branch can name another`,
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

/** A credential stays in the history of a repository: the files themselves are searched, also where no check of collections looks. */
async function refuseCredentials(mirror: Mirror, { commit: parent, edits }: Taking, signal: AbortSignal): Promise<void> {
  for (const edit of edits) {
    if (newCredentials(edit, undefined).length === 0) continue
    const before = await mirror.readBy(parent, (repository) => fileOf(repository, parent, edit.source, signal), signal)
    const [place] = newCredentials(edit, before)
    if (place === undefined) continue
    const message = `${edit.source}: holds a password in plain text at ${place} (plain-credential)`
    throw new Fault('CollectionsInvalid', message.slice(0, maxMessage))
  }
}

/** What the gate would refuse is not pushed, nor what it could not judge; what it refuses of the parent too was there before. */
async function refuseNewErrors(
  { check }: Pick<TakeDeps, 'check'>,
  { parent, commit, edits }: { parent: CommitHash; commit: CommitHash; edits: readonly TakenEdit[] },
  signal: AbortSignal,
): Promise<void> {
  const verdict = await check(commit, signal)
  const found = errorsOf(verdict)
  if (verdict.kind === 'checked' && verdict.unfinished !== undefined)
    throw new Fault('CheckFailed', `nothing was pushed: ${found[0]?.message ?? 'the checks did not finish'}`.slice(0, maxMessage))
  const config = edits.find(({ path }) => path.startsWith('config/'))
  if (config !== undefined && verdict.kind === 'notChecked')
    throw new Fault(
      'CollectionsInvalid',
      `${config.path}: configuration is pushed only where spec.sync.profiles has collections to check it by`,
    )
  if (config !== undefined && verdict.kind === 'checked' && verdict.errors > found.length)
    throw new Fault(
      'CollectionsInvalid',
      `${config.path}: the checks find ${verdict.errors} errors, too many to tell new ones from old ones`,
    )
  if (found.length === 0) return
  const [first, ...more] = newFindings(errorsOf(await check(parent, signal)), found)
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new Fault('CollectionsInvalid', `${first.path}: ${first.message} (${first.rule})${others}`.slice(0, maxMessage))
}

function errorsOf(verdict: Verdict): StatusFinding[] {
  return verdict.kind === 'checked' ? verdict.items.filter(({ severity }) => severity === 'error') : []
}
