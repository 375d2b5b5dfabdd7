/**
 * The calls by which git hosts take commit statuses, checked as their references describe them: path, method, headers, credentials, members
 * of the body and their words. It answers as the host does, and remembers what it took.
 */
import { createServer, type ServerOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StatusProvider } from '../../runtime/gatewaysync/schema/commit-status.ts'

export type TakenStatus = { name: string; state: string; description: string; link?: string }

export type StatusHosts = {
  port: number
  /** The API of a kind of host, for `spec.git.commitStatus.apiURL`. */
  api(provider: StatusProvider): string
  /** What was taken, by kind of host and commit, oldest first. */
  taken: { provider: StatusProvider; repository: string; commit: string; status: TakenStatus }[]
  /** What was wrong with a call, as the host's reference says. */
  refused: string[]
  /** Answers the next calls instead, one each. */
  answers: { status: number; body?: string; headers?: Record<string, string> }[]
  stop(): Promise<void>
}

/** `token`: what each host takes; `basic`: user and password besides, where the host takes them. */
type Credentials = { token: string; basic?: string }

type Body = Readonly<Record<string, unknown>>

type Rule = {
  api: string
  path: RegExp
  /** Headers that the host takes as proof. */
  proofs(credentials: Credentials): (string | undefined)[]
  states: readonly string[]
  /** Members that a body must and may have. */
  members: readonly string[]
  read(body: Body): TakenStatus
  maxDescription: number
  answer: number
}

const bearer = ({ token }: Credentials): string => `Bearer ${token}`
const basic = ({ basic }: Credentials): string | undefined => (basic === undefined ? undefined : encoded(basic))
const encoded = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const buildOf = ({ key, state, description, url }: Body): TakenStatus => ({
  name: text(key),
  state: text(state),
  description: text(description),
  link: text(url),
})
const usualOf = ({ context, state, description }: Body): TakenStatus => ({
  name: text(context),
  state: text(state),
  description: text(description),
})

const rules: Record<StatusProvider, Rule> = {
  github: {
    api: '/github/api/v3',
    path: /^\/repos\/([^/]+\/[^/]+)\/statuses\/([0-9a-f]{40})$/,
    proofs: (credentials) => [bearer(credentials)],
    states: ['error', 'failure', 'pending', 'success'],
    members: ['state', 'description', 'context'],
    read: usualOf,
    maxDescription: 140,
    answer: 201,
  },
  gitlab: {
    api: '/gitlab/api/v4',
    path: /^\/projects\/([^/]+)\/statuses\/([0-9a-f]{40})$/,
    proofs: (credentials) => [bearer(credentials)],
    states: ['pending', 'running', 'success', 'failed', 'canceled', 'skipped'],
    members: ['state', 'description', 'name'],
    read: ({ name, ...body }) => usualOf({ ...body, context: name }),
    maxDescription: 255,
    answer: 201,
  },
  gitea: {
    api: '/gitea/api/v1',
    path: /^\/repos\/([^/]+\/[^/]+)\/statuses\/([0-9a-f]{40})$/,
    proofs: (credentials) => [`token ${credentials.token}`, basic(credentials)],
    states: ['pending', 'success', 'error', 'failure', 'warning'],
    members: ['state', 'description', 'context'],
    read: usualOf,
    maxDescription: 255,
    answer: 201,
  },
  bitbucket: {
    api: '/bitbucket/2.0',
    path: /^\/repositories\/([^/]+\/[^/]+)\/commit\/([0-9a-f]{40})\/statuses\/build$/,
    proofs: (credentials) => [bearer(credentials), basic(credentials)],
    states: ['INPROGRESS', 'SUCCESSFUL', 'FAILED', 'STOPPED'],
    members: ['key', 'state', 'name', 'description', 'url'],
    read: buildOf,
    maxDescription: 255,
    answer: 201,
  },
  bitbucketserver: {
    api: '/bitbucketserver/rest/api/latest',
    path: /^\/projects\/([^/]+)\/repos\/([^/]+)\/commits\/([0-9a-f]{40})\/builds$/,
    proofs: (credentials) => [bearer(credentials), basic(credentials)],
    states: ['SUCCESSFUL', 'FAILED', 'INPROGRESS', 'CANCELLED', 'UNKNOWN'],
    members: ['key', 'state', 'name', 'description', 'url'],
    read: buildOf,
    maxDescription: 255,
    answer: 204,
  },
  azuredevops: {
    api: '/azuredevops/organisation',
    path: /^\/([^/]+)\/_apis\/git\/repositories\/([^/]+)\/commits\/([0-9a-f]{40})\/statuses\?api-version=6\.0$/,
    proofs: (credentials) => [encoded(`:${credentials.token}`), basic(credentials)],
    states: ['notSet', 'pending', 'succeeded', 'failed', 'error', 'notApplicable'],
    members: ['state', 'description', 'context'],
    read({ context, ...body }) {
      const { genre, name } = context as Body
      return usualOf({ ...body, context: `${text(genre)}: ${text(name)}` })
    },
    maxDescription: 255,
    answer: 201,
  },
}

export async function startStatusHosts(tls: ServerOptions, credentials: Credentials): Promise<StatusHosts> {
  const server = createServer(tls, (request, response) => {
    void bodyOf(request).then((body) => {
      const answer = hosts.answers.shift() ?? take(request, body)
      response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers }).end(answer.body)
    })
  })
  const take = (request: IncomingMessage, body: string): StatusHosts['answers'][number] => {
    const refuse = (status: number, why: string): { status: number; body: string } => {
      hosts.refused.push(why)
      return { status, body: JSON.stringify({ message: why }) }
    }
    const found = Object.entries(rules).find(([, { api }]) => request.url?.startsWith(`${api}/`))
    if (found === undefined) return refuse(404, `no such API: ${request.url}`)
    const [provider, rule] = found as [StatusProvider, Rule]
    const place = rule.path.exec(request.url?.slice(rule.api.length) ?? '')
    if (place === null || request.method !== 'POST') return refuse(404, `no such call of ${provider}: ${request.method} ${request.url}`)
    if (!rule.proofs(credentials).includes(request.headers.authorization ?? '-'))
      return refuse(401, `${provider} does not take these credentials`)
    if (request.headers['content-type'] !== 'application/json') return refuse(415, `${provider} takes JSON`)
    if (request.headers['user-agent'] === undefined) return refuse(403, 'a user agent is asked for')
    const given = JSON.parse(body) as Body
    const unknown = Object.keys(given).filter((member) => !rule.members.includes(member))
    const missing = rule.members.filter((member) => given[member] === undefined)
    if (unknown.length + missing.length > 0) return refuse(422, `${provider}: ${unknown.join()} unknown, ${missing.join()} missing`)
    const status = rule.read(given)
    if (!rule.states.includes(status.state)) return refuse(422, `${provider} has no state ${status.state}`)
    if (status.description.length > rule.maxDescription) return refuse(422, `${provider}: the description is too long`)
    if (provider === 'bitbucket' && status.name.length > 40) return refuse(400, 'bitbucket: the key is too long')
    const names = place.slice(1, -1).map((name) => decodeURIComponent(name))
    hosts.taken.push({ provider, repository: names.join('/'), commit: place.at(-1) ?? '', status })
    return { status: rule.answer }
  }
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const hosts: StatusHosts = {
    port,
    api: (provider) => `https://127.0.0.1:${port}${rules[provider].api}`,
    taken: [],
    refused: [],
    answers: [],
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return hosts
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
