/**
 * Calls with which each git host finds, opens and updates a pull request, and parsers of the responses. Sources: the REST references of
 * GitHub (pulls), GitLab (merge requests), Gitea and Forgejo (repoListPullRequests, CreatePullRequestOption), Bitbucket Cloud
 * (pullrequests), Bitbucket Data Center (pull-requests) and Azure DevOps (Git pull requests, 6.0). Pure.
 */
import type { StatusProvider } from '../../api/schema/commit-status.ts'
import { isObject } from '../../platform/text/json.ts'
import { namePart as part } from '../../git/api/host-api.ts'

/** From one branch to another of the same repository; both without `refs/heads/`. */
export type Branches = { branch: string; base: string }
/** Title and body of a pull request; `text` is Markdown. */
export type PullRequestText = { title: string; text: string }
/** `from`: the response item that it was read from. */
export type OpenPullRequest = { id: number; page: string | undefined; from: Readonly<Record<string, unknown>> }

type Names = readonly string[]
type Path = { path: string }
type Write = Path & { body: Record<string, unknown> }

/** One kind of git host. `path` is below its API URL. */
export type PullRequestHost = {
  /** Limit of the body, in characters. */
  maxText: number
  /** The request for a page of open pull requests that includes those between the branches; pages count from 1. */
  list(names: Names, branches: Branches, page: number): Path
  /** Maximum number of pages to read; 1 if the host filters by branch. */
  pages: number
  items(answer: unknown): unknown
  /** Whether an item is a pull request between these branches, and not from another repository with a branch of that name. */
  isBetween(item: Item, branches: Branches): boolean
  read(item: Item): OpenPullRequest | undefined
  create(names: Names, branches: Branches, words: PullRequestText): Write
  change(names: Names, found: OpenPullRequest, words: PullRequestText): Write & { method: 'PUT' | 'PATCH' }
  /** Its path below the repository's page, if the host does not return it. */
  pageOf(id: number): string
}

type Item = Readonly<Record<string, unknown>>

/** Returns a nested member by its path. */
function at(value: unknown, ...names: readonly (string | number)[]): unknown {
  let found = value
  for (const name of names) {
    if (Array.isArray(found) && typeof name === 'number') found = found[name] as unknown
    else if (isObject(found) && Object.hasOwn(found, name)) found = found[name]
    else return undefined
  }
  return found
}

function found(item: Item, id: unknown, page: unknown): OpenPullRequest | undefined {
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return undefined
  const isPage = typeof page === 'string' && page.length <= 1024 && /^https:\/\/[\x21-\x7e]+$/.test(page)
  return { id, page: isPage ? page : undefined, from: item }
}

/** Quotes a string for Bitbucket's query language. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}

const repository = ([owner = '', name = '']: Names): string => `${part(owner)}/${part(name)}`
const head = (branch: string): string => `refs/heads/${branch}`
const query = (members: Readonly<Record<string, string>>): string => new URLSearchParams(members).toString()

/** For every host but Azure DevOps, which takes 4,000: enough for readers, and below the limit of each host. */
const defaultMaxText = 30_000
const maxPages = 10
/** Page size: forks may have a branch of the same name, and theirs are among the items. Bitbucket Cloud returns 50 at most. */
const maxForks = '100'
const azureVersion = 'api-version=6.0'

/** Gitea adopted these calls from GitHub. */
const pulls: Pick<PullRequestHost, 'items' | 'read' | 'create' | 'change'> = {
  items: (answer) => answer,
  read: (item) => found(item, item['number'], item['html_url']),
  create: (names, { branch, base }, { title, text }) => ({
    path: `repos/${repository(names)}/pulls`,
    body: { title, head: branch, base, body: text },
  }),
  change: (names, { id }, { title, text }) => ({
    method: 'PATCH',
    path: `repos/${repository(names)}/pulls/${id}`,
    body: { title, body: text },
  }),
}

/** By provider, as `spec.git.commitStatus` names them. */
export const pullRequestHosts: Readonly<Record<StatusProvider, PullRequestHost>> = {
  github: {
    maxText: defaultMaxText,
    list: (names, { branch, base }) => ({
      path: `repos/${repository(names)}/pulls?${query({ state: 'open', head: `${names[0] ?? ''}:${branch}`, base, per_page: maxForks })}`,
    }),
    pages: 1,
    isBetween: (item, { branch, base }) =>
      at(item, 'head', 'ref') === branch &&
      at(item, 'base', 'ref') === base &&
      at(item, 'head', 'repo', 'id') === at(item, 'base', 'repo', 'id'),
    ...pulls,
    pageOf: (id) => `pull/${id}`,
  },
  gitlab: {
    maxText: defaultMaxText,
    list: ([path = ''], { branch, base }) => ({
      path: `projects/${part(path)}/merge_requests?${query({ state: 'opened', source_branch: branch, target_branch: base, per_page: maxForks })}`,
    }),
    pages: 1,
    items: (answer) => answer,
    isBetween: (item, { branch, base }) =>
      item['source_branch'] === branch && item['target_branch'] === base && item['source_project_id'] === item['target_project_id'],
    read: (item) => found(item, item['iid'], item['web_url']),
    create: ([path = ''], { branch, base }, { title, text }) => ({
      path: `projects/${part(path)}/merge_requests`,
      body: { source_branch: branch, target_branch: base, title, description: text },
    }),
    change: ([path = ''], { id }, { title, text }) => ({
      method: 'PUT',
      path: `projects/${part(path)}/merge_requests/${id}`,
      body: { title, description: text },
    }),
    pageOf: (id) => `-/merge_requests/${id}`,
  },
  gitea: {
    maxText: defaultMaxText,
    // Its list cannot be filtered by branch.
    list: (names, _branches, page) => ({
      path: `repos/${repository(names)}/pulls?${query({ state: 'open', sort: 'recentupdate', limit: '50', page: String(page) })}`,
    }),
    pages: maxPages,
    isBetween: (item, { branch, base }) =>
      at(item, 'head', 'ref') === branch && at(item, 'base', 'ref') === base && at(item, 'head', 'repo_id') === at(item, 'base', 'repo_id'),
    ...pulls,
    pageOf: (id) => `pulls/${id}`,
  },
  bitbucket: {
    maxText: defaultMaxText,
    list(names, { branch, base }) {
      const q = `state="OPEN" AND source.branch.name=${quoted(branch)} AND destination.branch.name=${quoted(base)}`
      return { path: `repositories/${repository(names)}/pullrequests?${query({ q, pagelen: '50' })}` }
    },
    pages: 1,
    items: (answer) => at(answer, 'values'),
    isBetween: (item, { branch, base }) =>
      at(item, 'source', 'branch', 'name') === branch &&
      at(item, 'destination', 'branch', 'name') === base &&
      at(item, 'source', 'repository', 'full_name') === at(item, 'destination', 'repository', 'full_name'),
    read: (item) => found(item, item['id'], at(item, 'links', 'html', 'href')),
    create: (names, { branch, base }, { title, text }) => ({
      path: `repositories/${repository(names)}/pullrequests`,
      body: { title, description: text, source: { branch: { name: branch } }, destination: { branch: { name: base } } },
    }),
    change: (names, { id }, { title, text }) => ({
      method: 'PUT',
      path: `repositories/${repository(names)}/pullrequests/${id}`,
      body: { title, description: text },
    }),
    pageOf: (id) => `pull-requests/${id}`,
  },
  bitbucketserver: {
    maxText: defaultMaxText,
    list: ([project = '', name = ''], { branch }) => ({
      path: `projects/${part(project)}/repos/${part(name)}/pull-requests?${query({ at: head(branch), direction: 'OUTGOING', state: 'OPEN', limit: maxForks })}`,
    }),
    pages: 1,
    items: (answer) => at(answer, 'values'),
    isBetween: (item, { branch, base }) =>
      at(item, 'fromRef', 'id') === head(branch) &&
      at(item, 'toRef', 'id') === head(base) &&
      at(item, 'fromRef', 'repository', 'id') === at(item, 'toRef', 'repository', 'id'),
    read: (item) => found(item, item['id'], at(item, 'links', 'self', 0, 'href')),
    create: ([project = '', name = ''], { branch, base }, { title, text }) => ({
      path: `projects/${part(project)}/repos/${part(name)}/pull-requests`,
      body: { title, description: text, fromRef: { id: head(branch) }, toRef: { id: head(base) } },
    }),
    // Omitted reviewers are removed, and the version prevents overwriting a concurrent change.
    change: ([project = '', name = ''], { id, from }, { title, text }) => ({
      method: 'PUT',
      path: `projects/${part(project)}/repos/${part(name)}/pull-requests/${id}`,
      body: { title, description: text, version: from['version'], reviewers: reviewersOf(from['reviewers']) },
    }),
    pageOf: (id) => `pull-requests/${id}`,
  },
  azuredevops: {
    maxText: 4_000,
    list([project = '', name = ''], { branch, base }) {
      const criteria = {
        'searchCriteria.status': 'active',
        'searchCriteria.sourceRefName': head(branch),
        'searchCriteria.targetRefName': head(base),
        $top: maxForks,
      }
      return { path: `${part(project)}/_apis/git/repositories/${part(name)}/pullrequests?${query(criteria)}&${azureVersion}` }
    },
    pages: 1,
    items: (answer) => at(answer, 'value'),
    isBetween: (item, { branch, base }) =>
      item['sourceRefName'] === head(branch) && item['targetRefName'] === head(base) && item['forkSource'] === undefined,
    read: (item) => found(item, item['pullRequestId'], undefined),
    create: ([project = '', name = ''], { branch, base }, { title, text }) => ({
      path: `${part(project)}/_apis/git/repositories/${part(name)}/pullrequests?${azureVersion}`,
      body: { sourceRefName: head(branch), targetRefName: head(base), title, description: text },
    }),
    change: ([project = '', name = ''], { id }, { title, text }) => ({
      method: 'PATCH',
      path: `${part(project)}/_apis/git/repositories/${part(name)}/pullrequests/${id}?${azureVersion}`,
      body: { title, description: text },
    }),
    pageOf: (id) => `pullrequest/${id}`,
  },
}

function reviewersOf(reviewers: unknown): { user: { name: unknown } }[] {
  return Array.isArray(reviewers) ? reviewers.map((each: unknown) => ({ user: { name: at(each, 'user', 'name') } })) : []
}
