/**
 * Derives the API names of a repository from its clone URL, for each kind of git host. Pure.
 */
import type { StatusProvider } from '../../api/schema/commit-status.ts'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import { percentDecoded } from '../../platform/text/percent-encoding.ts'

/** `api`: base URL of the host's API. `page`: URL of the repository for users. `names`: its names, as the API expects them. */
export type HostedRepository = { api: string; page: string; names: readonly string[] }

type ParsedUrl = {
  /** `https://` with host, and port where the URL names one for https. */
  origin: string
  host: string
  /** The path of the URL without `.git`. */
  segments: readonly string[]
}

type Reading = (place: ParsedUrl) => HostedRepository | undefined

const readings: Record<StatusProvider, Reading> = {
  github({ origin, host, segments }) {
    const [owner, name, ...more] = segments
    if (owner === undefined || name === undefined || more.length > 0) return undefined
    const api = host === 'github.com' || host === 'ssh.github.com' ? 'https://api.github.com' : `${origin}/api/v3`
    return { api, page: `${origin}/${owner}/${name}`, names: [owner, name] }
  },
  gitlab({ origin, segments }) {
    if (segments.length < 2) return undefined
    return { api: `${origin}/api/v4`, page: `${origin}/${segments.join('/')}`, names: [segments.join('/')] }
  },
  gitea({ origin, segments }) {
    const [owner, name] = segments.slice(-2)
    if (owner === undefined || name === undefined) return undefined
    const root = [origin, ...segments.slice(0, -2)].join('/')
    return { api: `${root}/api/v1`, page: `${root}/${owner}/${name}`, names: [owner, name] }
  },
  bitbucket({ segments }) {
    const [workspace, name, ...more] = segments
    if (workspace === undefined || name === undefined || more.length > 0) return undefined
    return { api: 'https://api.bitbucket.org/2.0', page: `https://bitbucket.org/${workspace}/${name}`, names: [workspace, name] }
  },
  bitbucketserver({ origin, segments }) {
    const [project, name] = segments.slice(-2)
    if (project === undefined || name === undefined) return undefined
    // Over https the context path of the server comes first, then `scm`.
    const root = [origin, ...segments.slice(0, -2).filter((segment, index, all) => segment !== 'scm' || index !== all.length - 1)].join('/')
    const page = project.startsWith('~') ? `users/${project.slice(1)}` : `projects/${project}`
    return { api: `${root}/rest/api/latest`, page: `${root}/${page}/repos/${name}`, names: [project, name] }
  },
  azuredevops({ origin, host, segments }) {
    // git@ssh.dev.azure.com:v3/organization/project/repository
    if (host === 'ssh.dev.azure.com' && segments[0] === 'v3') {
      const [, organization, project, name] = segments
      return azure('https://dev.azure.com', organization === undefined ? [] : [organization], project, name)
    }
    const at = segments.indexOf('_git')
    const name = segments[at + 1]
    if (at < 0 || segments.length !== at + 2) return undefined
    // The project may be omitted if the repository has the same name.
    const isUnnamed = at < (host === 'dev.azure.com' ? 2 : 1)
    return azure(origin, segments.slice(0, isUnnamed ? at : at - 1), isUnnamed ? name : segments[at - 1], name)
  },
}

function azure(
  origin: string,
  before: readonly string[],
  project: string | undefined,
  name: string | undefined,
): HostedRepository | undefined {
  if (project === undefined || name === undefined) return undefined
  const api = [origin, ...before].join('/')
  return { api, page: `${api}/${project}/_git/${name}`, names: [project, name] }
}

/** Returns the API names of a repository; undefined if the URL does not belong to this kind of host. `apiBaseURL` replaces the default API. */
export function hostedRepository(
  url: RepositoryUrl,
  provider: StatusProvider,
  apiBaseURL: string | undefined,
): HostedRepository | undefined {
  const hostText = url.host.includes(':') ? `[${url.host}]` : url.host
  const port = url.protocol === 'https' && url.port !== undefined ? `:${url.port}` : ''
  const read = readings[provider]({ origin: `https://${hostText}${port}`, host: url.host, segments: segmentsOf(url) })
  return read === undefined || apiBaseURL === undefined ? read : { ...read, api: apiBaseURL.replace(/\/+$/, '') }
}

function segmentsOf({ text, protocol }: RepositoryUrl): string[] {
  const path = text.includes('://') ? text.slice(text.indexOf('/', text.indexOf('://') + 3)) : text.slice(text.indexOf(':') + 1)
  if (protocol === 'file') return []
  const segments = path.split('/').filter((segment) => segment !== '')
  return segments.map((segment, index) => percentDecoded(index === segments.length - 1 ? segment.replace(/\.git$/, '') : segment))
}
