/**
 * The site as a whole: from the text of all pages to the files that make it up. Every address is relative, so that it works in any folder of
 * any server, and from a disk. Pure.
 */
import path from 'node:path/posix'
import { layout, type Listed } from './layout.ts'
import { type Group, startPage } from './navigation.ts'
import { type Page, parsePage, renderPage } from './page.ts'

export type SiteInput = {
  /** Markdown by its path in the repository. */
  pages: ReadonlyMap<string, string>
  /** Whether the repository has a file or folder of this path. */
  exists(path: string): boolean
  groups: readonly Group[]
  version: string
  /** Where the files of the repository can be read, such as `https://git.example.com/plants/sync/blob/v1.2.3`; without it they are only named. */
  source?: string | undefined
}

/** `pictures`: paths in the repository, which are the same in the site. `problems`: the site is not written if there are any. */
export type Site = { files: Map<string, string>; pictures: string[]; problems: string[] }

/** An entry of the search index. `at`: address from the root of the site; `name`: the words of the file's name. */
export type Searched = { at: string; page: string; heading: string; name: string; text: string }

export function siteOf(input: SiteInput): Site {
  const problems: string[] = []
  const pages = new Map([...input.pages].map(([name, text]) => [name, parsePage(name, text, problems)]))
  const listed = listedPages(input.groups, pages, problems)
  const pictures = new Set<string>()
  const files = new Map<string, string>()
  for (const page of pages.values()) {
    const from = path.dirname(page.path)
    const resolve = (target: string, kind: 'link' | 'picture'): string | undefined => {
      const found = destination(page, target, { pages, exists: input.exists })
      if (found.kind === 'broken') problems.push(`${page.path}: ${found.why}: ${target}`)
      if (found.kind === 'elsewhere' && kind === 'link') return target
      if (found.kind === 'elsewhere') problems.push(`${page.path}: a picture must be a file of the repository: ${target}`)
      if (found.kind === 'page')
        return `${path.relative(from, addressOf(found.path)) || path.basename(addressOf(found.path))}${found.anchor}`
      if (found.kind !== 'file') return undefined
      if (kind === 'picture') pictures.add(found.path)
      if (kind === 'picture') return path.relative(from, found.path)
      return input.source === undefined ? undefined : `${input.source.replace(/\/+$/, '')}/${found.path}`
    }
    const html = renderPage(page, resolve)
    files.set(addressOf(page.path), layout({ page, html, listed, root: path.relative(from, '.'), version: input.version }))
  }
  // As a script, because a page that is read from a disk may fetch nothing.
  const searched = listed.flatMap(({ entries }) => entries).flatMap(({ path: name, at }) => searchedIn(pages.get(name), at))
  files.set('assets/sections.js', `globalThis.docsSections = ${JSON.stringify(searched)}\n`)
  return { files, pictures: [...pictures].toSorted(), problems }
}

/** The file of a page in the site. A README is the index of its folder, as on a git host. */
function addressOf(page: string): string {
  return page.replace(/(^|\/)README\.md$/, '$1index.md').replace(/\.md$/, '.html')
}

function listedPages(groups: readonly Group[], pages: ReadonlyMap<string, Page>, problems: string[]): Listed[] {
  const named = groups.flatMap(({ pages }) => pages.map((entry) => (typeof entry === 'string' ? entry : entry[0])))
  for (const name of pages.keys()) if (!named.includes(name)) problems.push(`${name}: is in no group of scripts/docs/navigation.ts`)
  for (const name of named) if (!pages.has(name)) problems.push(`scripts/docs/navigation.ts: there is no page ${name}`)
  for (const name of new Set(named.filter((name, at) => named.indexOf(name) !== at)))
    problems.push(`scripts/docs/navigation.ts: names ${name} twice`)
  return groups.map(({ name, pages: entries }) => ({
    name,
    entries: entries.map((entry) => {
      const [path, label] = typeof entry === 'string' ? [entry, undefined] : entry
      return { path, at: addressOf(path), label: label ?? pages.get(path)?.title ?? path }
    }),
  }))
}

type Destination =
  { kind: 'elsewhere' } | { kind: 'page'; path: string; anchor: string } | { kind: 'file'; path: string } | { kind: 'broken'; why: string }

type Known = { pages: ReadonlyMap<string, Page>; exists(path: string): boolean }

function destination(page: Page, target: string, { pages, exists }: Known): Destination {
  if (/^(?:https?|mailto):/.test(target)) return { kind: 'elsewhere' }
  if (/^[a-z][a-z0-9+.-]*:|^\//i.test(target)) return { kind: 'broken', why: 'only https, http, mailto and relative links work' }
  const [file = '', anchor] = target.split('#', 2)
  const to = file === '' ? page.path : path.join(path.dirname(page.path), decodeURI(file)).replace(/\/$/, '')
  const other = pages.get(to)
  if (other === undefined) return exists(to) ? { kind: 'file', path: to } : { kind: 'broken', why: 'leads to a file that is not there' }
  if (anchor === undefined) return { kind: 'page', path: to, anchor: '' }
  if (!other.sections.some(({ id }) => id === decodeURI(anchor))) return { kind: 'broken', why: 'leads to a heading that is not there' }
  return { kind: 'page', path: to, anchor: `#${anchor}` }
}

function searchedIn(page: Page | undefined, at: string): Searched[] {
  return (page?.sections ?? []).map(({ id, level, heading, text }) => ({
    at: level <= 1 ? at : `${at}#${id}`,
    page: page?.title ?? '',
    heading,
    name: level === 1 && page?.path !== startPage ? path.basename(page?.path ?? '', '.md').replaceAll('-', ' ') : '',
    text,
  }))
}
