/**
 * What a change of a repository would do to the gateways that follow it, before it is merged: for each profile and deployment mode a folder
 * is brought to the base, and planned for the head. Beside it, what the checks say that they did not say of the base.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import path from 'node:path'
import { systemClock } from '../../clock.ts'
import { FileTable } from '../../collections/model/file-table.ts'
import { asFault, Fault, isAbort, type Reason } from '../../fault.ts'
import { type ResolvedProfile, resolveProfile, syncHash } from '../../gatewaysync/decide/profile.ts'
import { sourceRoots } from '../../gatewaysync/decide/source-roots.ts'
import { findingKey, newFindings } from '../../gatewaysync/new-findings.ts'
import { type CommitHash, parseCommitHash, parseRefName, type RelativePath } from '../../gatewaysync/values.ts'
import { silentLog } from '../../log.ts'
import { isSilentNo, runGit } from '../../source/git/git.ts'
import { anonymousRemote } from '../../source/remote/remote.ts'
import { parseStandaloneSync, type StandaloneSync } from '../../standalone/settings.ts'
import { runCycle, type Wanted } from '../../sync/cycle.ts'
import { readManifest } from '../../sync/disk/manifest-file.ts'
import { prepare } from '../../sync/plan/make-plan.ts'
import { diffPlan } from '../../sync/plan/preview.ts'
import { modeRoots, modesOf, refuseUnknownMode, refuseUselessMode } from './change-modes.ts'
import { gitPlace, missingRef, openInput, projectRootsOf, rootsOf } from '../collections/collections-input.ts'
import type { LintResult } from '../collections/lint-formats.ts'
import { placeFindings } from '../collections/lint-places.ts'
import { lint } from '../collections/lint.ts'
import { readManifestFile } from '../named-files.ts'
import { type Opened, withMirror } from './opened-folder.ts'
import { checkCommit, diffLimits } from './plan-folder.ts'
import type { PlanReport } from './plan-text.ts'
import { workSignal } from '../stop.ts'

/** `repo` is a folder in a clone; `base` and `head` are whatever git understands there. No `modes`: every one that the repository has. */
export type ChangeOptions = { file: string; repo: string; base: string; head: string; profile?: string; modes: readonly string[] }

/** What the gateways of one profile see of the change, in each of these modes; `''` is none. */
export type GatewayChange = Pick<PlanReport, 'counts' | 'changes' | 'problems'> & { profile: string; modes: string[] }

export type ChangeReport = {
  base: CommitHash
  head: CommitHash
  gateways: GatewayChange[]
  /** Findings of the head that the base did not have, and how many of the base are gone. */
  lint: LintResult
  gone: number
  /** What the gate would say of the head. */
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

/** The two commits that differ by the change: what both sides have in common stands for the base, where this clone knows it. */
async function commitsOf({ repo, base, head }: ChangeOptions, signal: AbortSignal) {
  const place = gitPlace(existing(repo))
  if (place === undefined) throw new Fault('InvalidConfiguration', `--repo: ${repo} lies in no git repository`)
  const { folder } = place
  const git = async (...args: string[]): Promise<string> =>
    (await runGit({ folder, args, timeoutMs: gitTimeoutMs }, { limits: gitLimits, signal })).toString('utf8').trim()
  const resolve = async (option: string, ref: string): Promise<CommitHash> => {
    const hash = await git('rev-parse', '--verify', '-q', '--end-of-options', `${ref}^{commit}`).catch(async (error: unknown) => {
      const help = 'fetch it first: a pipeline often clones one commit only'
      throw await missingRef(error, `${option}: the repository at ${repo} has no "${ref}"; ${help}`)
    })
    return parseCommitHash(hash)
  }
  const [from, to] = [await resolve('--base', base), await resolve('--head', head)]
  const common = await git('merge-base', from, to).catch((error: unknown) => {
    if (isSilentNo(error)) return from
    throw error
  })
  return { folder, base: parseCommitHash(common), head: to }
}

function existing(repo: string): string {
  try {
    return realpathSync(repo)
  } catch (error) {
    throw new Fault('InvalidConfiguration', `--repo: ${repo} does not exist`, { cause: error })
  }
}

/** The files below these folders in any of the commits, wherever in the repository `--repo` is. */
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

/** The findings of a commit, none where it holds nothing to check. */
async function lintOf({ repo }: ChangeOptions, ref: CommitHash, signal: AbortSignal): Promise<LintResult> {
  const input = await openInput(repo, ref, signal)
  try {
    const isEmpty = rootsOf(input, undefined, true).length + projectRootsOf(input, undefined).length === 0
    const result = isEmpty ? nothingToCheck : await lint(input, undefined, signal)
    const findings = await placeFindings(input.listing, (file) => input.files.find(file), result.findings, signal)
    return { ...result, findings }
  } finally {
    await input.close()
  }
}

/** A folder of its own is brought to the base as a gateway's would be. A base that no gateway could take counts as an empty one. */
async function changeOf(
  { sync, mirror, scratch }: Opened & { sync: StandaloneSync },
  profile: ResolvedProfile,
  mode: string,
  { base, head }: { base: CommitHash; head: CommitHash },
  signal: AbortSignal,
): Promise<GatewayChange> {
  const dataDir = mkdtempSync(path.join(scratch, 'gateway-'))
  const source = mirror.source(() => sourceRoots(profile))
  const wantedAt = (commit: CommitHash): Wanted => ({
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
      mode: { name: mode, from: 'target' },
    },
  })
  const own = { profile: profile.name, modes: [mode] }
  try {
    const before = await runCycle(
      { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } },
      wantedAt(base),
      signal,
    )
    if (before.phase === 'Failed') {
      const why = new Fault((before.reason ?? 'Unexpected') as Reason, before.message ?? '')
      // A full disk says nothing of the base.
      if (why.retry === 'backoff' || why.reason === 'Unexpected') throw why
    }
    const prepared = await prepare({ source }, wantedAt(head), readManifest(dataDir), 'as-configured', signal)
    const changes = await diffPlan(source, wantedAt(head), prepared, diffLimits, signal)
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

/** Modes in which the same happens stand together. */
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

/** Whether the head would not be published, or a gateway could not take it: exit code 1. */
export function isRefused({ gateways, checked }: ChangeReport): boolean {
  return checked?.refused === true || gateways.some(({ problems }) => problems.length > 0)
}
