/**
 * The calls with which git hosts accept commit statuses, checked against their references: path, method, headers, credentials, members of
 * the body and their values. Answers like the host and records accepted calls.
 */
import type { ServerOptions } from 'node:https'
import type { StatusProvider } from '../../runtime/api/schema/commit-status.ts'
import { type HostAnswer, hostApis, type HostCall, type HostCredentials, type Refuse, serveHostApis } from './host-apis.ts'

export type TakenStatus = { name: string; state: string; description: string; link?: string }

export type StatusHosts = {
  port: number
  /** The API of a kind of host, for `spec.git.commitStatus.apiBaseURL`. */
  api(provider: StatusProvider): string
  /** Accepted statuses by kind of host and commit, oldest first. */
  taken: { provider: StatusProvider; repository: string; commit: string; status: TakenStatus }[]
  /** Errors in calls, according to the host's reference. */
  refused: string[]
  /** Overrides for the next answers, one each. */
  answers: HostAnswer[]
  stop(): Promise<void>
}

type Body = Readonly<Record<string, unknown>>

type Rule = {
  path: RegExp
  states: readonly string[]
  /** Members that a body must and may have. */
  members: readonly string[]
  read(body: Body): TakenStatus
  maxDescription: number
  answer: number
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const buildOf = ({ key, state, description, url }: Body): TakenStatus => ({
  name: text(key),
  state: text(state),
  description: text(description),
  link: text(url),
})
const defaultOf = ({ context, state, description }: Body): TakenStatus => ({
  name: text(context),
  state: text(state),
  description: text(description),
})

const rules: Record<StatusProvider, Rule> = {
  github: {
    path: /^\/repos\/([^/]+\/[^/]+)\/statuses\/([0-9a-f]{40})$/,
    states: ['error', 'failure', 'pending', 'success'],
    members: ['state', 'description', 'context'],
    read: defaultOf,
    maxDescription: 140,
    answer: 201,
  },
  gitlab: {
    path: /^\/projects\/([^/]+)\/statuses\/([0-9a-f]{40})$/,
    states: ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'],
    members: ['state', 'description', 'name'],
    read: ({ name, ...body }) => defaultOf({ ...body, context: name }),
    maxDescription: 255,
    answer: 201,
  },
  gitea: {
    path: /^\/repos\/([^/]+\/[^/]+)\/statuses\/([0-9a-f]{40})$/,
    states: ['pending', 'success', 'error', 'failure', 'warning'],
    members: ['state', 'description', 'context'],
    read: defaultOf,
    maxDescription: 255,
    answer: 201,
  },
  bitbucket: {
    path: /^\/repositories\/([^/]+\/[^/]+)\/commit\/([0-9a-f]{40})\/statuses\/build$/,
    states: ['INPROGRESS', 'SUCCESSFUL', 'FAILED', 'STOPPED'],
    members: ['key', 'state', 'name', 'description', 'url'],
    read: buildOf,
    maxDescription: 255,
    answer: 201,
  },
  bitbucketserver: {
    path: /^\/projects\/([^/]+)\/repos\/([^/]+)\/commits\/([0-9a-f]{40})\/builds$/,
    states: ['SUCCESSFUL', 'FAILED', 'INPROGRESS', 'CANCELLED', 'UNKNOWN'],
    members: ['key', 'state', 'name', 'description', 'url'],
    read: buildOf,
    maxDescription: 255,
    answer: 204,
  },
  azuredevops: {
    path: /^\/([^/]+)\/_apis\/git\/repositories\/([^/]+)\/commits\/([0-9a-f]{40})\/statuses\?api-version=6\.0$/,
    states: ['notSet', 'pending', 'succeeded', 'failed', 'error', 'notApplicable'],
    members: ['state', 'description', 'context'],
    read({ context, ...body }) {
      const { genre, name } = context as Body
      return defaultOf({ ...body, context: `${text(genre)}: ${text(name)}` })
    },
    maxDescription: 255,
    answer: 201,
  },
}

export async function startStatusHosts(tls: ServerOptions, credentials: HostCredentials): Promise<StatusHosts> {
  const taken: StatusHosts['taken'] = []
  const apis = hostApis(credentials, ({ provider, method, path, body }: HostCall, refuse: Refuse) => {
    const rule = rules[provider]
    const place = rule.path.exec(path)
    if (place === null || method !== 'POST') return refuse(404, `no such call of ${provider}: ${method} ${path}`)
    const given = JSON.parse(body) as Body
    const unknown = Object.keys(given).filter((member) => !rule.members.includes(member))
    const missing = rule.members.filter((member) => given[member] === undefined)
    if (unknown.length + missing.length > 0) return refuse(422, `${provider}: ${unknown.join()} unknown, ${missing.join()} missing`)
    const status = rule.read(given)
    if (!rule.states.includes(status.state)) return refuse(422, `${provider} has no state ${status.state}`)
    if (status.description.length > rule.maxDescription) return refuse(422, `${provider}: the description is too long`)
    if (provider === 'bitbucket' && status.name.length > 40) return refuse(400, 'bitbucket: the key is too long')
    const names = place.slice(1, -1).map((name) => decodeURIComponent(name))
    taken.push({ provider, repository: names.join('/'), commit: place.at(-1) ?? '', status })
    return { status: rule.answer }
  })
  const { refused, answers } = apis
  return { ...(await serveHostApis(tls, apis)), taken, refused, answers }
}
