/**
 * Tells git hosts what became of commits: from what is known of a GatewaySync after each pass follows what its host should show, and what
 * is not told yet is. No pass waits for it.
 */
import type { Clock } from '../../clock.ts'
import { Fault } from '../../fault.ts'
import type { StatusProvider } from '../../gatewaysync/schema/commit-status.ts'
import type { GatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'
import type { GatewaySyncStatus } from '../../gatewaysync/schema/status.ts'
import { type Log, logOf } from '../../log.ts'
import { causeOf } from '../../http/client.ts'
import type { OpenHostApi } from '../../source/host-api.ts'
import { createOutbox, type Outbox, type Told, type Tried } from '../outbox.ts'
import { readAnswer, statusCall } from './hosts.ts'
import { hostedRepository } from '../../source/hosted-repository.ts'
import { type CommitState, commitStateOf } from './state.ts'

/** A GatewaySync as the API server holds it. */
export type ToldSync = { namespace: string; name: string; git: GatewaySyncSpec['git']; status: GatewaySyncStatus }

export type CommitStatuses = {
  /** Tells the host of a GatewaySync what it has not been told yet. */
  observed(sync: ToldSync): void
  /** The GatewaySync is gone. */
  forget(sync: { namespace: string; name: string }): void
  /** Settles after the signal, when no call is under way any more. */
  settled(): Promise<void>
}

type Deps = {
  clock: Clock
  log: Log
  open: OpenHostApi
  told(provider: StatusProvider, how: Told['kind']): void
  /** The host refused, or could not be told: somebody should know. */
  failed(sync: { namespace: string; name: string }, fault: Fault): void
  /** How long messages wait for later ones; shorter in tests. */
  pace?: { gatherMs: number; spacingMs: number; firstRetryMs: number }
}

type Message = { sync: ToldSync; asked: NonNullable<ToldSync['git']['commitStatus']>; state: CommitState }
/** What a host shows, or will; from `againMs` on it is told again although nothing has changed, because it took it not. */
type Shown = { commit: string; state: CommitState['state']; text: string; againMs: number }

/** A small push is applied before the first message leaves, and is one message. */
const usualPace = { gatherMs: 500, spacingMs: 2_000 }
/** What was over longer ago when this replica began to lead was told by the one that led before. */
const newsMs = 600_000
/** After a host refused: the token or its rights may have been mended meanwhile. */
const refusedAgainMs = 900_000

/** Works until the signal. */
export function createCommitStatuses(deps: Deps, signal: AbortSignal): CommitStatuses {
  const { clock } = deps
  const shown = new Map<string, Shown>()
  const told = (key: string, { sync: { namespace, name, status }, asked, state }: Message, how: Told): void => {
    const { requested, commit } = status.source ?? {}
    const requestId = commit === state.commit ? requested?.id : undefined
    deps.told(asked.provider, how.kind)
    const about = { namespace, name, commit: state.commit }
    const log = logOf(deps.log, requestId)
    if (how.kind === 'sent') return log.debug(about, 'commit status told')
    const { reason, message } = how.fault
    if (how.kind === 'retried') return log.debug({ ...about, reason, message }, 'commit status not taken yet')
    const last = shown.get(key)
    if (last !== undefined) last.againMs = clock.monotonicMs() + refusedAgainMs
    log.warn({ ...about, reason, message }, 'commit status given up')
    deps.failed({ namespace, name }, how.fault)
  }
  const send = async (_key: string, message: Message, own: AbortSignal): Promise<Tried> => await tell(deps.open, message, own)
  const outbox: Outbox<Message> = createOutbox({ clock, send, join: (_before, next) => next, told, ...usualPace, ...deps.pace }, signal)

  return {
    observed(sync) {
      const key = `${sync.namespace}/${sync.name}`
      const asked = sync.git.commitStatus
      const state = commitStateOf(sync.status)
      if (asked === undefined || state === undefined) {
        shown.delete(key)
        return
      }
      const text = JSON.stringify([sync.git.repo, asked, state])
      const last = shown.get(key)
      const isKnown = last === undefined ? isOld(sync.status, state, clock.now()) : isShown(last, state, text, clock.monotonicMs())
      if (last !== undefined && isKnown) return
      shown.set(key, { commit: state.commit, state: state.state, text, againMs: Infinity })
      if (!isKnown) outbox.put(key, { sync, asked, state })
    },
    forget: ({ namespace, name }) => void shown.delete(`${namespace}/${name}`),
    settled: outbox.settled,
  }
}

/** What became of a commit that every gateway once ran is told no more, unless something is wrong: a pod that starts anew is no news. */
function isShown(last: Shown, { commit, state }: CommitState, text: string, nowMs: number): boolean {
  if (nowMs >= last.againMs) return false
  return text === last.text || (last.commit === commit && last.state === 'success' && state === 'pending')
}

/** Whether the last change of a status is so long ago that another replica has told it. */
function isOld({ conditions = [], published }: GatewaySyncStatus, { state }: CommitState, now: Temporal.Instant): boolean {
  if (state === 'pending') return false
  const since = conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? published?.at
  return since !== undefined && now.since(since).total('milliseconds') > newsMs
}

async function tell(open: OpenHostApi, { sync: { namespace, name, git }, asked, state }: Message, signal: AbortSignal): Promise<Tried> {
  try {
    const { url, credentials, call } = await open(namespace, git, { ...asked, field: 'spec.git.commitStatus' }, signal)
    const repository = hostedRepository(url, asked.provider, asked.apiURL)
    if (repository === undefined) {
      return { kind: 'never', fault: new Fault('CommitStatusRefused', `spec.git.repo is not how ${asked.provider} names a repository`) }
    }
    const told = statusCall(asked.provider, repository, credentials, state, asked.context ?? `cluster-sync/${namespace}/${name}`)
    const answer = await call(told, signal)
    const meaning = readAnswer(asked.provider, answer)
    if (meaning.kind === 'taken') return { kind: 'sent' }
    const where = `${new URL(told.url).host} answered ${answer.status}`
    if (meaning.kind === 'refused') return { kind: 'never', fault: new Fault('CommitStatusRefused', `${where}${advice(answer.status)}`) }
    return { kind: 'again', fault: new Fault('CommitStatusFailed', where), afterMs: meaning.afterMs }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof Fault ? error : new Fault('CommitStatusFailed', causeOf(error))
  }
}

/** By the status alone: the body is another's text. */
function advice(status: number): string {
  if (status === 401) return ': it does not take the credentials'
  if (status === 403) return ': the credentials may not write commit statuses'
  if (status === 404) return ': it has no such repository or commit, or hides it from these credentials'
  return ''
}
