/**
 * Plans the effect of a repository change on the gateways that follow it, before it is merged: for each profile and deployment mode, a folder is
 * synced to the base and planned for the head. Also lists the findings that the head adds.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import path from 'node:path'
import { systemClock } from '../../platform/clock.ts'
import { FileTable } from '../../validation/model/file-table.ts'
import { asFault, Fault, isAbort, type Reason } from '../../platform/fault.ts'
import { type ResolvedProfile, resolveProfile, syncHash } from '../../api/schema/profile.ts'
import { sourceRoots } from '../../api/schema/source-roots.ts'
import { findingKey, newFindings } from '../../api/findings.ts'
import { type CommitHash, foldName, parseCommitHash, parseRefName, parseRelativePath, type RelativePath } from '../../api/values.ts'
import { silentLog } from '../../platform/log/log.ts'
import { isSilentFailure, runGit } from '../../git/command/git.ts'
import { anonymousRemote } from '../../git/remote/remote.ts'
import { nearestTo } from '../../platform/text/edit-distance.ts'
import { parseStandaloneSync, type StandaloneSync } from '../../standalone/settings.ts'
import { runCycle, type SyncTarget } from '../../sync/cycle.ts'
import { readManifest } from '../../sync/disk/manifest-file.ts'
import { prepare } from '../../sync/plan/make-plan.ts'
import { diffPlan } from '../../sync/plan/preview.ts'
import { collectionManifestFolder } from '../../validation/model/delivered-chain.ts'
import { placeFindings } from '../../validation/run/place-findings.ts'
import { gitPlace, missingRef, openInput, projectRootsOf, rootsOf } from '../collections/collections-input.ts'
import type { LintResult } from '../collections/lint-formats.ts'
import { lint } from '../collections/lint.ts'
import { readManifestFile } from '../named-files.ts'
import { type Opened, withMirror } from './opened-folder.ts'
import { checkCommit, diffLimits } from './plan-folder.ts'
import type { PlanReport } from './plan-text.ts'
import { workSignal } from '../stop.ts'

/** `path` is a folder in a clone; `base` and `head` are git revisions. No `modes`: every mode of the repository. */
export type ChangeOptions = { file: string; path: string; base: string; head: string; profile?: string; modes: readonly string[] }

/** The effect of the change on the gateways of one profile, in each of these modes; `''` is none. */
export type GatewayChange = Pick<PlanReport, 'counts' | 'changes' | 'problems'> & { profile: string; modes: string[] }

export type ChangeReport = {
  base: CommitHash
  head: CommitHash
  gateways: GatewayChange[]
  /** Findings of the head that the base does not have, and the number of findings that it fixes. */
  lint: LintResult
  gone: number
  /** The validation result of the head. */
  checked: PlanReport['checked']
}

const timeoutMs = 600_000
const gitTimeoutMs = 30_000
const gitLimits = { maxMemoryBytes: 512 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }
const nothingToCheck: LintResult = {
  roots: [],
  findings: [],
  summary: { errors: 0, warnings: 0, resources: 0, collections: 0, projects: 0 },
}
const noCounts = { added: 0, changed: 0, removed: 0 }

/** Throws InvalidConfiguration, UnknownProfile, and what reading the repository throws. */
export async function planChange(options: ChangeOptions): Promise<ChangeReport> {
  const signal = workSignal(timeoutMs)
  const sync = parseStandaloneSync(readManifestFile(options.file), options.file)
  const profiles = (options.profile === undefined ? Object.keys(sync.spec.sync.profiles) : [options.profile]).map((name) =>
    resolveProfile(sync.spec.sync, name),
  )
  refuseUselessMode(profiles, options.modes)
  const { folder, base, head } = await commitsOf(options, signal)
  const remote = anonymousRemote(folder, { allowLocal: true })
  return await withMirror(
    async () => remote,
    async ({ mirror, scratch }) => {
      for (const commit of [base, head]) await mirror.resolve(parseRefName(commit), { fresh: true }, signal)
      const opened = { sync, mirror, scratch }
      const [before, after] = [await lintOf(options, base, signal), await lintOf(options, head, signal)]
      const paths = await pathsOf(opened, modeRoots(profiles), [base, head], signal)
      refuseUnknownMode(profiles, options.modes, paths)
      const gateways: GatewayChange[] = []
      for (const profile of profiles) {
        const each: GatewayChange[] = []
        for (const mode of modesOf(profile, options.modes, paths)) each.push(await changeOf(opened, profile, mode, { base, head }, signal))
        gateways.push(...together(each))
      }
      return { base, head, gateways, ...onlyNew(before, after), checked: await checkCommit(opened, head, '', signal) }
    },
    signal,
  )
}

/** The two commits to compare: the merge base replaces the base if this clone has it. */
async function commitsOf({ path, base, head }: ChangeOptions, signal: AbortSignal) {
  const place = gitPlace(existing(path))
  if (place === undefined) throw new Fault('InvalidConfiguration', `--path: ${path} is not in a git repository`)
  const { folder } = place
  const git = async (...args: string[]): Promise<string> =>
    (await runGit({ folder, args, timeoutMs: gitTimeoutMs }, { limits: gitLimits, signal })).toString('utf8').trim()
  const resolve = async (option: string, ref: string): Promise<CommitHash> => {
    const hash = await git('rev-parse', '--verify', '-q', '--end-of-options', `${ref}^{commit}`).catch(async (error: unknown) => {
      const help = 'fetch it first; pipelines often clone a single commit'
      throw await missingRef(error, `${option}: the repository at ${path} has no "${ref}"; ${help}`)
    })
    return parseCommitHash(hash)
  }
  const [from, to] = [await resolve('--base', base), await resolve('--head', head)]
  const common = await git('merge-base', from, to).catch((error: unknown) => {
    if (isSilentFailure(error)) return from
    throw error
  })
  return { folder, base: parseCommitHash(common), head: to }
}

function existing(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    throw new Fault('InvalidConfiguration', `--path: ${path} does not exist`, { cause: error })
  }
}

/** The files below these folders in any of the commits, relative to the top of the repository. */
async function pathsOf(
  { mirror }: Opened,
  roots: readonly RelativePath[],
  commits: readonly CommitHash[],
  signal: AbortSignal,
): Promise<string[]> {
  if (roots.length === 0) return []
  const tables = commits.map(async (commit) => await FileTable.list(mirror.listing(commit, roots), '', signal))
  return (await Promise.all(tables)).flatMap((table) => [...table.paths()])
}

/** The findings of a commit; none if it holds nothing to check. */
async function lintOf({ path }: ChangeOptions, ref: CommitHash, signal: AbortSignal): Promise<LintResult> {
  const input = await openInput(path, ref, signal)
  try {
    const isEmpty = rootsOf(input, undefined, true).length + projectRootsOf(input, undefined).length === 0
    const result = isEmpty ? nothingToCheck : await lint(input, undefined, signal)
    const findings = await placeFindings(input.listing, (file) => input.files.find(file), result.findings, signal)
    return { ...result, findings }
  } finally {
    await input.close()
  }
}

/** Syncs a temporary folder to the base as for a gateway. A base that no gateway could apply counts as empty. */
async function changeOf(
  { sync, mirror, scratch }: Opened & { sync: StandaloneSync },
  profile: ResolvedProfile,
  mode: string,
  { base, head }: { base: CommitHash; head: CommitHash },
  signal: AbortSignal,
): Promise<GatewayChange> {
  const dataDir = mkdtempSync(path.join(scratch, 'gateway-'))
  const source = mirror.source(() => sourceRoots(profile))
  const desiredAt = (commit: CommitHash): SyncTarget => ({
    commit,
    ref: commit,
    profile: { ...profile, dryRun: false, paused: false },
    syncHash: syncHash(profile, sync.spec.gateway),
    dataDir,
    paused: false,
    validation: { policy: 'Off', rules: {} },
    facts: {
      gatewayName: sync.name,
      podName: `${sync.name}-0`,
      ordinal: 0,
      podLabels: {},
      namespace: sync.namespace,
      mode: { name: mode, from: 'Target' },
    },
  })
  const own = { profile: profile.name, modes: [mode] }
  try {
    const before = await runCycle(
      { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } },
      desiredAt(base),
      signal,
    )
    if (before.phase === 'Failed') {
      const why = new Fault((before.reason ?? 'Unexpected') as Reason, before.message ?? '')
      // A full disk is not a failure of the base.
      if (why.retry === 'backoff' || why.reason === 'Unexpected') throw why
    }
    const prepared = await prepare({ source }, desiredAt(head), readManifest(dataDir), 'as-configured', signal)
    const changes = await diffPlan(source, desiredAt(head), prepared, diffLimits, signal)
    const { added, changed, removed } = prepared.plan.counts
    return { ...own, counts: { added, changed, removed }, changes, problems: prepared.plan.problems }
  } catch (error) {
    const { reason, message } = asFault(error)
    if (isAbort(error, signal) || reason === 'Unexpected') throw error
    return { ...own, counts: noCounts, changes: [], problems: [{ reason, message }] }
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Groups modes with the same result. */
function together(all: readonly GatewayChange[]): GatewayChange[] {
  const alike = Map.groupBy(all, ({ changes, problems }) => JSON.stringify([changes, problems]))
  return [...alike.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, modes: [...first.modes, ...others.flatMap(({ modes }) => modes)] }],
  )
}

function onlyNew(before: LintResult, after: LintResult): Pick<ChangeReport, 'lint' | 'gone'> {
  const findings = newFindings(before.findings, after.findings)
  const errors = findings.filter(({ severity }) => severity === 'error').length
  const summary = { ...after.summary, errors, warnings: findings.length - errors }
  return { lint: { ...after, findings, summary }, gone: new Set(newFindings(after.findings, before.findings).map(findingKey)).size }
}

/** Whether the head would not be published, or a gateway could not apply it: exit code 1. */
export function isRefused({ gateways, checked }: ChangeReport): boolean {
  return checked?.refused === true || gateways.some(({ problems }) => problems.length > 0)
}

/** Names of collections that are not deployment modes, in lower case. */
const notModes = new Set(['core', 'external', 'local'])

/** The collection folders that these profiles read for a mode that the profile does not set. */
function modeRoots(profiles: readonly ResolvedProfile[]): RelativePath[] {
  return profiles.flatMap(({ collections }) => (collections?.mode === 'auto' ? [parseRelativePath(collections.root)] : []))
}

/** Throws InvalidConfiguration for a mode that no profile uses: each sets its own, or none. */
function refuseUselessMode(profiles: readonly ResolvedProfile[], [mode]: readonly string[]): void {
  const takes = ({ collections }: ResolvedProfile): boolean => collections?.mode === 'auto' || collections?.mode === mode
  if (mode === undefined || profiles.some(takes)) return
  const own = profiles.map(({ name, collections }) =>
    collections === undefined ? `profile "${name}" has no collections` : `profile "${name}" sets the mode "${collections.mode}"`,
  )
  throw new Fault('InvalidConfiguration', `--mode ${mode} would change nothing: ${own.join(', ')}; omit it, or set mode: auto there`)
}

/** Throws InvalidConfiguration for a mode without a folder. `paths`: the files of both commits; if no root has any, the message says so. */
function refuseUnknownMode(profiles: readonly ResolvedProfile[], [mode]: readonly string[], paths: readonly string[]): void {
  if (mode === undefined || mode === '' || notModes.has(foldName(mode))) return
  if (profiles.some(({ collections }) => collections?.mode === mode)) return
  const roots = modeRoots(profiles)
  const folders = new Set(roots.flatMap((root) => paths.flatMap((file) => folderIn(root, file) ?? [])))
  if (folders.size === 0 || [...folders].some((folder) => foldName(folder) === foldName(mode))) return
  const modes = [...new Set(roots.flatMap((root) => modesIn(root, paths)))].toSorted()
  const meant = nearestTo(mode, modes)
  const known = modes.length === 0 ? 'there are no modes yet' : `available modes: ${modes.join(', ')}`
  const help = meant === undefined ? known : `did you mean "${meant}"?`
  throw new Fault('InvalidConfiguration', `--mode: neither the base nor the head has a folder for the mode "${mode}"; ${help}`)
}

/** The modes of one profile: the named one, otherwise each mode that one of the commits has; `''` is none. */
function modesOf({ collections }: ResolvedProfile, named: readonly string[], paths: readonly string[]): string[] {
  if (collections === undefined) return ['']
  if (collections.mode !== 'auto') return [collections.mode]
  if (named.length > 0) return [...named]
  const found = modesIn(parseRelativePath(collections.root), paths)
  return found.length === 0 ? [''] : [...new Set(found)].toSorted()
}

function modesIn(root: RelativePath, paths: readonly string[]): string[] {
  const names = paths.flatMap((file) => collectionManifestFolder(root, file) ?? [])
  return names.filter((name) => !notModes.has(foldName(name)))
}

/** The folder of a root that contains a file. */
function folderIn(root: RelativePath, file: string): string | undefined {
  const start = root === '' ? '' : `${root}/`
  const [folder, ...rest] = file.startsWith(start) ? file.slice(start.length).split('/') : []
  return rest.length === 0 ? undefined : folder
}
