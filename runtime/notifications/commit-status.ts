/**
 * Reports commit statuses to git hosts: after each reconcile, computes what the host should show and sends what is new. Reconciles do not
 * wait for it.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../platform/clock.ts'
import { Fault } from '../platform/fault.ts'
import type { StatusProvider } from '../api/schema/commit-status.ts'
import type { GatewaySyncSpec } from '../api/schema/spec.ts'
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import { type Log, logOf } from '../platform/log/log.ts'
import { causeOf } from '../http/client.ts'
import {
  type ApiCredentials,
  type OpenHostApi,
  isTemporary,
  retryAfterMs,
  apiAuthorization,
  namePart as part,
} from '../git/api/host-api.ts'
import type { Temporal } from '../platform/temporal.ts'
import { Outbox, type Delivery, type Tried } from './outbox.ts'
import { hostedRepository, type HostedRepository } from '../git/api/hosted-repository.ts'
import type { ApiAnswer, ApiCall } from '../git/credentials/api-call.ts'
import { type CommitState, commitStateOf } from './commit-state.ts'

/** A GatewaySync as the API server holds it. */
export type ReportedSync = { namespace: string; name: string; git: GatewaySyncSpec['git']; status: GatewaySyncStatus }

export type CommitStatuses = {
  /** Reports what the GatewaySync's host does not show yet. */
  observed(sync: ReportedSync): void
  /** The GatewaySync was deleted. */
  forget(sync: { namespace: string; name: string }): void
  /** Settles after the signal, once no call is running. */
  settled(): Promise<void>
}

type Deps = {
  clock: Clock
  log: Log
  open: OpenHostApi
  delivered(provider: StatusProvider, how: Delivery['kind']): void
  /** The host rejected a status, or could not be reached. */
  failed(sync: { namespace: string; name: string }, fault: Fault): void
  /** How long messages are gathered; shorter in tests. */
  pace?: { gatherMs: number; spacingMs: number; firstRetryMs: number }
}

/** Without the status, which may be large and waits with it. */
type Message = {
  sync: Pick<ReportedSync, 'namespace' | 'name' | 'git'>
  requestId: string | undefined
  settings: NonNullable<ReportedSync['git']['commitStatus']>
  state: CommitState
}
/** What a host shows, or will; after `againMs` it is sent again even if unchanged, because it was rejected. */
type Shown = { commit: string; state: CommitState['state']; text: string; againMs: number }

/** A small push is applied before the first message leaves, and is one message. */
const defaultPace = { gatherMs: 500, spacingMs: 2_000 }
/** States older than this when this replica began to lead were sent by the previous leader. */
const recentMs = 600_000
/** Retry delay after a rejection: the token or its permissions may have been fixed meanwhile. */
const refusedAgainMs = 900_000

/** Runs until `signal` aborts. */
export function createCommitStatuses(deps: Deps, signal: AbortSignal): CommitStatuses {
  const { clock } = deps
  const shown = new Map<string, Shown>()
  const delivered = (key: string, { sync: { namespace, name }, requestId, settings, state }: Message, how: Delivery): void => {
    deps.delivered(settings.provider, how.kind)
    const about = { namespace, name, commit: state.commit }
    const log = logOf(deps.log, requestId)
    if (how.kind === 'sent') return log.debug(about, 'commit status sent')
    const { reason, message } = how.fault
    if (how.kind === 'retried') return log.debug({ ...about, reason, message }, 'commit status not accepted yet')
    const last = shown.get(key)
    if (last !== undefined) last.againMs = clock.monotonicMs() + refusedAgainMs
    log.warn({ ...about, reason, message }, 'commit status dropped')
    deps.failed({ namespace, name }, how.fault)
  }
  const send = async (_key: string, message: Message, own: AbortSignal): Promise<Tried> => await postStatus(deps.open, message, own)
  const outbox: Outbox<Message> = new Outbox(
    { clock, send, join: (_before, next) => next, delivered, ...defaultPace, ...deps.pace },
    signal,
  )

  return {
    observed(sync) {
      const key = `${sync.namespace}/${sync.name}`
      const settings = sync.git.commitStatus
      const state = commitStateOf(sync.status)
      if (settings === undefined || state === undefined) {
        shown.delete(key)
        return
      }
      const text = JSON.stringify([sync.git.repo, settings, state])
      const last = shown.get(key)
      const isKnown = last === undefined ? isOld(sync.status, state, clock.now()) : isShown(last, state, text, clock.monotonicMs())
      if (last !== undefined && isKnown) return
      shown.set(key, { commit: state.commit, state: state.state, text, againMs: Infinity })
      const { namespace, name, git, status } = sync
      const requestId = status.source?.commit === state.commit ? status.source.requested?.id : undefined
      if (!isKnown) outbox.put(key, { sync: { namespace, name, git }, requestId, settings, state })
    },
    forget: ({ namespace, name }) => void shown.delete(`${namespace}/${name}`),
    settled: () => outbox.settled(),
  }
}

/** A commit that every gateway has run is reported again only for failures: a restarting pod is not reported. */
function isShown(last: Shown, { commit, state }: CommitState, text: string, nowMs: number): boolean {
  if (nowMs >= last.againMs) return false
  return text === last.text || (last.commit === commit && last.state === 'success' && state === 'pending')
}

/** Whether the last change of a status is so old that another replica has sent it. */
function isOld({ conditions = [], published }: GatewaySyncStatus, { state }: CommitState, now: Temporal.Instant): boolean {
  if (state === 'pending') return false
  const since = conditions.find(({ type }) => type === 'Ready')?.lastTransitionTime ?? published?.at
  return since !== undefined && now.since(since).total('milliseconds') > recentMs
}

async function postStatus(
  open: OpenHostApi,
  { sync: { namespace, name, git }, settings, state }: Message,
  signal: AbortSignal,
): Promise<Tried> {
  try {
    const { url, credentials, call } = await open(namespace, git, { ...settings, field: 'spec.git.commitStatus' }, signal)
    const repository = hostedRepository(url, settings.provider, settings.apiBaseURL)
    if (repository === undefined) {
      return { kind: 'never', fault: new Fault('CommitStatusRefused', `spec.git.repo is not a repository URL of ${settings.provider}`) }
    }
    const request = statusCall(settings.provider, repository, credentials, state, settings.context ?? `cluster-sync/${namespace}/${name}`)
    const answer = await call(request, signal)
    const meaning = readAnswer(settings.provider, answer)
    if (meaning.kind === 'taken') return { kind: 'sent' }
    const where = `${new URL(request.url).host} answered ${answer.status}`
    if (meaning.kind === 'refused') return { kind: 'never', fault: new Fault('CommitStatusRefused', `${where}${advice(answer.status)}`) }
    return { kind: 'again', fault: new Fault('CommitStatusFailed', where), afterMs: meaning.afterMs }
  } catch (error) {
    signal.throwIfAborted()
    throw error instanceof Fault ? error : new Fault('CommitStatusFailed', causeOf(error))
  }
}

/** Uses only the status: the body is untrusted. */
function advice(status: number): string {
  if (status === 401) return ': it rejects the credentials'
  if (status === 403) return ': the credentials may not write commit statuses'
  if (status === 404) return ': it has no such repository or commit, or hides it from these credentials'
  return ''
}

type StateTexts = Readonly<Record<CommitState['state'], string>>

type Host = {
  words: StateTexts
  /** Characters. */
  maxDescription: number
  /** The path of the call, below the API, and its body. */
  call(names: readonly string[], status: CommitStatus): { path: string; body: Record<string, unknown> }
}

/** `page`: the commit's web page. */
type CommitStatus = { commit: string; state: string; description: string; context: string; page: string }

const defaultWords: StateTexts = { pending: 'pending', success: 'success', failure: 'failure' }
const buildWords: StateTexts = { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED' }

const defaultCall: Host['call'] = ([owner = '', name = ''], { commit, ...status }) => ({
  path: `repos/${part(owner)}/${part(name)}/statuses/${commit}`,
  body: defaultBody(status),
})

/**
 * Sources: the REST references of GitHub (commit statuses), GitLab (commits), Gitea and Forgejo (CreateStatusOption), Bitbucket Cloud (commit
 * statuses), Bitbucket Data Center (builds) and Azure DevOps (Git statuses).
 */
const hosts: Record<StatusProvider, Host> = {
  github: {
    words: defaultWords,
    maxDescription: 140,
    call: defaultCall,
  },
  gitlab: {
    words: { pending: 'pending', success: 'success', failure: 'failed' },
    maxDescription: 255,
    call: ([path = ''], { commit, state, description, context: name }) => ({
      path: `projects/${part(path)}/statuses/${commit}`,
      body: { state, description, name },
    }),
  },
  gitea: {
    words: defaultWords,
    maxDescription: 255,
    call: defaultCall,
  },
  bitbucket: {
    words: buildWords,
    maxDescription: 255,
    call: ([workspace = '', name = ''], status) => ({
      path: `repositories/${part(workspace)}/${part(name)}/commit/${status.commit}/statuses/build`,
      // A key has at most 40 characters there.
      body: buildBody({ ...status, page: `${status.page}/commits/${status.commit}` }, 40),
    }),
  },
  bitbucketserver: {
    words: buildWords,
    maxDescription: 255,
    call: ([project = '', name = ''], status) => ({
      path: `projects/${part(project)}/repos/${part(name)}/commits/${status.commit}/builds`,
      body: buildBody({ ...status, page: `${status.page}/commits/${status.commit}` }, 255),
    }),
  },
  azuredevops: {
    words: { pending: 'pending', success: 'succeeded', failure: 'failed' },
    maxDescription: 255,
    call: ([project = '', name = ''], { commit, state, description, context }) => ({
      // The oldest version that each supported server and the service support.
      path: `${part(project)}/_apis/git/repositories/${part(name)}/commits/${commit}/statuses?api-version=6.0`,
      body: { state, description, context: { genre: 'cluster-sync', name: context } },
    }),
  },
}

/** The call for a host. `context` is the name of the status there. */
function statusCall(
  provider: StatusProvider,
  { api, page, names }: HostedRepository,
  credentials: ApiCredentials,
  { commit, state, description }: CommitState,
  context: string,
): ApiCall {
  const { words, maxDescription, call } = hosts[provider]
  const { path, body } = call(names, { commit, state: words[state], description: cut(description, maxDescription), context, page })
  const headers = { authorization: apiAuthorization(provider, credentials), 'content-type': 'application/json', accept: 'application/json' }
  return { url: `${api}/${path}`, headers, body: JSON.stringify(body) }
}

/** Interprets an answer: `taken`; `later` for a temporary failure, with the host's retry delay if given; or `refused`. */
function readAnswer(provider: StatusProvider, answer: ApiAnswer): Meaning {
  const { status, body } = answer
  if (status >= 200 && status < 300) return { kind: 'taken' }
  // GitLab has a status as a job, which cannot transition to the same state.
  if (provider === 'gitlab' && status === 400 && /Cannot transition status/i.test(messageOf(body))) return { kind: 'taken' }
  return isTemporary(answer) ? { kind: 'later', afterMs: retryAfterMs(answer) ?? 0 } : { kind: 'refused' }
}

type Meaning = { kind: 'taken' } | { kind: 'later'; afterMs: number } | { kind: 'refused' }

function messageOf(body: unknown): string {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : ''
  return typeof message === 'string' ? message : JSON.stringify(message)
}

function defaultBody({ state, description, context }: Omit<CommitStatus, 'commit'>): Record<string, unknown> {
  return { state, description, context }
}

/** Bitbucket needs a link; everyone who sees the status may open the commit's page. */
function buildBody({ state, description, context, page }: CommitStatus, maxKey: number): Record<string, unknown> {
  const key = context.length <= maxKey ? context : createHash('sha256').update(context).digest('hex').slice(0, maxKey)
  return { key, state, name: context, description, url: page }
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`
}
