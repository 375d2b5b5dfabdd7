/**
 * The calls with which git hosts list, open and change pull requests, checked against their references: method, path, query, headers,
 * credentials and members of the body. Stores opened pull requests and answers like the host.
 */
import type { ServerOptions } from 'node:https'
import type { StatusProvider } from '../../runtime/api/schema/commit-status.ts'
import { type HostAnswer, hostApis, type HostApis, type HostCall, type Refuse, serveHostApis } from './host-apis.ts'

export type KeptPullRequest = {
  id: number
  branch: string
  base: string
  title: string
  text: string
  isOpen: boolean
  /** From another repository that has a branch of the same name. */
  isForeign: boolean
  version: number
}

export type PullRequestHosts = HostApis & {
  kept: KeptPullRequest[]
  /** Method and path of each call. */
  calls: string[]
}

type Body = Readonly<Record<string, unknown>>
type Words = { title: unknown; text: unknown }

type Rule = {
  /** Of the collection; a pull request is below it, by number. */
  path: string
  changes: 'PUT' | 'PATCH'
  /** Required query members of a list, with the required value unless it is a branch. */
  query: Readonly<Record<string, string | undefined>>
  /** The branches that filter the list: two, one or none. */
  filter(query: URLSearchParams): { branch?: string; base?: string }
  create(body: Body): { branch: unknown; base: unknown } & Words
  createMembers: readonly string[]
  change(body: Body): Words
  changeMembers: readonly string[]
  maxText: number
  list(items: unknown[]): unknown
  item(kept: KeptPullRequest, page: string): unknown
}

const ref = (branch: string): string => `refs/heads/${branch}`
const named = (text: string | null): string => (text ?? '').replace(/^refs\/heads\//, '')
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const at = (value: unknown, ...names: string[]): unknown =>
  names.reduce<unknown>((found, name) => (found as Body | undefined)?.[name], value)
const defaultItem = ({ id, branch, base, isForeign }: KeptPullRequest, page: string): unknown => ({
  number: id,
  html_url: `${page}/${id}`,
  head: { ref: branch, repo_id: isForeign ? 9 : 1, repo: { id: isForeign ? 9 : 1 } },
  base: { ref: base, repo_id: 1, repo: { id: 1 } },
})
const defaultCreate = ({ head, base, title, body }: Body): ReturnType<Rule['create']> => ({ branch: head, base, title, text: body })

const rules: Record<StatusProvider, Rule> = {
  github: {
    path: '/repos/plant/line/pulls',
    changes: 'PATCH',
    query: { state: 'open', head: undefined, base: undefined, per_page: undefined },
    filter: (query) => ({ branch: (query.get('head') ?? '').replace(/^plant:/, ''), base: query.get('base') ?? '' }),
    create: defaultCreate,
    createMembers: ['title', 'head', 'base', 'body'],
    change: ({ title, body }) => ({ title, text: body }),
    changeMembers: ['title', 'body'],
    maxText: 65_536,
    list: (items) => items,
    item: defaultItem,
  },
  gitlab: {
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
    path: '/repos/plant/line/pulls',
    changes: 'PATCH',
    query: { state: 'open', sort: 'recentupdate', limit: '50', page: undefined },
    filter: () => ({}),
    create: defaultCreate,
    createMembers: ['title', 'head', 'base', 'body'],
    change: ({ title, body }) => ({ title, text: body }),
    changeMembers: ['title', 'body'],
    maxText: 65_535,
    list: (items) => items,
    item: defaultItem,
  },
  bitbucket: {
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

/** The hosts' names of the page size parameter. */
const sizes = ['per_page', 'pagelen', 'limit', '$top']

/** `token`: the token of each host. */
export function pullRequestHosts(token: string): PullRequestHosts {
  const kept: KeptPullRequest[] = []
  const calls: string[] = []
  const apis = hostApis({ token }, (call, refuse) => {
    calls.push(`${call.method} ${apis.path(call.provider)}${call.path.split('?')[0] ?? ''}`)
    return answerTo(call, kept, refuse)
  })
  return { ...apis, kept, calls }
}

/** Serves them on this machine. `api`: the address of a kind of host, for `spec.capture.api.apiBaseURL`. */
export async function startPullRequestHosts(
  tls: ServerOptions,
  token: string,
): Promise<PullRequestHosts & Awaited<ReturnType<typeof serveHostApis>>> {
  const hosts = pullRequestHosts(token)
  return { ...hosts, ...(await serveHostApis(tls, hosts)) }
}

function answerTo({ provider, method, path, headers, body: text }: HostCall, kept: KeptPullRequest[], refuse: Refuse): HostAnswer {
  const rule = rules[provider]
  const { pathname, searchParams } = new URL(`https://host${path}`)
  const page = `https://${provider}.example/pulls`
  if (headers.accept !== 'application/json') return refuse(403, 'accept is asked for')
  if (provider === 'azuredevops' && searchParams.get('api-version') !== '6.0') return refuse(400, 'azuredevops: the version of the API')
  if (method === 'GET' && pathname === rule.path) return listOf(provider, searchParams, kept, refuse)
  const body = JSON.parse(text) as Body
  const members = pathname === rule.path ? rule.createMembers : rule.changeMembers
  const odd = [...Object.keys(body).filter((name) => !members.includes(name)), ...members.filter((name) => body[name] === undefined)]
  if (odd.length > 0) return refuse(422, `${provider}: ${odd.join()} unknown or missing`)
  const words = pathname === rule.path ? rule.create(body) : rule.change(body)
  if (textOf(words.title) === '' || textOf(words.text).length > rule.maxText) return refuse(422, `${provider}: title or text`)
  const said = { title: textOf(words.title), text: textOf(words.text) }
  if (method === 'POST' && pathname === rule.path) {
    const [branch, base] = [textOf(rule.create(body).branch), textOf(rule.create(body).base)]
    if (kept.some((each) => each.isOpen && !each.isForeign && each.branch === branch && each.base === base))
      return refuse(409, `${provider}: there is one already`)
    const made = { id: kept.length + 1, branch, base, ...said, isOpen: true, isForeign: false, version: 3 }
    kept.push(made)
    return { status: 201, body: rule.item(made, page) }
  }
  const changed = kept.find(({ id }) => pathname === `${rule.path}/${id}`)
  if (changed === undefined || method !== rule.changes) return refuse(404, `no such call of ${provider}: ${method} ${pathname}`)
  if (provider === 'bitbucketserver') {
    if (body['version'] !== changed.version) return refuse(409, `${provider}: another version`)
    if (JSON.stringify(body['reviewers']) !== '[{"user":{"name":"maria"}}]') return refuse(400, `${provider}: reviewers are lost`)
  }
  Object.assign(changed, said)
  changed.version += 1
  return { status: 200, body: rule.item(changed, page) }
}

/** A page of the open pull requests. */
function listOf(provider: StatusProvider, query: URLSearchParams, kept: readonly KeptPullRequest[], refuse: Refuse): HostAnswer {
  const rule = rules[provider]
  const wrong = Object.entries(rule.query).find(([name, value]) => !query.has(name) || (value !== undefined && query.get(name) !== value))
  if (wrong !== undefined) return refuse(400, `${provider}: ${wrong[0]} of the list`)
  const { branch, base } = rule.filter(query)
  const items = kept.filter(
    (each) => each.isOpen && (branch === undefined || each.branch === branch) && (base === undefined || each.base === base),
  )
  const number = Number(query.get('page') ?? '1')
  const size = Number(sizes.map((name) => query.get(name)).find((value) => value !== null))
  if (!(size > 0 && size <= (provider === 'bitbucket' || provider === 'gitea' ? 50 : 100)))
    return refuse(400, `${provider}: size of a page`)
  const page = `https://${provider}.example/pulls`
  return { status: 200, body: rule.list(items.slice(size * (number - 1), size * number).map((each) => rule.item(each, page))) }
}
