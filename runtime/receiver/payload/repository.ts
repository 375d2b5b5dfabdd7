/**
 * Decides whether the repository in a webhook body is the one that a GatewaySync follows. An organization-wide webhook sends events of
 * every repository to one address. Pure.
 */
import { isObject } from '../../platform/text/json.ts'
import { percentDecoded } from '../../platform/text/percent-encoding.ts'
import { listAt, type NamedRepository, textAt, valueAt } from './parts.ts'

/** The members in which hosts put repository URLs. */
const urlMembers = [
  'clone_url',
  'ssh_url',
  'git_url',
  'git_http_url',
  'git_ssh_url',
  'http_url',
  'http_url_to_repo',
  'ssh_url_to_repo',
  'html_url',
  'web_url',
  'homepage',
  'url',
  'remoteUrl',
  'sshUrl',
  'webUrl',
] as const

/** Returns the repository of a webhook body, or undefined. */
export function repositoryIn(body: unknown, { ignoresCase }: Pick<NamedRepository, 'ignoresCase'>): NamedRepository | undefined {
  const places = [['repository'], ['project'], ['repo'], ['resource', 'repository']]
  const found = places.map((path) => valueAt(body, path)).filter(isObject)
  const urls = found.flatMap((place) => urlsIn(place)).filter((url) => locate(url) !== undefined)
  const path = found.map(pathIn).find((name) => name !== undefined)
  if (urls.length === 0 && path === undefined) return undefined
  const [branch] = found.flatMap((place) => textAt(place, ['default_branch']) ?? textAt(place, ['defaultBranch']) ?? [])
  return { urls, path, ignoresCase, ...(branch === undefined ? {} : { defaultBranch: branch }) }
}

function urlsIn(place: object): string[] {
  const links = ['self', 'clone'].flatMap((name) => listAt(place, ['links', name]))
  const values = [
    ...urlMembers.map((member) => textAt(place, [member])),
    ...[...links, valueAt(place, ['links', 'html'])].map((link) => textAt(link, ['href'])),
  ]
  return values.filter((url) => url !== undefined)
}

function pathIn(place: object): string | undefined {
  const [key, slug] = [textAt(place, ['project', 'key']), textAt(place, ['slug'])]
  if (key !== undefined && slug !== undefined) return `${key}/${slug}`
  const name = textAt(place, ['full_name']) ?? textAt(place, ['path_with_namespace'])
  return name?.includes('/') === true ? name : undefined
}

/** Matches every repository name. */
export const anyName = ''

/** The last part of a repository's path; equal for all URLs of one repository. */
export function repositoryName(url: string | undefined): string {
  return nameIn(url === undefined ? undefined : locate(url)?.path)
}

/** Returns the names that the repository of a body may have. */
export function repositoryNamesIn(named: NamedRepository | undefined): string[] {
  const paths = placesIn(named).map(({ path }) => path)
  return (paths.length > 0 ? paths : [named?.path?.replace(/\.git$/, '')]).map(nameIn)
}

function nameIn(path: string | undefined): string {
  return path?.split('/').at(-1)?.toLowerCase() ?? anyName
}

const located = new WeakMap<NamedRepository, RepositoryAddress[]>()

/** Parsed once: a call may be compared with thousands of GatewaySyncs. */
function placesIn(named: NamedRepository | undefined): readonly RepositoryAddress[] {
  if (named === undefined) return []
  const places = located.get(named) ?? named.urls.map(locate).filter((place) => place !== undefined)
  located.set(named, places)
  return places
}

/** Whether a body's repository can be the one at `url` (`spec.git.repo`); true for other kinds of `url`, such as a folder. */
export function isRepository(url: string): (named: NamedRepository) => boolean {
  const own = locate(url)
  if (own === undefined) return () => true
  return (repository) => isSameRepository(repository, own)
}

function isSameRepository(repository: NamedRepository, own: RepositoryAddress): boolean {
  const { path, ignoresCase } = repository
  const fold = (text: string): string => (ignoresCase || publicHosts.has(own.host) ? text.toLowerCase() : text)
  const named = placesIn(repository)
  if (named.length === 0) return path === undefined || fold(own.path.split('/').slice(-2).join('/')) === fold(path.replace(/\.git$/, ''))
  // A host may serve other repositories on another port, and serves ssh on another port than https.
  const alike = named.filter(({ protocol }) => protocol === own.protocol)
  return (alike.length === 0 ? named : alike).some(
    ({ protocol, host, port, path: other }) =>
      host === own.host && (protocol !== own.protocol || port === own.port) && fold(other) === fold(own.path),
  )
}

type RepositoryAddress = { protocol: string; host: string; port: string; path: string }

const defaultPorts: Readonly<Record<string, string>> = { https: '443', http: '80', ssh: '22', git: '9418' }
const otherNames: Readonly<Record<string, string>> = {
  'www.github.com': 'github.com',
  'ssh.github.com': 'github.com',
  'altssh.gitlab.com': 'gitlab.com',
  'altssh.bitbucket.org': 'bitbucket.org',
  'ssh.dev.azure.com': 'dev.azure.com',
  'vs-ssh.visualstudio.com': 'dev.azure.com',
}
const publicHosts: ReadonlySet<string> = new Set([
  'github.com',
  'gitlab.com',
  'bitbucket.org',
  'dev.azure.com',
  'codeberg.org',
  'gitee.com',
])

/** Parses a repository URL; undefined for other URLs, such as those of an API. */
function locate(text: string): RepositoryAddress | undefined {
  const scp = /^(?:[^@/:\s]+@)?([^@/:\s]+):(?!\/\/)(\S+)$/.exec(text)
  const [, host = '', rest = ''] = scp ?? []
  const asUrl = scp === null ? text : `ssh://${host}/${rest}`
  if (!URL.canParse(asUrl)) return undefined
  const { protocol: scheme, hostname, port, pathname } = new URL(asUrl)
  const protocol = scheme.replace(/:$/, '')
  if (!Object.hasOwn(defaultPorts, protocol) || hostname === '') return undefined
  const segments = percentDecoded(pathname).split('/').filter(Boolean)
  if (hostname.startsWith('api.') || segments.includes('_apis') || segments[0] === 'api') return undefined
  const place = canonicalPath(hostname.toLowerCase(), segments)
  // A public host has one server behind all of its ports.
  return { protocol, ...place, port: publicHosts.has(place.host) ? '' : port || (defaultPorts[protocol] ?? '') }
}

/** Normalizes the forms of a repository path: with `.git`, a Bitbucket Data Center page, an Azure DevOps page. */
function canonicalPath(hostname: string, given: readonly string[]): Pick<RepositoryAddress, 'host' | 'path'> {
  const host = otherNames[hostname] ?? hostname
  const segments = given.map((segment, index) => (index === given.length - 1 ? segment.replace(/\.git$/i, '') : segment))
  const organization = /^([^.]+)\.visualstudio\.com$/.exec(host)?.[1]
  if (organization !== undefined) {
    return canonicalPath('dev.azure.com', [organization, ...segments.filter((segment) => segment !== 'DefaultCollection')])
  }
  if (host === 'dev.azure.com') {
    const [owner = '', project = '', ...more] = segments.filter((segment) => segment !== 'v3' && segment !== '_git')
    // A repository with the name of its project may be written without the project.
    return { host, path: [owner, project, more[0] ?? project].join('/') }
  }
  const page = segments.findIndex((segment, index) => /^(?:projects|users)$/.test(segment) && segments[index + 2] === 'repos')
  if (page >= 0) {
    const owner = segments[page] === 'users' ? `~${segments[page + 1] ?? ''}` : segments[page + 1]
    return { host, path: [owner, segments[page + 3]].join('/') }
  }
  const scm = segments.at(-3) === 'scm'
  return { host, path: (scm ? segments.slice(-2) : segments).join('/') }
}
