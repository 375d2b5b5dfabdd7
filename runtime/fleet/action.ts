/**
 * Determines the outcome of a request from the status of a GatewaySync and renders it as text. Pure.
 */
import { type Reason, reasons } from '../platform/fault.ts'
import { meaningOf } from '../api/schema/conditions.ts'
import { isSameRef } from '../reconcile/decide/request.ts'
import type { Condition, GatewaySyncStatus } from '../api/schema/status.ts'
import { shortCommit, shortHashes, shortRef } from '../api/values.ts'
import { runbookEntry, inContext, named, type NamedSync } from './steps.ts'
import { folded, markOf, type Style } from './terminal.ts'

/** The parts of a GatewaySync that determine an outcome. */
export type RequestedSync = NamedSync & { generation: number; status: GatewaySyncStatus }

/** `Unanswered`: the wait ended before the status showed an outcome; the request remains in effect. */
export type Outcome = {
  /** The requested state has been reached. */
  done: boolean
  outcome:
    | 'Handled'
    | 'Superseded'
    | 'Refused'
    | 'InPlace'
    | 'Stuck'
    | 'Paused'
    | 'Resumed'
    | 'Approved'
    | 'Aborted'
    | 'Captured'
    | 'NothingChanged'
    | 'Unanswered'
  reason?: string
  message: string
  /** The meaning of the reason, from the reason table. */
  meaning?: string
  /** The published commit. */
  commit?: string
  /** Next steps, one sentence or command each. */
  next: string[]
}

/** `sentence` describes the progress. */
export type RequestProgress = { kind: 'waiting'; sentence: string } | { kind: 'ended'; outcome: Outcome }

/** Determines whether the controller has answered a request. */
export function requestProgress({ status, ...sync }: RequestedSync, id: string): RequestProgress {
  const answer = status.requests?.find((request) => request.id === id)
  if (answer === undefined) return { kind: 'waiting', sentence: 'the controller has not responded yet' }
  if (answer.outcome === 'Pending') return { kind: 'waiting', sentence: shortHashes(answer.message ?? 'not yet visible on the git host') }
  const { published } = status
  const ref = shortRef(answer.ref)
  const now =
    published === undefined
      ? 'nothing is published'
      : `commit ${shortCommit(published.commit)} of ${shortHashes(shortRef(published.ref))} stays published`
  const commit = published === undefined ? {} : { commit: published.commit }
  if (answer.outcome === 'Handled') {
    const message =
      published === undefined ? `${ref} was accepted` : `${ref} is commit ${shortCommit(published.commit)}, which is published`
    return { kind: 'ended', outcome: { done: true, outcome: 'Handled', message, ...commit, next: [statusCommand(sync)] } }
  }
  const why = shortHashes(answer.message ?? 'the controller gave no reason')
  const outcome: Outcome = {
    done: false,
    outcome: answer.outcome,
    message: `${ref} was ${answer.outcome === 'Refused' ? 'refused' : 'superseded'}: ${why}; ${now}`,
    ...explained(answer.reason),
    ...commit,
    next: answer.outcome === 'Refused' ? adviceFor(answer.reason) : [statusCommand(sync)],
  }
  return { kind: 'ended', outcome }
}

/** Determines whether gateways follow a changed `spec.git.ref`. */
export function refProgress({ generation, status, ...sync }: RequestedSync, ref: string): RequestProgress {
  const { source, published, conditions = [] } = status
  if ((status.observedGeneration ?? 0) < generation)
    return { kind: 'waiting', sentence: 'the controller has not observed the new spec.git.ref yet' }
  const refusal = conditions.find(({ type, status, reason }) => type === 'SourceReady' && status === 'False' && isLasting(reason))
  const stays = published === undefined ? 'nothing is published' : `commit ${shortCommit(published.commit)} stays published`
  const refused = (reason: string, message: string): RequestProgress => ({
    kind: 'ended',
    outcome: {
      done: false,
      outcome: 'Refused',
      message: `${shortHashes(message)}; ${stays}`,
      ...explained(reason),
      next: adviceFor(reason),
    },
  })
  if (refusal !== undefined) return refused(refusal.reason, refusal.message)
  if (source === undefined || !isSameRef(source.ref, ref)) return { kind: 'waiting', sentence: 'resolving the ref on the git host' }
  const ready = conditions.find(({ type }) => type === 'Ready')
  if (source.held !== undefined) return refused(source.held, ready?.message ?? 'the commit is held')
  if (published === undefined || published.commit !== source.commit)
    return { kind: 'waiting', sentence: 'fetching and validating the commit' }
  const message = `commit ${shortCommit(published.commit)} is published`
  return {
    kind: 'ended',
    outcome: { done: true, outcome: 'Handled', message, commit: published.commit, next: [statusCommand(sync)] },
  }
}

/** Determines whether every gateway runs a commit. */
export function rolloutProgress({ generation, status, ...sync }: RequestedSync, commit: string): RequestProgress {
  const { published, gateways, conditions = [] } = status
  const total = gateways?.total ?? 0
  const there = `${(gateways?.synced ?? 0) + (gateways?.drifted ?? 0)} of ${total} gateways run commit ${shortCommit(commit)}`
  const of = (type: string): Condition | undefined => conditions.find((condition) => condition.type === type)
  const ended = (outcome: Omit<Outcome, 'commit'>): RequestProgress => ({
    kind: 'ended',
    outcome: { ...outcome, commit: published?.commit ?? commit },
  })
  if (published?.commit !== commit) {
    const message = published === undefined ? 'no commit is published' : `superseded by commit ${shortCommit(published.commit)}`
    return ended({ done: false, outcome: 'Superseded', message, next: [statusCommand(sync)] })
  }
  const ready = of('Ready')
  const isCurrent = (status.observedGeneration ?? 0) >= generation
  if (isCurrent && ready?.status === 'True')
    return ended({ done: true, outcome: 'InPlace', message: total === 0 ? 'no gateway follows it yet' : there, next: [] })
  const stalled = of('Stalled')
  if (isCurrent && (stalled?.status === 'True' || of('Paused')?.status === 'True') && ready !== undefined) {
    const message = `${there}; ${shortHashes(ready.message)}`
    return ended({ done: false, outcome: 'Stuck', message, ...explained(ready.reason), next: [statusCommand(sync)] })
  }
  return { kind: 'waiting', sentence: there }
}

/** Determines whether the controller has paused or resumed the gateways. */
export function pauseProgress({ generation, status, ...sync }: RequestedSync, paused: boolean): RequestProgress {
  if ((status.observedGeneration ?? 0) < generation) return { kind: 'waiting', sentence: 'the controller has not observed the request yet' }
  const isPaused = status.conditions?.some(({ type, status }) => type === 'Paused' && status === 'True') === true
  if (isPaused !== paused) return { kind: 'waiting', sentence: 'the controller is processing the request' }
  const commit = status.published === undefined ? {} : { commit: status.published.commit }
  const outcome: Outcome = paused
    ? {
        done: true,
        outcome: 'Paused',
        message: 'paused; commits are still fetched and validated',
        ...commit,
        next: [`Resume: cluster-sync resume ${named(sync)}`],
      }
    : {
        done: true,
        outcome: 'Resumed',
        message: `its gateways follow ${status.source === undefined ? 'the desired ref' : shortRef(status.source.ref)} again`,
        ...commit,
        next: [statusCommand(sync)],
      }
  return { kind: 'ended', outcome }
}

/** The outcome when the deadline has passed; the request remains in effect. */
export function lateOutcome(sync: RequestedSync, sentence: string, waitedMs: number): Outcome {
  return {
    done: false,
    outcome: 'Unanswered',
    reason: 'Timeout',
    message: `after ${Math.round(waitedMs / 1000)} s: ${sentence}; the request remains in effect and may still complete`,
    next: [statusCommand(sync), `Check whether the operator is running: cluster-sync check${inContext(sync.context)}`],
  }
}

/** Formats an outcome as lines of text. */
export function outcomeText({ namespace, name }: Pick<RequestedSync, 'namespace' | 'name'>, outcome: Outcome, style: Style): string[] {
  const { done, message, reason, meaning, next } = outcome
  const because = reason === undefined ? '' : ` (${reason})`
  return [
    ...folded(`${namespace}/${name}: ${message}${because}`, style.width, markOf(done ? 'ok' : 'error', style)),
    ...(meaning === undefined ? [] : folded(`Meaning: ${meaning}.`, style.width, '  ')),
    ...next.flatMap((step) => folded(step, style.width, '  -> ')),
  ]
}

/** A reason with its meaning, if the reason table has one. */
export function explained(reason: string | undefined): Pick<Outcome, 'reason' | 'meaning'> {
  if (reason === undefined) return {}
  const meaning = meaningOf(reason)
  return meaning === undefined ? { reason } : { reason, meaning }
}

function isLasting(reason: string): boolean {
  return Object.hasOwn(reasons, reason) && reasons[reason as Reason].retry === 'on-change'
}

const advice: Partial<Record<Reason, string>> = {
  RefNotFound: 'Check the spelling, and that the ref is pushed: git ls-remote <repository>',
  AmbiguousRef: 'Request the full name: refs/heads/<name> for the branch, refs/tags/<name> for the tag.',
  RefNotAllowed: 'Request a ref that spec.git.allowedRefs permits, or add this one to it.',
  InvalidRef: 'Use the name of a branch or tag.',
  CollectionsInvalid: 'Fix the reported problems, check with "cluster-sync lint", and push.',
  NotVerified: 'Sign the commit with a key that spec.git.verify or spec.oci.verify accepts.',
}

function adviceFor(reason: string | undefined): string[] {
  const known = reason === undefined ? undefined : advice[reason as Reason]
  const entry = runbookEntry(reason)
  return [...(known === undefined ? [] : [known]), ...(entry === undefined ? [] : [`More: ${entry}`])]
}

/** The command that shows more details. */
export function statusCommand(sync: NamedSync): string {
  return `Show progress: cluster-sync status ${named(sync)}`
}
