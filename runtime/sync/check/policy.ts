/**
 * Decides whether a run rendered any resources and what their validation means: findings to report, or a refusal.
 */
import { foldName, parentOf } from '../../api/values.ts'
import type { StagedRun } from '../apply/apply.ts'
import type { Finding } from '../model/findings.ts'
import { activeMode, type SyncTarget } from '../model/desired.ts'
import { Refused } from '../model/findings.ts'
import { listFolders, viewStaged } from './staged-view.ts'
import type { Manifest } from '../model/manifest.ts'
import { collectionsFolder } from '../model/paths.ts'
import type { Prepared } from '../plan/make-plan.ts'

/** `folders` are those of the validated resources: earlier findings about them are out of date. */
export type RenderedVerdict = { findings: Finding[]; folders: ReadonlySet<string> }

/**
 * Returns the findings about the rendered resources that a run would change. Throws CollectionsInvalid, with the findings, if one is an
 * error and the policy is Enforce.
 */
export async function checkRenderedFiles(
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
  const { checkRendered } = await import('./check-rendered.ts')
  const view = viewStaged(run.places, plan, run.layout)
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
