/**
 * A stand-in for the APIs of git hosts: one kind of host below one path. It detects the called host and checks credentials; the caller of
 * this module defines the valid calls.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type StatusProvider, statusProviders } from '../../runtime/api/schema/commit-status.ts'

/** `token`: the token of each host; `basic`: user and password as well, for hosts that accept them. */
export type HostCredentials = { token: string; basic?: string }

export type HostAnswer = { status: number; body?: unknown; headers?: Record<string, string> }

/** `path` is relative to the host's API and includes the query. `body`: as received. */
export type HostCall = { provider: StatusProvider; method: string; path: string; headers: IncomingMessage['headers']; body: string }

export type HostApis = {
  /** Errors in calls, according to the host's reference. */
  refused: string[]
  /** Overrides for the next answers, one each. */
  answers: HostAnswer[]
  /** The path of a kind of host. */
  path(provider: StatusProvider): string
  /** For use in another server; false: the request is for none of the APIs. */
  take(request: IncomingMessage, response: ServerResponse): boolean
}

const paths: Readonly<Record<StatusProvider, string>> = {
  github: '/github/api/v3',
  gitlab: '/gitlab/api/v4',
  gitea: '/gitea/api/v1',
  bitbucket: '/bitbucket/2.0',
  bitbucketserver: '/bitbucketserver/rest/api/latest',
  azuredevops: '/azuredevops/organisation',
}

/** Headers that a host accepts as credentials. */
function authorizations(provider: StatusProvider, { token, basic }: HostCredentials): string[] {
  const own = provider === 'gitea' ? `token ${token}` : provider === 'azuredevops' ? encoded(`:${token}`) : `Bearer ${token}`
  return basic === undefined || provider === 'github' || provider === 'gitlab' ? [own] : [own, encoded(basic)]
}

function encoded(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

/** Refuses with the message of the host's reference. */
export type Refuse = (status: number, why: string) => HostAnswer

/** `answer` handles calls with valid credentials and a user agent. */
export function hostApis(credentials: HostCredentials, answer: (call: HostCall, refuse: Refuse) => HostAnswer): HostApis {
  const refused: string[] = []
  const answers: HostAnswer[] = []
  const refuse: Refuse = (status, why) => {
    refused.push(why)
    return { status, body: { message: why } }
  }
  const answerTo = (call: HostCall): HostAnswer => {
    const { provider, headers } = call
    if (!authorizations(provider, credentials).includes(headers.authorization ?? '-'))
      return refuse(401, `${provider} does not take these credentials`)
    if (headers['user-agent'] === undefined) return refuse(403, 'a user agent is asked for')
    if (call.method !== 'GET' && headers['content-type'] !== 'application/json') return refuse(415, `${provider} takes JSON`)
    return answer(call, refuse)
  }
  return {
    refused,
    answers,
    path: (provider) => paths[provider],
    take(request, response) {
      const { url = '', method = '', headers } = request
      const provider = statusProviders.find((each) => url.startsWith(`${paths[each]}/`))
      if (provider === undefined) return false
      void bodyOf(request).then((body) => {
        const told = answers.shift() ?? answerTo({ provider, method, path: url.slice(paths[provider].length), headers, body })
        response.writeHead(told.status, { 'content-type': 'application/json', ...told.headers })
        response.end(told.body === undefined ? undefined : JSON.stringify(told.body))
      })
      return true
    },
  }
}

/** Serves them on this machine. `api`: the address of a kind of host, for `apiBaseURL`. */
export async function serveHostApis(
  tls: ServerOptions,
  apis: HostApis,
): Promise<{ port: number; api(provider: StatusProvider): string; stop(): Promise<void> }> {
  const server = createServer(tls, (request, response) => {
    if (apis.take(request, response)) return
    apis.refused.push(`no such API: ${request.url}`)
    response.writeHead(404).end()
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    api: (provider) => `https://127.0.0.1:${port}${apis.path(provider)}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
