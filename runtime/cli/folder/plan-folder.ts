/**
 * Makes the plan that a sync would carry out: with the mode that the gateway has, the checks that would keep the commit from being
 * published, and what was changed locally.
 */
import path from 'node:path'
import { systemClock } from '../../clock.ts'
import { Fault } from '../../fault.ts'
import { createMarks } from '../../gate/marks.ts'
import { openIsolatedGate } from '../../gate/isolate.ts'
import { connectGateway } from '../../gateway/gateway.ts'
import { type CommitHash, parseRefName } from '../../gatewaysync/values.ts'
import { resolveProfile } from '../../gatewaysync/decide/profile.ts'
import { sourceRoots } from '../../gatewaysync/decide/source-roots.ts'
import { silentLog } from '../../log.ts'
import { readSecretFile } from '../../standalone/secrets.ts'
import { modeFindings } from '../../sync/model/findings.ts'
import { activeMode } from '../../sync/model/wanted.ts'
import { readManifest } from '../../sync/disk/manifest-file.ts'
import { diffPlan } from '../../sync/plan/preview.ts'
import { prepare } from '../../sync/plan/make-plan.ts'
import { type FolderOptions, type OpenedFolder, withFolder } from './opened-folder.ts'
import type { PlanReport } from './plan-text.ts'
import { workSignal } from '../stop.ts'

export type PlanOptions = FolderOptions & { ref?: string; gateway?: string; apiKeyFile?: string }

/** Contents beyond this are named, not compared. */
export const diffLimits = { files: 200, fileBytes: 256 * 1024, totalBytes: 32 * 1024 * 1024 }
const timeoutMs = 600_000
const askGatewayMs = 10_000

/** Throws what resolving, reading, asking the gateway and planning throw. */
export async function planFolder(options: PlanOptions): Promise<PlanReport> {
  const signal = workSignal(timeoutMs)
  const live = await liveMode(options, signal)
  return await withFolder({ ...options, liveMode: live }, (opened) => plan(options, opened, signal), signal)
}

/** What the running gateway says of itself; undefined where none is named. */
async function liveMode({ gateway: url, apiKeyFile }: PlanOptions, signal: AbortSignal): Promise<string | undefined> {
  if (url === undefined) return undefined
  if (!/^https?:\/\//.test(url)) throw new Fault('InvalidConfiguration', `--gateway: "${url}" is not an http or https URL`)
  const apiKey = async () => (apiKeyFile === undefined ? undefined : await readSecretFile(apiKeyFile, '--api-key-file'))
  const gateway = connectGateway({ url, apiKey, clock: systemClock, log: silentLog })
  const info = await gateway.info(AbortSignal.any([signal, AbortSignal.timeout(askGatewayMs)]))
  return info.deploymentMode ?? ''
}

async function plan(options: PlanOptions, opened: OpenedFolder, signal: AbortSignal): Promise<PlanReport> {
  const { sync, mirror, wantedAt } = opened
  const ref = parseRefName(options.ref ?? sync.spec.git.ref)
  const { commit } = await mirror.resolve(ref, { fresh: true }, signal)
  // A sync looks for local changes with the next cycle at the latest.
  const wanted = { ...wantedAt(commit, ref), thorough: true }
  const source = mirror.source(() => sourceRoots(wanted.profile))
  const manifest = readManifest(wanted.dataDir)
  const active = activeMode(wanted, manifest.state)
  const mode = active ?? { name: '', from: 'none' }
  const checked = await checkCommit(opened, commit, mode.name, signal)
  const prepared = await prepare({ source }, wanted, manifest, 'as-configured', signal)
  const changes = await diffPlan(source, wanted, prepared, diffLimits, signal)
  const { drift } = prepared
  const { added, changed, removed } = prepared.plan.counts
  return {
    commit,
    ref,
    mode,
    counts: { added, changed, removed },
    changes,
    problems: prepared.plan.problems,
    findings: [...modeFindings(active), ...prepared.findings],
    drift: drift === undefined || drift.count === 0 ? undefined : drift,
    checked,
  }
}

/** What the gate in front of every publication says of the commit; no `mode`: in every one of them. */
export async function checkCommit(
  { sync, mirror, scratch }: Pick<OpenedFolder, 'sync' | 'mirror' | 'scratch'>,
  commit: CommitHash,
  mode: string,
  signal: AbortSignal,
): Promise<PlanReport['checked']> {
  const { validation, git, sync: settings } = sync.spec
  if (validation.policy === 'Off') return undefined
  const gate = openIsolatedGate({ clock: systemClock, log: silentLog, marks: createMarks(path.join(scratch, 'checking.json')) })
  const request = {
    profiles: Object.keys(settings.profiles).map((name) => resolveProfile(settings, name)),
    validation,
    modesInUse: mode === '' ? undefined : [mode],
    commit,
    line: `${git.repo} ${git.ref}`,
  }
  try {
    const verdict = await mirror.readBy(commit, async (repository) => await gate.check(repository, request, true, signal), signal)
    if (verdict.kind === 'notChecked') return undefined
    const { errors, warnings, items } = verdict
    return { errors, warnings, items, refused: validation.policy === 'Enforce' && errors > 0 }
  } finally {
    await gate.close()
  }
}
