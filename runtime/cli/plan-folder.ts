/**
 * Makes the plan that a sync would carry out, and tells it file by file.
 */
import { parseRefName } from '../gatewaysync/values.ts'
import { sourceRoots } from '../gatewaysync/decide/source-roots.ts'
import { modeFindings } from '../sync/model/findings.ts'
import { activeMode } from '../sync/model/wanted.ts'
import { readManifest } from '../sync/disk/manifest-file.ts'
import { diffPlan, diffText, type FileDiff } from '../sync/plan/preview.ts'
import { prepare, type Prepared } from '../sync/plan/make-plan.ts'
import { type FolderOptions, type OpenedFolder, withFolder } from './opened-folder.ts'

export type PlanOptions = FolderOptions & { ref?: string; format: 'text' | 'json' }

/** Contents beyond this are named, not compared. */
const limits = { files: 200, fileBytes: 256 * 1024, totalBytes: 32 * 1024 * 1024 }
const timeoutMs = 600_000

/** Throws what resolving, reading and planning throw. */
export async function planFolder(options: PlanOptions): Promise<{ text: string; changes: boolean }> {
  const signal = AbortSignal.timeout(timeoutMs)
  return await withFolder(options, (opened) => plan(options, opened, signal), signal)
}

async function plan(
  options: PlanOptions,
  { sync, mirror, wantedAt }: OpenedFolder,
  signal: AbortSignal,
): Promise<{ text: string; changes: boolean }> {
  const ref = parseRefName(options.ref ?? sync.spec.git.ref)
  const { commit } = await mirror.resolve(ref, { fresh: true }, signal)
  const wanted = wantedAt(commit, ref)
  const source = mirror.source(() => sourceRoots(wanted.profile))
  const manifest = readManifest(wanted.dataDir)
  const modes = modeFindings(activeMode(wanted, manifest.state))
  const planned = await prepare(source, wanted, manifest, 'as-configured', signal)
  const prepared = { ...planned, findings: [...modes, ...planned.findings] }
  return tell(options.format, commit, prepared, await diffPlan(source, wanted, prepared, limits, signal))
}

function tell(
  format: PlanOptions['format'],
  commit: string,
  { plan, findings }: Prepared,
  changes: readonly FileDiff[],
): { text: string; changes: boolean } {
  const { added, changed, removed } = plan.counts
  if (format === 'json') {
    const document = { commit, added, changed, removed, changes, problems: plan.problems, findings }
    return { text: `${JSON.stringify(document, undefined, 2)}\n`, changes: changes.length > 0 }
  }
  const problems = plan.problems.map(({ reason, message }) => `! ${message} (${reason})`)
  const remarks = findings.map(({ rule, path: at, message }) => `! ${at === '' ? '' : `${at}: `}${message} (${rule})`)
  return {
    text: [
      ...(changes.length === 0 ? [] : [diffText(changes)]),
      ...problems,
      ...remarks,
      `${added} to add, ${changed} to change, ${removed} to remove at ${commit}`,
      '',
    ].join('\n'),
    changes: changes.length > 0,
  }
}
