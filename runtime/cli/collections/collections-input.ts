/**
 * Opens the input of the commands about collections: a directory, a commit of a local repository, or a remote repository.
 */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { systemClock } from '../../platform/clock.ts'
import { directoryListing } from './directory-listing.ts'
import { type Listing, readTexts } from '../../validation/model/listing.ts'
import { FileTable } from '../../validation/model/file-table.ts'
import { findProjectRoots, findRoots } from '../../validation/model/projects.ts'
import { aboveRepository } from '../../validation/model/tree.ts'
import { maxSettingsBytes, noSettings, parseSettings, type Settings, settingsFile } from '../../validation/rules/severities.ts'
import { readProxies } from '../../settings/environment.ts'
import { Fault } from '../../platform/fault.ts'
import { isWithin, parseCommitHash, parseRefName, parseRelativePath, type RelativePath } from '../../api/values.ts'

/** Call `close` to remove what was fetched. */
export type Input = {
  /** Paths are relative to the repository, or to the directory without one. */
  listing: Listing
  /** All files of the listing. */
  files: FileTable
  /** The requested part of the repository; `''` is all of it. */
  below: string
  settings: Settings
  close(): Promise<void>
}

const whole = parseRelativePath('')
const gitTimeoutMs = 30_000
/** The file `.git` of a linked working tree is one line with a path. */
const maxGitFileBytes = 16 * 1024
const limits = { maxMemoryBytes: 512 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }

/** Throws InvalidConfiguration, with the cause, if the input cannot be read. */
export async function openInput(where: string, ref: string | undefined, signal: AbortSignal): Promise<Input> {
  try {
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(where) || /^[^/\s]+@[^/\s]+:/.test(where)) return await openRemote(where, ref, signal)
    const folder = path.resolve(where)
    const stat = statSync(folder, { throwIfNoEntry: false })
    if (stat === undefined) throw new Fault('InvalidConfiguration', `${where} does not exist`)
    if (!stat.isDirectory()) throw new Fault('InvalidConfiguration', `${where} is not a folder; for a bundle, use file://<path> with --ref`)
    // Links below a folder are never followed; a link that the user names is resolved.
    const real = realpathSync(folder)
    return ref === undefined ? await openDirectory(real, signal) : await openCommit(real, ref, signal)
  } catch (error) {
    throw unreadable(error)
  }
}

/** Names a directory in a repository relative to the top of the repository, as its settings and CI annotations do. */
export function locate(folder: string): { top: string; below: string } {
  const start = statSync(folder).isDirectory() ? folder : path.dirname(folder)
  for (let top = start; ; top = path.dirname(top)) {
    if (existsSync(path.join(top, '.git'))) return { top, below: path.relative(top, folder).split(path.sep).join('/') }
    if (path.dirname(top) === top) return { top: start, below: '' }
  }
}

/** The git directory of a working tree (also a linked one) or of a bare repository, and the path of a folder below its top. */
export function gitPlace(folder: string): { folder: string; below: string } | undefined {
  const { top, below } = locate(folder)
  const own = path.join(top, '.git')
  const stat = statSync(own, { throwIfNoEntry: false })
  if (stat?.isDirectory() === true) return { folder: own, below }
  if (stat?.isFile() === true && stat.size < maxGitFileBytes) {
    const [, linked] = /^gitdir: (.+)$/m.exec(readFileSync(own, 'utf8')) ?? []
    return linked === undefined ? undefined : { folder: path.resolve(top, linked), below }
  }
  return ['HEAD', 'objects', 'refs'].every((name) => existsSync(path.join(folder, name))) ? { folder, below: '' } : undefined
}

/** The roots below the requested part, or the named one. Throws InvalidConfiguration if there is none, unless `mayBeNone`. */
export function rootsOf({ files, below }: Input, named: string | undefined, mayBeNone = false): string[] {
  if (named !== undefined) return [parseRoot([below, named].filter(Boolean).join('/'))]
  const roots = findRoots(files.paths(), [below]).filter((root) => isWithin(root, below) || isWithin(below, root))
  if (roots.length > 0 || mayBeNone) return roots
  throw new Fault(
    'InvalidConfiguration',
    'no collections found: there is no folder with a config-mode.json and no config/resources; specify the root with --root',
  )
}

/** The project folders below the requested part; if one was named, that one if it holds projects. */
export function projectRootsOf({ files, below }: Input, named: string | undefined): string[] {
  const roots = findProjectRoots(files.paths())
  if (named === undefined)
    return roots.filter((root) => (root === aboveRepository ? below === '' : isWithin(root, below) || isWithin(below, root)))
  const expected = parseRoot([below, named].filter(Boolean).join('/'))
  return roots.filter((root) => root === expected)
}

/** Parses the value of `--root`. Throws InvalidConfiguration. */
export function parseRoot(text: string): RelativePath {
  try {
    return parseRelativePath(text.replace(/^\.\/|\/$/g, ''))
  } catch (error) {
    throw new Fault('InvalidConfiguration', `--root: ${error instanceof Error ? error.message : text}`, { cause: error })
  }
}

/** Like `rootsOf`, for commands that need exactly one root. */
export function oneRoot(input: Input, named: string | undefined): string {
  const roots = rootsOf(input, named)
  const [root = ''] = roots
  if (roots.length === 1) return root
  throw new Fault('InvalidConfiguration', `there are several roots; select one with --root: ${roots.join(', ')}`)
}

async function openDirectory(folder: string, signal: AbortSignal): Promise<Input> {
  const { top, below } = locate(folder)
  const settings = await readSettings(directoryListing(top, settingsFile), signal)
  return { ...(await listed(directoryListing(top, below), signal)), below, settings, close: async () => undefined }
}

/** Returns InvalidConfiguration with the message if git does not have the ref, otherwise the error unchanged. */
export async function missingRef(error: unknown, message: string): Promise<unknown> {
  const { isSilentFailure } = await import('../../git/command/git.ts')
  return isSilentFailure(error) ? new Fault('InvalidConfiguration', message, { cause: error }) : error
}

async function openCommit(folder: string, ref: string, signal: AbortSignal): Promise<Input> {
  const place = gitPlace(folder)
  if (place === undefined)
    throw new Fault('InvalidConfiguration', `${folder} is not in a git repository, so it has no "${ref}"; omit --ref to check its files`)
  const below = parseRelativePath(place.below)
  const [{ runGit }, { mirrorListing }] = await Promise.all([
    import('../../git/command/git.ts'),
    import('../../git/content/mirror-listing.ts'),
  ])
  const git = async (...args: string[]): Promise<string> =>
    (await runGit({ folder: place.folder, args, timeoutMs: gitTimeoutMs }, { limits, signal })).toString('utf8').trim()
  if (ref.startsWith('-')) throw new Fault('InvalidConfiguration', `"${ref}" is not a ref`)
  const commit = await git('rev-parse', '--verify', '-q', '--end-of-options', `${ref}^{commit}`).catch(async (error: unknown) => {
    throw await missingRef(error, `the repository at ${folder} has no "${ref}"`)
  })
  const hash = parseCommitHash(commit)
  const listingOf = (root: RelativePath): Listing => mirrorListing({ folder: place.folder, limits }, hash, [root])
  const settings = await readSettings(listingOf(parseRelativePath(settingsFile)), signal)
  return { ...(await listed(listingOf(below), signal)), below, settings, close: async () => undefined }
}

async function openRemote(repo: string, ref: string | undefined, signal: AbortSignal): Promise<Input> {
  if (ref === undefined) throw new Fault('InvalidConfiguration', 'specify the branch, tag or commit of the repository with --ref')
  const { createMirrors } = await import('../../git/mirrors.ts')
  const { anonymousRemote } = await import('../../git/remote/remote.ts')
  const { silentLog } = await import('../../platform/log/log.ts')
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-lint-'))
  const mirrors = createMirrors({
    folder,
    clock: systemClock,
    log: silentLog,
    network: { resolve: undefined, proxy: readProxies() },
  })
  const close = async (): Promise<void> => {
    await mirrors.close()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const mirror = mirrors.of(anonymousRemote(repo, { allowLocal: true }))
    const { commit } = await mirror.resolve(parseRefName(ref), { fresh: true }, signal)
    const settings = await readSettings(mirror.listing(commit, [parseRelativePath(settingsFile)]), signal)
    return { ...(await listed(mirror.listing(commit, [whole]), signal)), below: '', settings, close }
  } catch (error) {
    await close()
    throw error
  }
}

async function listed(listing: Listing, signal: AbortSignal): Promise<Pick<Input, 'listing' | 'files'>> {
  return { listing, files: await FileTable.list(listing, '', signal) }
}

async function readSettings(listing: Listing, signal: AbortSignal): Promise<Settings> {
  for await (const batch of listing.list(signal)) {
    const file = batch.find(({ path }) => path === settingsFile)
    if (file === undefined) continue
    const bytes = (await readTexts(listing, [file], maxSettingsBytes, signal)).get(file.path)
    if (bytes === undefined) throw new Fault('InvalidConfiguration', `${settingsFile} is larger than ${maxSettingsBytes} bytes`)
    return await parseSettings(bytes.toString('utf8'))
  }
  return noSettings
}

function unreadable(error: unknown): unknown {
  if (!(error instanceof Fault) || error.reason === 'InvalidConfiguration') return error
  return new Fault('InvalidConfiguration', error.message, { cause: error })
}
