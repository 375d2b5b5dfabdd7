/**
 * The step between plan and apply: stages and validates all new content, and reads the gateway's problems before any of it is in place.
 */
import type { Source } from '../content/protocol/protocol.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { problemsBefore } from './gateway-session.ts'
import { discard, type Run, stageAll, type StagedRun } from './apply/apply.ts'
import type { OpenDeps } from './apply/open-folder.ts'
import type { StageAhead } from './apply/stage-ahead.ts'
import type { StageOptions } from './apply/stage.ts'
import { doStep, type StepDeps } from './step.ts'
import { foldName, parentOf } from '../api/values.ts'
import { type Finding, Refused } from './model/findings.ts'
import { activeMode, type SyncTarget } from './model/desired.ts'
import { listFolders, viewStaged } from './check/staged-view.ts'
import type { Manifest } from './model/manifest.ts'
import { collectionsFolder } from './model/paths.ts'
import type { Prepared } from './plan/make-plan.ts'

type StageDeps = StepDeps &
  OpenDeps & { source: Source; gateway: Gateway | undefined; ahead?: StageAhead; watch?: Pick<StageOptions, 'arrived'> }

/** Stages while the gateway's problems are read: staged files are where no gateway reads. A failure leaves no files and no pending call. */
export async function stageContents(
  deps: StageDeps,
  run: Run,
  signal: AbortSignal,
): Promise<{ staged: StagedRun; problems: string[] | undefined }> {
  const over = new AbortController()
  const asked = problemsBefore(deps.gateway, run.status, AbortSignal.any([signal, over.signal]))
  // The await below handles its failure; a failed staging does not wait for it.
  asked.catch(() => undefined)
  try {
    const staged = await stage(deps, run, signal)
    try {
      return { staged, problems: await asked }
    } catch (error) {
      await discard(staged)
      throw error
    }
  } finally {
    over.abort()
  }
}

/** Stages all new content and validates the rendered part of it. Leaves no files on failure. */
async function stage(deps: StageDeps, run: Run, signal: AbortSignal): Promise<StagedRun> {
  const { target, manifest, prepared } = run
  const staged = await doStep(deps, 'stage', target.commit, () => stageAll(deps, run, deps.boundary ?? (() => undefined), signal))
  try {
    const check = () => checkRenderedFiles(target, manifest, prepared, staged, signal)
    const { findings, folders } = await doStep(deps, 'check', target.commit, check)
    staged.findings.push(...findings)
    staged.classified = folders
    return staged
  } catch (error) {
    await discard(staged)
    throw error
  }
}

/** `folders` are those of the validated resources: earlier findings about them are out of date. */
type RenderedVerdict = { findings: Finding[]; folders: ReadonlySet<string> }

/**
 * Returns the findings about the rendered resources that a run would change. Throws CollectionsInvalid, with the findings, if one is an
 * error and the policy is Enforce.
 */
async function checkRenderedFiles(
  target: SyncTarget,
  manifest: Manifest,
  prepared: Prepared,
  run: StagedRun,
  signal: AbortSignal,
): Promise<RenderedVerdict> {
  const { validation } = target
  const { plan, diff } = prepared
  const rendered = prepared.renderer === undefined || validation.policy === 'Off' ? [] : changedByRendering(manifest, prepared, run)
  if (rendered.length === 0) return { findings: [], folders: new Set() }
  const { checkRendered } = await import('./check/check-rendered.ts')
  const view = viewStaged(run.location, plan, run.layout)
  const chain = diff.chain.length > 0 ? diff.chain : listFolders(view, collectionsFolder).filter(isDelivered)
  const content = { rendered, view, chain, mode: activeMode(target, manifest.state)?.name, rules: validation.rules }
  const { findings, errors, folders } = await checkRendered(content, signal)
  const reported = findings.map(({ rule, path, message }) => ({ rule, path, message }))
  const [first] = reported
  if (errors === 0 || first === undefined || validation.policy !== 'Enforce') return { findings: reported, folders }
  const more = errors === 1 ? '' : `, and ${errors - 1} more`
  const message = `the output of templates or patches is invalid: ${first.path}: ${first.message} (${first.rule})${more}`
  throw new Refused('CollectionsInvalid', message, reported)
}

/** Whether a folder of collections can be delivered; `local` and hidden ones never are. */
function isDelivered(name: string): boolean {
  return foldName(name) !== 'local' && !name.startsWith('.')
}

/** The changing files in the collections that are rendered, or share a folder with rendered ones: together they form resources. */
function changedByRendering({ files }: Manifest, { plan }: Prepared, { staged }: StagedRun): string[] {
  const folders = new Set<string>()
  const add = (path: string | undefined): void => {
    if (path !== undefined && isInCollections(path)) folders.add(parentOf(path))
  }
  for (const [path, { rendered }] of files) if (rendered !== undefined) add(path)
  for (const index of staged.rendered.keys()) add(plan.puts[index]?.path)
  const hasRendered = (path: string): boolean => {
    for (let folder = parentOf(path); folder.length > collectionsFolder.length; folder = parentOf(folder)) {
      if (folders.has(folder)) return true
    }
    return false
  }
  return [...plan.puts, ...plan.deletes].flatMap(({ path }) => (isInCollections(path) && hasRendered(path) ? [path] : []))
}

function isInCollections(path: string): boolean {
  return path.startsWith(`${collectionsFolder}/`)
}
