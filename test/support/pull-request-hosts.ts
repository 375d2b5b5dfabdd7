/**
 * The calls by which git hosts list, open and change pull requests, checked as their references describe them: method, path, query, headers,
 * credentials and members of the body. It keeps what was opened, and answers as the host does.
 */
import { createServer, type ServerOptions } from 'node:https'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { StatusProvider } from '../../runtime/gatewaysync/schema/commit-status.ts'

export type KeptPullRequest = {
  id: number
  branch: string
  base: string
  title: string
  text: string
  isOpen: boolean
  /** From another repository, which has a branch of the same name. */
  isForeign: boolean
  version: number
}

export type PullRequestHosts = {
  /** The API of a kind of host, for `spec.capture.api.apiURL`. */
  api(provider: StatusProvider): string
  kept: KeptPullRequest[]
  /** What was wrong with a call, as the host's reference says. */
  refused: string[]
  /** Method and path of each call. */
  calls: string[]
  /** Answers the next calls instead, one each. */
  answers: { status: number; headers?: Record<string, string> }[]
  stop(): Promise<void>
}

type Body = Readonly<Record<string, unknown>>
type Words = { title: unknown; text: unknown }

type Rule = {
  api: string
  proof(token: string): string
  /** Of the collection; one pull request stands below it, by its number. */
  path: string
  changes: 'PUT' | 'PATCH'
  /** Query members that a list must have, with what each must say where it is not a branch. */
  query: Readonly<Record<string, string | undefined>>
  /** What the list is filtered by: the two branches, or one, or nothing. */
  filter(query: URLSearchParams): { branch?: string; base?: string }
  create(body: Body): { branch: unknown; base: unknown } & Words
  createMembers: readonly string[]
  change(body: Body): Words
  changeMembers: readonly string[]
  maxText: number
  list(items: unknown[]): unknown
  item(kept: KeptPullRequest, page: string): unknown
}

const bearer = (token: string): string => `Bearer ${token}`
const ref = (branch: string): string => `refs/heads/${branch}`
const named = (text: string | null): string => (text ?? '').replace(/^refs\/heads\//, '')
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>((found, name) => (found as Body | undefined)?.[name], value)
const usualItem = ({ id, branch, base, isForeign }: KeptPullRequest, page: string): unknown => ({
  number: id,
  html_url: `${page}/${id}`,
  head: { ref: branch, repo_id: isForeign ? 9 : 1, repo: { id: isForeign ? 9 : 1 } },
  base: { ref: base, repo_id: 1, repo: { id: 1 } },
})
const usualCreate = ({ head, base, title, body }: Body): ReturnType<Rule['create']> => ({ branch: head, base, title, text: body })

const rules: Record<StatusProvider, Rule> = {
  github: {
    api: '/github/api/v3',
    proof: bearer,
    path: '/repos/plant/line/pulls',
    changes: 'PATCH',
    query: { state: 'open', head: undefined, base: undefined, per_page: undefined },
    filter: (query) => ({ branch: (query.get('head') ?? '').replace(/^plant:/, ''), base: query.get('base') ?? '' }),
    create: usualCreate,
    createMembers: ['title', 'head', 'base', 'body'],
    change: ({ title, body }) => ({ title, text: body }),
    changeMembers: ['title', 'body'],
    maxText: 65_536,
    list: (items) => items,
    item: usualItem,
  },
  gitlab: {
    api: '/gitlab/api/v4',
    proof: bearer,
    path: '/projects/plant%2Fline/merge_requests',
    changes: 'PUT',
    query: { state: 'opened', source_branch: undefined, target_branch: undefined, per_page: undefined },
    filter: (query) => ({ branch: query.get('source_branch') ?? '', base: query.get('target_branch') ?? '' }),
    create: (body) => ({ branch: body['source_branch'], base: body['target_branch'], title: body['title'], text: body['description'] }),
    createMembers: ['source_branch', 'target_branch', 'title', 'description'],
    change: ({ title, description }) => ({ title, text: description }),
    changeMembers: ['title', 'description'],
    maxText: 1_048_576,
    list: (items) => items,
    item: ({ id, branch, base, isForeign }, page) => ({
      iid: id,
      web_url: `${page}/${id}`,
      source_branch: branch,
      target_branch: base,
      source_project_id: isForeign ? 9 : 1,
      target_project_id: 1,
    }),
  },
  gitea: {
    api: '/gitea/api/v1',
    proof: (token) => `token ${token}`,
    path: '/repos/plant/line/pulls',
    changes: 'PATCH',
    query: { state: 'open', sort: 'recentupdate', limit: '50', page: undefined },
    filter: () => ({}),
    create: usualCreate,
    createMembers: ['title', 'head', 'base', 'body'],
    change: ({ title, body }) => ({ title, text: body }),
    changeMembers: ['title', 'body'],
    maxText: 65_535,
    list: (items) => items,
    item: usualItem,
  },
  bitbucket: {
    api: '/bitbucket/2.0',
    proof: bearer,
    path: '/repositories/plant/line/pullrequests',
    changes: 'PUT',
    query: { q: undefined, pagelen: undefined },
    filter(query) {
      const form = /^state="OPEN" AND source\.branch\.name="([^"]+)" AND destination\.branch\.name="([^"]+)"$/
      const [, branch = '', base = ''] = form.exec(query.get('q') ?? '') ?? []
      return { branch, base }
    },
    create: (body) => ({
      branch: at(body, 'source', 'branch', 'name'),
      base: at(body, 'destination', 'branch', 'name'),
      title: body['title'],
      text: body['description'],
    }),
    createMembers: ['title', 'description', 'source', 'destination'],
    change: ({ title, description }) => ({ title, text: description }),
    changeMembers: ['title', 'description'],
    maxText: 32_768,
    list: (values) => ({ values, pagelen: 5 }),
    item: ({ id, branch, base, isForeign }, page) => ({
      id,
      links: { html: { href: `${page}/${id}` } },
      source: { branch: { name: branch }, repository: { full_name: isForeign ? 'other/line' : 'plant/line' } },
      destination: { branch: { name: base }, repository: { full_name: 'plant/line' } },
    }),
  },
  bitbucketserver: {
    api: '/bitbucketserver/rest/api/latest',
    proof: bearer,
    path: '/projects/plant/repos/line/pull-requests',
    changes: 'PUT',
    query: { at: undefined, direction: 'OUTGOING', state: 'OPEN', limit: undefined },
    filter: (query) => ({ branch: named(query.get('at')) }),
    create: (body) => ({
      branch: named(textOf(at(body, 'fromRef', 'id'))),
      base: named(textOf(at(body, 'toRef', 'id'))),
      title: body['title'],
      text: body['description'],
    }),
    createMembers: ['title', 'description', 'fromRef', 'toRef'],
    change: ({ title, description }) => ({ title, text: description }),
    changeMembers: ['title', 'description', 'version', 'reviewers'],
    maxText: 32_768,
    list: (values) => ({ values, isLastPage: true }),
    item: ({ id, branch, base, isForeign, version }, page) => ({
      id,
      version,
      reviewers: [{ user: { name: 'maria' }, approved: false }],
      links: { self: [{ href: `${page}/${id}` }] },
      fromRef: { id: ref(branch), repository: { id: isForeign ? 9 : 1 } },
      toRef: { id: ref(base), repository: { id: 1 } },
    }),
  },
  azuredevops: {
    api: '/azuredevops/organisation',
    proof: (token) => `Basic ${Buffer.from(`:${token}`).toString('base64')}`,
    path: '/plant/_apis/git/repositories/line/pullrequests',
    changes: 'PATCH',
    query: {
      'searchCriteria.status': 'active',
      'searchCriteria.sourceRefName': undefined,
      'searchCriteria.targetRefName': undefined,
      $top: undefined,
    },
    filter: (query) => ({
      branch: named(query.get('searchCriteria.sourceRefName')),
      base: named(query.get('searchCriteria.targetRefName')),
    }),
    create: (body) => ({
      branch: named(textOf(body['sourceRefName'])),
      base: named(textOf(body['targetRefName'])),
      title: body['title'],
      text: body['description'],
    }),
    createMembers: ['sourceRefName', 'targetRefName', 'title', 'description'],
    change: ({ title, description }) => ({ title, text: description }),
    changeMembers: ['title', 'description'],
    maxText: 4_000,
    list: (value) => ({ value, count: value.length }),
    item: ({ id, branch, base, isForeign }) => ({
      pullRequestId: id,
      sourceRefName: ref(branch),
      targetRefName: ref(base),
      ...(isForeign ? { forkSource: { name: ref(branch) } } : {}),
    }),
  },
}

/** How the hosts call the size of a page. */
const sizes = ['per_page', 'pagelen', 'limit', '$top']

/** `token`: what each host takes. */
export async function startPullRequestHosts(tls: ServerOptions, token: string): Promise<PullRequestHosts> {
  const server = createServer(tls, (request, response) => {
    void bodyOf(request).then((body) => {
      const answer = hosts.answers.shift() ?? take(request, body)
      const head = { 'content-type': 'application/json', ...('headers' in answer ? answer.headers : {}) }
      response.writeHead(answer.status, head).end('body' in answer ? JSON.stringify(answer.body) : undefined)
    })
  })
  const take = (request: IncomingMessage, text: string): { status: number; body?: unknown } => {
    const refuse = (status: number, why: string): { status: number; body: unknown } => {
      hosts.refused.push(why)
      return { status, body: { message: why } }
    }
    const { method = '', headers } = request
    const url = new URL(request.url ?? '', 'https://host')
    hosts.calls.push(`${method} ${url.pathname}`)
    const found = Object.entries(rules).find(([, { api }]) => url.pathname.startsWith(`${api}/`))
    if (found === undefined) return refuse(404, `no such API: ${request.url}`)
    const [provider, rule] = found as [StatusProvider, Rule]
    const page = `https://${provider}.example/pulls`
    const below = url.pathname.slice(rule.api.length)
    if (headers.authorization !== rule.proof(token)) return refuse(401, `${provider} does not take these credentials`)
    if (headers['user-agent'] === undefined || headers.accept !== 'application/json')
      return refuse(403, 'user agent and accept are asked for')
    if (provider === 'azuredevops' && url.searchParams.get('api-version') !== '6.0')
      return refuse(400, 'azuredevops: the version of the API')
    if (method === 'GET' && below === rule.path) {
      const wrong = Object.entries(rule.query).find(
        ([name, value]) => !url.searchParams.has(name) || (value !== undefined && url.searchParams.get(name) !== value),
      )
      if (wrong !== undefined) return refuse(400, `${provider}: ${wrong[0]} of the list`)
      const { branch, base } = rule.filter(url.searchParams)
      const items = hosts.kept.filter(
        (kept) => kept.isOpen && (branch === undefined || kept.branch === branch) && (base === undefined || kept.base === base),
      )
      const number = Number(url.searchParams.get('page') ?? '1')
      const size = Number(sizes.map((name) => url.searchParams.get(name)).find((value) => value !== null))
      if (!(size > 0 && size <= (provider === 'bitbucket' || provider === 'gitea' ? 50 : 100)))
        return refuse(400, `${provider}: size of a page`)
      return { status: 200, body: rule.list(items.slice(size * (number - 1), size * number).map((kept) => rule.item(kept, page))) }
    }
    if (headers['content-type'] !== 'application/json') return refuse(415, `${provider} takes JSON`)
    const body = JSON.parse(text) as Body
    const members = below === rule.path ? rule.createMembers : rule.changeMembers
    const odd = [...Object.keys(body).filter((name) => !members.includes(name)), ...members.filter((name) => body[name] === undefined)]
    if (odd.length > 0) return refuse(422, `${provider}: ${odd.join()} unknown or missing`)
    const words = below === rule.path ? rule.create(body) : rule.change(body)
    if (textOf(words.title) === '' || textOf(words.text).length > rule.maxText) return refuse(422, `${provider}: title or text`)
    const said = { title: textOf(words.title), text: textOf(words.text) }
    if (method === 'POST' && below === rule.path) {
      const { branch, base } = rule.create(body)
      if (hosts.kept.some((kept) => kept.isOpen && !kept.isForeign && kept.branch === branch && kept.base === base))
        return refuse(409, `${provider}: there is one already`)
      const made = {
        id: hosts.kept.length + 1,
        branch: textOf(branch),
        base: textOf(base),
        ...said,
        isOpen: true,
        isForeign: false,
        version: 3,
      }
      hosts.kept.push(made)
      return { status: 201, body: rule.item(made, page) }
    }
    const kept = hosts.kept.find(({ id }) => below === `${rule.path}/${id}`)
    if (kept === undefined || method !== rule.changes) return refuse(404, `no such call of ${provider}: ${method} ${below}`)
    if (provider === 'bitbucketserver') {
      if (body['version'] !== kept.version) return refuse(409, `${provider}: another version`)
      if (JSON.stringify(body['reviewers']) !== '[{"user":{"name":"maria"}}]') return refuse(400, `${provider}: reviewers are lost`)
    }
    Object.assign(kept, said)
    kept.version += 1
    return { status: 200, body: rule.item(kept, page) }
  }
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const hosts: PullRequestHosts = {
    api: (provider) => `https://127.0.0.1:${port}${rules[provider].api}`,
    kept: [],
    refused: [],
    calls: [],
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
