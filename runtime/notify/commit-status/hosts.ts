/**
 * The call by which each git host takes a commit status, and what it answers. Sources: the REST references of GitHub (commit statuses),
 * GitLab (commits), Gitea and Forgejo (CreateStatusOption), Bitbucket Cloud (commit statuses), Bitbucket Data Center (builds) and Azure
 * DevOps (Git statuses). Pure.
 */
import { createHash } from 'node:crypto'
import type { StatusProvider } from '../../gatewaysync/schema/commit-status.ts'
import type { ApiAnswer, ApiCall } from '../../source/credentials/api-call.ts'
import type { ApiCredentials } from '../../source/host-api.ts'
import { passesByItself, retryAfterMs } from '../../source/api-answers.ts'
import type { HostedRepository } from '../../source/hosted-repository.ts'
import { apiAuthorization, namePart as part } from '../../source/api-authorization.ts'
import type { CommitState } from './state.ts'

type Words = Readonly<Record<CommitState['state'], string>>

type Host = {
  words: Words
  /** In characters. */
  maxDescription: number
  /** The path of the call, below the API, and its body. */
  call(names: readonly string[], told: Told): { path: string; body: Record<string, unknown> }
}

/** `page`: of the commit, for people. */
type Told = { commit: string; state: string; description: string; context: string; page: string }

const usualWords: Words = { pending: 'pending', success: 'success', failure: 'failure' }
const buildWords: Words = { pending: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED' }

const hosts: Record<StatusProvider, Host> = {
  github: {
    words: usualWords,
    maxDescription: 140,
    call: ([owner = '', name = ''], { commit, ...told }) => ({
      path: `repos/${part(owner)}/${part(name)}/statuses/${commit}`,
      body: usualBody(told),
    }),
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
    words: usualWords,
    maxDescription: 255,
    call: ([owner = '', name = ''], { commit, ...told }) => ({
      path: `repos/${part(owner)}/${part(name)}/statuses/${commit}`,
      body: usualBody(told),
    }),
  },
  bitbucket: {
    words: buildWords,
    maxDescription: 255,
    call: ([workspace = '', name = ''], told) => ({
      path: `repositories/${part(workspace)}/${part(name)}/commit/${told.commit}/statuses/build`,
      // A key has 40 characters at most there.
      body: buildBody({ ...told, page: `${told.page}/commits/${told.commit}` }, 40),
    }),
  },
  bitbucketserver: {
    words: buildWords,
    maxDescription: 255,
    call: ([project = '', name = ''], told) => ({
      path: `projects/${part(project)}/repos/${part(name)}/commits/${told.commit}/builds`,
      body: buildBody({ ...told, page: `${told.page}/commits/${told.commit}` }, 255),
    }),
  },
  azuredevops: {
    words: { pending: 'pending', success: 'succeeded', failure: 'failed' },
    maxDescription: 255,
    call: ([project = '', name = ''], { commit, state, description, context }) => ({
      // The oldest version that each server in support knows, and that the service knows too.
      path: `${part(project)}/_apis/git/repositories/${part(name)}/commits/${commit}/statuses?api-version=6.0`,
      body: { state, description, context: { genre: 'cluster-sync', name: context } },
    }),
  },
}

/** The call that tells a host. `context` is the status' name there. */
export function statusCall(
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

/**
 * What an answer means: `taken`, `later` for what passes by itself, with how long the host wants to be left alone where it says so, or
 * `refused`.
 */
export function readAnswer(provider: StatusProvider, answer: ApiAnswer): Meaning {
  const { status, body } = answer
  if (status >= 200 && status < 300) return { kind: 'taken' }
  // GitLab has a status as a job, which does not change from a state to the same one.
  if (provider === 'gitlab' && status === 400 && /Cannot transition status/i.test(messageOf(body))) return { kind: 'taken' }
  return passesByItself(answer) ? { kind: 'later', afterMs: retryAfterMs(answer) ?? 0 } : { kind: 'refused' }
}

type Meaning = { kind: 'taken' } | { kind: 'later'; afterMs: number } | { kind: 'refused' }

function messageOf(body: unknown): string {
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : ''
  return typeof message === 'string' ? message : JSON.stringify(message)
}

function usualBody({ state, description, context }: Omit<Told, 'commit'>): Record<string, unknown> {
  return { state, description, context }
}

/** Bitbucket needs a link; the commit's own page is one that everybody who sees the status may open. */
function buildBody({ state, description, context, page }: Told, maxKey: number): Record<string, unknown> {
  const key = context.length <= maxKey ? context : createHash('sha256').update(context).digest('hex').slice(0, maxKey)
  return { key, state, name: context, description, url: page }
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`
}
