/**
 * Makes the commit of what was changed on one gateway, has it checked, and pushes it to the gateway's branch: a new one, or one on which all
 * is ours. Nothing is ever forced.
 */
import type { Clock } from '../clock.ts'
import { Fault } from '../fault.ts'
import type { Verdict } from '../gatewaysync/decide/decide.ts'
import type { StatusFinding } from '../gatewaysync/schema/status.ts'
import { type CommitHash, parseCommitHash, type RefName } from '../gatewaysync/values.ts'
import { committer, makeCommit } from '../source/content/make-commit.ts'
import type { Mirror, Remote } from '../source/mirrors.ts'
import type { TakenEdit } from './accept.ts'
import { type Origin, subjectOf, whoSaved, withTrailers } from './commit.ts'

export type TakeDeps = {
  mirror: Mirror
  /** The same repository with the credentials to push with. Throws SecretNotFound and what reading throws. */
  pushAs(signal: AbortSignal): Promise<Remote>
  /** The findings of a commit of the mirror, plain credentials among the errors. */
  check(commit: CommitHash, signal: AbortSignal): Promise<Verdict>
  clock: Clock
}

type Taking = Origin & { commit: CommitHash; branch: RefName; edits: readonly TakenEdit[] }

const maxMessage = 900

/**
 * Returns the commit at which the branch stands then; it is the one from before where the branch says the same already. Throws
 * CollectionsInvalid with the first new finding, PushRefused, and the faults of git and of reading Secrets.
 */
export async function takeChanges({ mirror, pushAs, check, clock }: TakeDeps, taking: Taking, signal: AbortSignal): Promise<CommitHash> {
  const { commit: parent, branch, edits, gateway } = taking
  await mirror.ensure(parent, signal)
  const head = await headOf(mirror, branch, signal)
  const text = withTrailers(subjectOf(edits, gateway), taking)
  const at = Math.floor(clock.now().epochMilliseconds / 1000)
  const message = { author: whoSaved(edits, gateway), text, at, follows: head?.commit }
  const commit = await mirror.readBy(parent, (repository) => makeCommit(repository, parent, edits, message, signal), signal)
  const made = await readHead(mirror, commit, branch, signal)
  if (head?.tree === made.tree) return head.commit
  await refuseNewErrors({ check }, { parent, commit }, signal)
  await mirror.push({ commit, branch, moves: head !== undefined, as: await pushAs(signal) }, signal)
  return commit
}

type Head = { commit: CommitHash; tree: CommitHash }

/** Where the branch stands; undefined when there is none. Throws PushRefused where somebody else has committed to it. */
async function headOf(mirror: Mirror, branch: RefName, signal: AbortSignal): Promise<Head | undefined> {
  const ref = `refs/heads/${branch}` as RefName
  const resolved = await mirror.resolve(ref, { fresh: true }, signal).catch((error: unknown) => {
    if (error instanceof Fault && error.reason === 'RefNotFound') return undefined
    throw error
  })
  if (resolved === undefined) return undefined
  const head = await readHead(mirror, resolved.commit, ref, signal)
  if (!head.isOurs) throw new Fault('PushRefused', `branch ${branch} holds commits that are not of a capture; nothing of it was changed`)
  return head
}

async function readHead(mirror: Mirror, commit: CommitHash, name: string, signal: AbortSignal): Promise<Head & { isOurs: boolean }> {
  const text = (await mirror.rawObject('commit', commit, name, signal)).toString('utf8')
  const [, tree = ''] = /^tree ([0-9a-f]+)\n/.exec(text) ?? []
  const [heading = '', ...message] = text.split('\n\n')
  const isOurs = heading.includes(`\ncommitter ${committer.name} <${committer.email}> `) && /^Captured-On: /m.test(message.at(-1) ?? '')
  return { commit, tree: parseCommitHash(tree), isOurs }
}

/** What the gate would refuse is not pushed; what it refuses of the parent too was there before. */
async function refuseNewErrors(
  { check }: Pick<TakeDeps, 'check'>,
  { parent, commit }: { parent: CommitHash; commit: CommitHash },
  signal: AbortSignal,
): Promise<void> {
  const found = errorsOf(await check(commit, signal))
  if (found.length === 0) return
  const known = new Set(errorsOf(await check(parent, signal)).map(keyOf))
  const [first, ...more] = found.filter((finding) => !known.has(keyOf(finding)))
  if (first === undefined) return
  const others = more.length === 0 ? '' : ` and ${more.length} more`
  throw new Fault('CollectionsInvalid', `${first.path}: ${first.message} (${first.rule})${others}`.slice(0, maxMessage))
}

function errorsOf(verdict: Verdict): StatusFinding[] {
  return verdict.kind === 'checked' ? verdict.items.filter(({ severity }) => severity === 'error') : []
}

function keyOf({ rule, path, message }: StatusFinding): string {
  return `${rule} ${path} ${message}`
}
