/**
 * The step between plan and apply: stages and validates all new content, and reads the gateway's problems before any of it is in place.
 */
import type { Source } from '../content/protocol/protocol.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { checkRenderedFiles } from './check/policy.ts'
import { problemsBefore } from './gateway-session.ts'
import { discard, type Run, stageAll, type StagedRun } from './apply/apply.ts'
import type { OpenDeps } from './apply/open-folder.ts'
import type { StageAhead } from './apply/stage-ahead.ts'
import type { StageOptions } from './apply/stage.ts'
import { doStep, type StepDeps } from './step.ts'

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
      discard(staged)
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
    discard(staged)
    throw error
  }
}
