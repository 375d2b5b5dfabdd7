/**
 * Reads the desired and the actual files and makes the plan. Writes nothing, so that dry runs and previews use it too.
 */
import path from 'node:path'
import { reportLimits } from '../../api/schema/report.ts'
import type { Source } from '../../content/protocol/protocol.ts'
import type { Finding } from '../model/findings.ts'
import { activeMode, type SyncTarget } from '../model/desired.ts'
import { templateContext, type TemplateContext } from '../render/context.ts'
import { desiredOf, diffDesired, type Diff } from '../desired/diff.ts'
import type { DesiredFile } from '../desired/desired-tree.ts'
import { classifyDrift, type Repair, repairs, holdLocalChanges } from './classify-drift.ts'
import type { Manifest, ManifestChange, Owned } from '../model/manifest.ts'
import { recipeOf } from '../desired/mappings.ts'
import type { ArrivingContents } from '../desired/read-listing.ts'
import { plan, type Plan } from './plan.ts'
import { listBelow, listForeign, listings, findDrift, observe, type Observer } from './observe.ts'
import type { Renderer } from '../render/render.ts'
import { type Aliases, findAliases, respellRemoved } from './path-collisions.ts'

/** How many owned files were changed locally; `paths` names the first 20. */
export type Drift = { count: number; paths: string[] }

/** A plan with everything that applying and reporting need. */
export type Prepared = {
  /** Without the members that went into the plan, which would be held twice. */
  diff: Omit<Diff, 'puts' | 'removed' | 'moved'>
  plan: Plan
  /** Local changes that are kept; undefined: not checked. */
  drift: Drift | undefined
  /** Updates of the manifest from inspecting the disk; no file changes with them. */
  learned: ManifestChange[]
  findings: Finding[]
  context: TemplateContext
  renderer: Renderer | undefined
}

type PrepareDeps = { source: Source; contents?: ArrivingContents | undefined; observer?: (() => Observer | undefined) | undefined }

/**
 * Compares the source, the manifest and the disk, and decides what to do; writes nothing. `repair` sets how closely owned files are
 * checked; `contents` receives contents that come with a listing, and `observer` hands over the folders inspected meanwhile. Throws what
 * the diff throws, TemplateFailed and faults of the disk; what the plan itself refuses is in its `problems`.
 */
export async function prepare(
  { source, contents, observer }: PrepareDeps,
  target: SyncTarget,
  manifest: Manifest,
  repair: Repair,
  signal: AbortSignal,
): Promise<Prepared> {
  const context = templateContext(target)
  const renderer = await loadRenderer(target, context)
  const diff = await diffDesired({ source, renderPath: pathRenderer(renderer), contents }, target, context, manifest, signal)
  const options = { like: target.commit, verifyContent: repair === 'verify-content' }
  const isChecked = diff.from !== 'delta' || repair !== 'as-configured' || target.checkDrift === true
  const changes = isChecked ? await findDrift(target.dataDir, undecided(manifest, diff), options, signal) : undefined
  const classified =
    changes === undefined ? undefined : await classifyDrift({ source, renderer }, { target, manifest, diff }, changes, signal)
  const repaired = classified === undefined ? [] : repairs(classified, target, repair)
  const puts = repaired.length === 0 ? diff.puts : new Map([...repaired.map(desiredEntry), ...diff.puts])
  const foreign = listAllForeign(target, manifest, diff)
  const observed = await observe(target.dataDir, pathsOf(diff), manifest.files, { ...options, observer: refreshed(observer) }, signal)
  for (const { path, seen } of repaired) observed.set(path, seen)
  const listing = listings(target.dataDir)
  respellRemoved(observed, diff.removed.keys(), listing)
  const repairing = new Set(repaired.map(({ path }) => path))
  const withheld = await holdLocalChanges({ source, renderer }, { target, manifest, diff, observed, repairing }, signal)
  const aliases = wholeFolders(target, diff, findAliases(newPaths(puts, manifest), diff.removed.keys(), observed, listing))
  const made = plan({
    aliases,
    rootBytes: Buffer.byteLength(path.resolve(target.dataDir)),
    puts,
    removed: diff.removed,
    foreign,
    owned: manifest.files,
    observed,
    repairing,
    withheld,
    prunesAll: (mapping) => diff.mappings[mapping]?.prune === 'All',
    isRendered: ({ mapping, path }) => {
      const from = diff.mappings[mapping]
      return from !== undefined && recipeOf(from, path) !== undefined
    },
    maxDeletions: target.profile.maxDeletions,
    commit: target.commit,
    confirmedDeletions: target.confirmDeletions,
    // Mappings alone may also deliver a mode's folder; the gateway may have reported the mode.
    mode: (activeMode(target, manifest.state) ?? target.facts.mode)?.name,
  })
  const left = classified?.drifted.filter(({ path }) => !puts.has(path)).map(({ path }) => path)
  const { puts: _puts, removed: _removed, moved: _moved, ...rest } = diff
  return {
    diff: rest,
    plan: made,
    drift: left === undefined ? undefined : { count: left.length, paths: left.toSorted().slice(0, reportLimits.driftPaths) },
    learned: [...diff.moved, ...(classified?.learned ?? [])].filter(({ path }) => !puts.has(path)),
    findings: [...lostOwnership(target, manifest, diff), ...diff.findings, ...made.findings],
    context,
    renderer,
  }
}

function desiredEntry({ path, owned }: { path: string; owned: Owned }): [string, DesiredFile] {
  return [path, desiredOf(path, owned)]
}

function refreshed(given: PrepareDeps['observer']): Observer | undefined {
  const observer = given?.()
  observer?.refresh()
  return observer
}

function* newPaths(puts: ReadonlyMap<string, unknown>, { files }: Manifest): Generator<string> {
  for (const path of puts.keys()) if (!files.has(path)) yield path
}

/** A folder changes its spelling only if all files in it are to be deleted: with a file that is not owned it keeps its name. */
function wholeFolders({ dataDir }: SyncTarget, { removed }: Diff, { files, folders }: Aliases): Aliases {
  const isDeleted = (file: string): boolean => (removed.get(file) ?? 'None') !== 'None'
  return { files, folders: folders.filter(({ from }) => listBelow(dataDir, from).every(isDeleted)) }
}

function* pathsOf({ puts, removed }: Diff): Generator<string> {
  yield* puts.keys()
  yield* removed.keys()
}

/** Returns the renderer for the files and paths of a profile; undefined if nothing in it is rendered. */
export async function loadRenderer({ profile }: SyncTarget, context: TemplateContext): Promise<Renderer | undefined> {
  const isTemplate = (text: string): boolean => /\{\{|\{%/.test(text)
  const needed = profile.mappings.some(
    ({ template, patches, source, destination }) => template || (patches?.length ?? 0) > 0 || isTemplate(source) || isTemplate(destination),
  )
  if (!needed) return undefined
  const { createRenderer } = await import('../render/render.ts')
  return createRenderer(context)
}

/** Renders a source or destination; a text without a template is returned as it is. */
export function pathRenderer(renderer: Renderer | undefined): (text: string, label: string) => string {
  return (text, label) => (renderer === undefined || !/\{\{|\{%/.test(text) ? text : renderer.path(text, label))
}

/**
 * Owned files that this cycle does not change: only for those is a difference on disk drift. Files of a mapping whose optional source is
 * absent are left out: the desired commit could not even repair them.
 */
function undecided(manifest: Manifest, diff: Diff): Map<string, Owned> {
  const keptKeys = new Set(diff.absent.map((index) => diff.mappings[index]?.key))
  const kept = new Set((manifest.state?.mappings ?? []).flatMap((key, index) => (keptKeys.has(key) ? [index] : [])))
  if (diff.puts.size + diff.removed.size + kept.size === 0) return manifest.files
  return new Map([...manifest.files].filter(([file, { mapping }]) => !diff.puts.has(file) && !diff.removed.has(file) && !kept.has(mapping)))
}

/** Limit on the files that a finding names. */
const maxNamed = 20

/** Damaged records may have named more files than they do now, so unknown files in owned folders are reported and kept. */
function lostOwnership({ dataDir }: SyncTarget, manifest: Manifest, diff: Diff): Finding[] {
  if (manifest.suspectReason === undefined) return []
  const folders = diff.mappings.filter(({ type, prune }) => type === 'Directory' && prune !== 'All').map(({ destination }) => destination)
  const isKnown = (file: string): boolean => manifest.files.has(file) || diff.puts.has(file)
  const found = [...new Set(folders.flatMap((folder) => listForeign(dataDir, folder, isKnown)))].toSorted()
  if (found.length === 0) {
    const message = `${manifest.suspectReason}; every file was verified by its content`
    return [{ rule: 'folder-verified', path: '', message }]
  }
  const more = found.length > maxNamed ? ' …' : ''
  const message =
    `${manifest.suspectReason}; ${found.length} files in managed folders are not of this commit and may be of an earlier one; ` +
    `they stay; remove those that are not needed: ${found.slice(0, maxNamed).join(', ')}${more}`
  return [{ rule: 'ownership-lost', path: '.cluster-sync/manifest', message }]
}

function listAllForeign({ dataDir }: SyncTarget, manifest: Manifest, diff: Diff): string[] {
  const folders = diff.mappings.filter(({ type, prune }) => type === 'Directory' && prune === 'All').map(({ destination }) => destination)
  const isOurs = (file: string): boolean => manifest.files.has(file) || diff.puts.has(file)
  return [...new Set(folders.flatMap((folder) => listForeign(dataDir, folder, isOurs)))]
}
