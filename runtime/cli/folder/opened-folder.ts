/**
 * Opens a data directory and the repository that it is synced from, for `plan`, `drift` and `capture`. Fetched data is in a temporary folder, which
 * is removed afterwards.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { systemClock } from '../../platform/clock.ts'
import { findMode, type Mode } from '../../api/mode.ts'
import { readProxies } from '../../settings/environment.ts'
import { Fault } from '../../platform/fault.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation } from '../../api/names.ts'
import { resolveProfile, syncHash } from '../../api/schema/profile.ts'
import type { CommitHash } from '../../api/values.ts'
import { silentLog } from '../../platform/log/log.ts'
import { type Mirror, type Remote, createMirrors } from '../../git/mirrors.ts'
import { createRemotes } from '../../git/remotes.ts'
import { readSecretFolder } from '../../standalone/secrets.ts'
import { parseStandaloneSync, parseTargets, type StandaloneSync } from '../../standalone/settings.ts'
import type { SyncTarget } from '../../sync/cycle.ts'
import { readSmallFile } from '../../sync/disk/disk.ts'
import { readManifestFile, requireFolder } from '../named-files.ts'

/** The command line options: `file` holds one GatewaySync, `data` is the gateway's data directory. */
export type FolderOptions = { file: string; data: string; profile?: string; mode?: string; secrets?: string }

/** The mode of the running gateway; `''` is none, undefined is unknown. */
type Live = { liveMode?: string | undefined }

/** `scratch` is a temporary folder. */
export type Opened = { mirror: Mirror; scratch: string }

export type OpenedFolder = Opened & {
  sync: StandaloneSync
  /** The desired content of the folder at a commit, with the profile and mode of its sync. */
  desiredAt(commit: CommitHash, ref: string): SyncTarget
}

/** An ignition.conf has a few kilobytes. */
const maxConfBytes = 256 * 1024

/** Runs `use` and closes everything that was opened for it. Throws InvalidConfiguration, InvalidSpec and what `use` throws. */
export async function withFolder<Value>(
  options: FolderOptions & Live,
  use: (folder: OpenedFolder) => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const sync = parseStandaloneSync(readManifestFile(options.file), options.file)
  const [target] = parseTargets({ target: [], data: options.data, gateway: undefined, profile: options.profile }, sync, process.cwd())
  if (target === undefined) throw new Fault('InvalidConfiguration', '--data is needed')
  requireFolder(target.dataDir, '--data')
  const profile = resolveProfile(sync.spec.sync, target.profile)
  const remote = async (done: AbortSignal): Promise<Remote> => {
    const remoteOf = createRemotes({
      allowLocal: true,
      allowedHosts: [],
      readSecret: readSecretFolder(options.secrets),
      network: { resolve: undefined, proxy: readProxies() },
      clock: systemClock,
      signal: done,
    })
    return await remoteOf(sync.namespace, sync.spec.git, signal)
  }
  return await withMirror(
    remote,
    async ({ mirror, scratch }) =>
      await use({
        sync,
        mirror,
        scratch,
        desiredAt: (commit, ref) => ({
          commit,
          ref,
          profile,
          syncHash: syncHash(profile, sync.spec.gateway),
          dataDir: target.dataDir,
          paused: false,
          confirmDeletions: sync.annotations[confirmDeletionsAnnotation] === commit ? commit : undefined,
          confirmOverwrites: sync.annotations[confirmOverwritesAnnotation] === commit ? commit : undefined,
          validation: sync.spec.validation,
          facts: {
            gatewayName: target.name,
            podName: target.name,
            ordinal: 0,
            podLabels: {},
            namespace: sync.namespace,
            mode: modeOf(target.dataDir, options),
          },
        }),
      }),
    signal,
  )
}

/** Opens a mirror of a repository in a temporary folder; both are removed afterwards. `remote` gets a signal that is aborted then. */
export async function withMirror<Value>(
  remote: (done: AbortSignal) => Promise<Remote>,
  use: (opened: Opened) => Promise<Value>,
  signal: AbortSignal,
): Promise<Value> {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-'))
  const done = new AbortController()
  const network = { resolve: undefined, proxy: readProxies() }
  const mirrors = createMirrors({ folder: scratch, clock: systemClock, log: silentLog, network })
  try {
    return await use({ mirror: mirrors.of(await remote(AbortSignal.any([signal, done.signal]))), scratch })
  } finally {
    done.abort()
    await mirrors.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The mode on the command line, otherwise that of the running gateway, otherwise the one that it is configured to start with. */
function modeOf(dataDir: string, { mode, liveMode }: Pick<FolderOptions, 'mode'> & Live): Mode {
  const ignitionConf = readSmallFile(path.join(dataDir, 'ignition.conf'), maxConfBytes)?.toString('utf8')
  return findMode({ target: mode, ignitionConf, gateway: liveMode })
}
