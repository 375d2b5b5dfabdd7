/**
 * Turns local changes of a gateway into the edits of a commit, mapping each file back to its source. Changes without a source are listed
 * with the reason.
 */
import { isWithin, parentOf } from '../../api/values.ts'
import type { SyncTarget } from '../../sync/model/desired.ts'
import type { Edit } from '../../git/content/make-commit.ts'
import { type LocalChange, type LocalChanges, presentContent } from './local-changes.ts'
import { unrender } from './unrender.ts'
import { type Published, reverseMapping } from './reverse-mapping.ts'

/** `path` is on the gateway, `source` in the repository. */
export type Captured = Edit & { path: string; op: LocalChange['op'] }
/** `message` completes the sentence "<path> is skipped: it …". */
export type Skipped = { path: string; message: string }
/** Every change is in one of the two lists, except what a gateway rewrites on its own; `skipped` gives the reason. */
export type Capture = { captured: Captured[]; skipped: Skipped[] }

/** Limits per file, on all contents of one commit, and on its number of files. */
export type CaptureBounds = { fileBytes: number; totalBytes: number; files: number }

/** For the standalone runner: no configuration file of a gateway comes near it. */
export const defaultBounds: CaptureBounds = { fileBytes: 16 * 1024 * 1024, totalBytes: 128 * 1024 * 1024, files: 100_000 }

/**
 * Decides about every change; `include` returns whether to capture a new file although nothing around it comes from the repository. Throws
 * NotWritable and what reading throws.
 */
export function captureChanges(
  { published, changes, original, written, renderer }: LocalChanges,
  target: SyncTarget,
  include: (path: string) => boolean,
  bounds: CaptureBounds = defaultBounds,
): Capture {
  const result: Capture = { captured: [], skipped: [] }
  const leave = ({ path }: LocalChange, message: string): void => void result.skipped.push({ path, message })
  let bytes = 0
  const delivered = { folders: new Set([...published.desired.keys()].map(parentOf)), projects: projectsOf(published.desired.keys()) }
  for (const change of changes) {
    if (change.kind === 'rewrite') continue
    const { path, op, exec } = change
    if (change.obstacle !== undefined) {
      leave(change, change.obstacle)
      continue
    }
    if (op === 'added' && !belongs(path, delivered) && !include(path)) {
      leave(change, 'is new and outside managed folders; to capture it, use --include')
      continue
    }
    const way = reverseMapping(published, path, op)
    if (way.kind === 'none') {
      leave(change, way.why)
      continue
    }
    const { source, recipe } = way
    if (result.captured.length >= bounds.files) {
      leave(change, `exceeds the limit of one commit (${bounds.files} files)`)
      continue
    }
    if (op === 'removed') {
      result.captured.push({ path, op, source, content: undefined, exec })
      continue
    }
    const present = presentContent(target, path, bounds.fileBytes)
    if (present === undefined) {
      leave(change, `cannot be read, or is larger than ${bounds.fileBytes / 1024 / 1024} MiB`)
      continue
    }
    if (bytes + present.length > bounds.totalBytes) {
      leave(change, `exceeds the limit of one commit (${bounds.totalBytes / 1024 / 1024} MiB in total)`)
      continue
    }
    bytes += present.length
    const id = published.desired.get(path)?.id ?? target.commit
    const make = (content: Uint8Array): Uint8Array =>
      recipe === undefined || renderer === undefined ? content : renderer.file(path, id, content, recipe).content
    const [before, made] = [original(path) ?? present, written(path) ?? present]
    const content = recipe === undefined ? present : unrender(before, made, present, make)
    if (content === undefined) leave(change, 'comes from a template or patch, and the change affects its output; change the source')
    else result.captured.push({ path, op, source, content, exec })
  }
  return keepLastFiles(published, result)
}

/** Without its last file a mapping has no source anymore: other gateways would keep their files, or not sync at all. */
function keepLastFiles({ mappings, sources, absent }: Published, { captured, skipped }: Capture): Capture {
  const left = new Set(sources.keys())
  for (const { source, content } of captured) {
    if (content === undefined) left.delete(source)
    else left.add(source)
  }
  const paths = [...left]
  const emptied = mappings.filter(
    ({ whenAbsent, source }, at) => whenAbsent === 'keep' && !absent.includes(at) && !paths.some((file) => isWithin(file, source)),
  )
  const isLast = ({ source, content }: Captured): boolean =>
    content === undefined && emptied.some((mapping) => isWithin(source, mapping.source))
  const message = 'is the last file of its mapping, and an empty mapping deletes nothing; change the mapping'
  return {
    captured: captured.filter((each) => !isLast(each)),
    skipped: [...skipped, ...captured.filter(isLast).map(({ path }) => ({ path, message }))],
  }
}

/** The projects with at least one file delivered by the repository. */
function projectsOf(paths: Iterable<string>): Set<string> {
  const projects = new Set<string>()
  for (const path of paths) {
    const [top, project = '', ...below] = path.split('/')
    if (top === 'projects' && below.length > 0) projects.add(project)
  }
  return projects
}

/**
 * Whether a new file belongs to what the repository keeps: a project belongs to it as a whole, of other files the folder of a resource. A
 * new resource beside others may be one that the gateway created at its first start.
 */
function belongs(path: string, { folders, projects }: { folders: ReadonlySet<string>; projects: ReadonlySet<string> }): boolean {
  const [top, project = '', ...below] = path.split('/')
  return top === 'projects' ? below.length > 0 && projects.has(project) : folders.has(parentOf(path))
}
