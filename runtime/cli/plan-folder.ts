/**
 * Makes the plan that a sync would carry out, and tells it file by file.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { systemClock } from '../clock.ts'
import { configuredMode } from '../collections/model/mode.ts'
import { readProxies } from '../config.ts'
import { Fault } from '../fault.ts'
import { resolveProfile, sourceRoots, syncHash } from '../gatewaysync/decide/profile.ts'
import { parseRefName } from '../gatewaysync/values.ts'
import { silentLog } from '../log.ts'
import { createMirrors } from '../source/mirrors.ts'
import { createRemotes } from '../source/remotes.ts'
import { readSecretFolder } from '../standalone/secrets.ts'
import { parseStandaloneSync, parseTargets } from '../standalone/settings.ts'
import { modeFindings } from '../sync/model/findings.ts'
import { activeMode } from '../sync/model/wanted.ts'
import type { Wanted } from '../sync/cycle.ts'
import { readSmallFile } from '../sync/disk/disk.ts'
import { readManifest } from '../sync/disk/manifest-file.ts'
import { diffPlan, diffText, type FileDiff } from '../sync/plan/preview.ts'
import { prepare, type Prepared } from '../sync/plan/make-plan.ts'
import { readManifestFile, requireFolder } from './named-files.ts'

export type PlanOptions = {
  file: string
  data: string
  profile?: string
  mode?: string
  ref?: string
  secrets?: string
  format: 'text' | 'json'
}

/** An ignition.conf has a few kilobytes. */
const maxConfBytes = 256 * 1024
/** Contents beyond this are named, not compared. */
const limits = { files: 200, fileBytes: 256 * 1024, totalBytes: 32 * 1024 * 1024 }
const timeoutMs = 600_000

/** Throws what resolving, reading and planning throw. */
export async function planFolder(options: PlanOptions): Promise<{ text: string; changes: boolean }> {
  const sync = parseStandaloneSync(readManifestFile(options.file), options.file)
  const [target] = parseTargets({ target: [], data: options.data, gateway: undefined, profile: options.profile }, sync, process.cwd())
  if (target === undefined) throw new Fault('InvalidConfiguration', '--data is needed')
  requireFolder(target.dataDir, '--data')
  const signal = AbortSignal.timeout(timeoutMs)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-plan-'))
  const network = { resolve: undefined, proxy: readProxies() }
  const done = new AbortController()
  const mirrors = createMirrors({ folder, clock: systemClock, log: silentLog, network })
  try {
    const remoteOf = createRemotes({
      allowLocal: true,
      allowedHosts: [],
      readSecret: readSecretFolder(options.secrets),
      network,
      clock: systemClock,
      signal: AbortSignal.any([signal, done.signal]),
    })
    const mirror = mirrors.of(await remoteOf(sync.namespace, sync.spec.git, signal))
    const ref = parseRefName(options.ref ?? sync.spec.git.ref)
    const { commit } = await mirror.resolve(ref, { fresh: true }, signal)
    const profile = resolveProfile(sync.spec.sync, target.profile)
    const conf = readSmallFile(path.join(target.dataDir, 'ignition.conf'), maxConfBytes)?.toString('utf8')
    const mode = options.mode === undefined ? configuredMode({ ignitionConf: conf }) : { name: options.mode, from: 'target' as const }
    const wanted: Wanted = {
      commit,
      ref,
      profile,
      syncHash: syncHash(profile, sync.spec.gateway),
      dataDir: target.dataDir,
      paused: false,
      validation: sync.spec.validation,
      facts: {
        gatewayName: target.name,
        podName: target.name,
        ordinal: 0,
        podLabels: {},
        namespace: sync.namespace,
        mode: mode ?? { name: '', from: 'none' },
      },
    }
    const source = mirror.source(() => sourceRoots(profile))
    const manifest = readManifest(target.dataDir)
    const modes = modeFindings(activeMode(wanted, manifest.state))
    const planned = await prepare(source, wanted, manifest, 'as-configured', signal)
    const prepared = { ...planned, findings: [...modes, ...planned.findings] }
    return tell(options.format, commit, prepared, await diffPlan(source, wanted, prepared, limits, signal))
  } finally {
    done.abort()
    await mirrors.close()
    rmSync(folder, { recursive: true, force: true })
  }
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
