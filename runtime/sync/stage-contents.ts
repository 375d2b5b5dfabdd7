/**
 * The step between plan and publish: all new content aside and checked, and what the gateway complains of before any of it is in place.
 */
import type { Source } from '../delivery/protocol.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { checkRenderedFiles } from './check/policy.ts'
import { problemsBefore } from './gateway-session.ts'
import { discard, type Run, stageAll, type StagedRun } from './publish/publish.ts'
import type { OpenDeps } from './publish/open-folder.ts'
import type { StageAhead } from './publish/stage-ahead.ts'
import type { StageOptions } from './publish/stage.ts'
import { doStep, type StepDeps } from './step.ts'

type StageDeps = StepDeps &
  OpenDeps & { source: Source; gateway: Gateway | undefined; ahead?: StageAhead; watch?: Pick<StageOptions, 'arrived'> }

/**
 * Stages while the gateway says what it complains of: nothing that is staged lies where a gateway reads. Leaves nothing behind when it fails,
 * and no question either.
 */
export async function stageContents(
  deps: StageDeps,
  run: Run,
  signal: AbortSignal,
): Promise<{ staged: StagedRun; problems: string[] | undefined }> {
  const over = new AbortController()
  const asked = problemsBefore(deps.gateway, run.status, AbortSignal.any([signal, over.signal]))
  // Whoever awaits it below gets its failure; staging that fails first does not wait for it.
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

/** Writes all new content aside and checks the rendered part of it. Leaves nothing behind when that fails. */
async function stage(deps: StageDeps, run: Run, signal: AbortSignal): Promise<StagedRun> {
  const { wanted, manifest, prepared } = run
  const staged = await doStep(deps, 'stage', wanted.commit, () => stageAll(deps, run, deps.boundary ?? (() => undefined), signal))
  try {
    const check = () => checkRenderedFiles(wanted, manifest, prepared, staged, signal)
    const { findings, folders } = await doStep(deps, 'check', wanted.commit, check)
    staged.findings.push(...findings)
    staged.judged = folders
    return staged
  } catch (error) {
    discard(staged)
    throw error
  }
}
