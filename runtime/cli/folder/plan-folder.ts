/**
 * Computes the plan of a sync: with the mode of the gateway, the findings that would prevent publishing, and the local changes.
 */
import path from 'node:path'
import { systemClock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { openAttemptLog } from '../../validation/worker/attempt-log.ts'
import { openIsolatedValidator } from '../../validation/worker/isolated-validation.ts'
import { connectGateway } from '../../gateway/gateway.ts'
import { followedRef } from '../../api/followed-ref.ts'
import { type CommitHash, parseRefName } from '../../api/values.ts'
import { resolveProfile } from '../../api/schema/profile.ts'
import { sourceRoots } from '../../api/schema/source-roots.ts'
import { silentLog } from '../../platform/log/log.ts'
import { readSecretFile } from '../../standalone/secrets.ts'
import { modeFindings } from '../../sync/model/findings.ts'
import { activeMode } from '../../sync/model/desired.ts'
import { readManifest } from '../../sync/disk/manifest-file.ts'
import { diffPlan } from '../../sync/plan/preview.ts'
import { prepare } from '../../sync/plan/make-plan.ts'
import { type FolderOptions, type OpenedFolder, withFolder } from './opened-folder.ts'
import type { PlanReport } from './plan-text.ts'
import { workSignal } from '../stop.ts'

export type PlanOptions = FolderOptions & { ref?: string; gateway?: string; apiKeyFile?: string }

/** Larger contents are listed, but not compared. */
export const diffLimits = { files: 200, fileBytes: 256 * 1024, totalBytes: 32 * 1024 * 1024 }
const timeoutMs = 600_000
const gatewayTimeoutMs = 10_000

/** Throws what resolving, reading, querying the gateway and planning throw. */
export async function planFolder(options: PlanOptions): Promise<PlanReport> {
  const signal = workSignal(timeoutMs)
  const live = await liveMode(options, signal)
  return await withFolder({ ...options, liveMode: live }, (opened) => plan(options, opened, signal), signal)
}

/** The mode of the running gateway; undefined without a gateway. */
async function liveMode({ gateway: url, apiKeyFile }: PlanOptions, signal: AbortSignal): Promise<string | undefined> {
  if (url === undefined) return undefined
  if (!/^https?:\/\//.test(url)) throw new Fault('InvalidConfiguration', `--gateway: "${url}" is not an http or https URL`)
  const apiKey = async () => (apiKeyFile === undefined ? undefined : await readSecretFile(apiKeyFile, '--api-key-file'))
  const gateway = connectGateway({ url, apiKey, clock: systemClock, log: silentLog })
  const info = await gateway.info(AbortSignal.any([signal, AbortSignal.timeout(gatewayTimeoutMs)]))
  return info.deploymentMode ?? ''
}

async function plan(options: PlanOptions, opened: OpenedFolder, signal: AbortSignal): Promise<PlanReport> {
  const { sync, mirror, desiredAt } = opened
  const ref = options.ref === undefined ? followedRef(sync.spec.git) : parseRefName(options.ref)
  const { commit } = await mirror.resolve(ref, { fresh: true }, signal)
  // A sync checks for local changes in the next cycle at the latest.
  const target = { ...desiredAt(commit, ref), checkDrift: true }
  const source = mirror.source(() => sourceRoots(target.profile))
  const manifest = readManifest(target.dataDir)
  const active = activeMode(target, manifest.state)
  const mode = active ?? { name: '', from: 'None' }
  const checked = await checkCommit(opened, commit, mode.name, signal)
  const prepared = await prepare({ source }, target, manifest, 'as-configured', signal)
  const changes = await diffPlan(source, target, prepared, diffLimits, signal)
  const { drift } = prepared
  const { added, changed, removed } = prepared.plan.counts
  return {
    commit,
    ref,
    mode,
    counts: { added, changed, removed },
    changes,
    problems: prepared.plan.problems,
    findings: [...modeFindings(active), ...prepared.findings].filter((finding) => !isIn(checked, finding)),
    drift: drift === undefined || drift.count === 0 ? undefined : drift,
    checked,
  }
}

/** Whether validation reports the finding too, whose path may be relative to the folder of the collections. */
function isIn(checked: PlanReport['checked'], { rule, path: where }: PlanReport['findings'][number]): boolean {
  if (where === '') return false
  return checked?.items.some((item) => item.rule === rule && `/${item.path}`.endsWith(`/${where}`)) === true
}

/** Validates the commit as before publishing; without `mode`: in every mode. */
export async function checkCommit(
  { sync, mirror, scratch }: Pick<OpenedFolder, 'sync' | 'mirror' | 'scratch'>,
  commit: CommitHash,
  mode: string,
  signal: AbortSignal,
): Promise<PlanReport['checked']> {
  const { validation, git, sync: settings } = sync.spec
  if (validation.policy === 'Off') return undefined
  const validator = openIsolatedValidator({
    clock: systemClock,
    log: silentLog,
    attemptLog: openAttemptLog(path.join(scratch, 'checking.json')),
  })
  const request = {
    profiles: Object.keys(settings.profiles).map((name) => resolveProfile(settings, name)),
    validation,
    modesInUse: mode === '' ? undefined : [mode],
    commit,
    line: `${git.repo} ${followedRef(git)}`,
  }
  try {
    const by = { namespace: '', again: true }
    const verdict = await mirror.readBy(commit, async (repository) => await validator.validate(repository, request, by, signal), signal)
    if (verdict.kind === 'notChecked') return undefined
    const { errors, warnings, items } = verdict
    return { errors, warnings, items, refused: validation.policy === 'Enforce' && errors > 0 }
  } finally {
    await validator.close()
  }
}
