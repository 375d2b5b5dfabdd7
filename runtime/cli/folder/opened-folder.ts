/**
 * A data directory beside the repository that it is synced from: what `plan`, `drift` and `capture` look at. Everything that is fetched
 * lies in a folder of its own, which is gone afterwards.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { systemClock } from '../../clock.ts'
import { findMode, type Mode } from '../../collections/model/mode.ts'
import { readProxies } from '../../config.ts'
import { Fault } from '../../fault.ts'
import { confirmDeletionsAnnotation, confirmOverwritesAnnotation } from '../../gatewaysync/names.ts'
import { resolveProfile, syncHash } from '../../gatewaysync/decide/profile.ts'
import type { CommitHash } from '../../gatewaysync/values.ts'
import { silentLog } from '../../log.ts'
import { type Mirror, type Remote, createMirrors } from '../../source/mirrors.ts'
import { createRemotes } from '../../source/remotes.ts'
import { readSecretFolder } from '../../standalone/secrets.ts'
import { parseStandaloneSync, parseTargets, type StandaloneSync } from '../../standalone/settings.ts'
import type { Wanted } from '../../sync/cycle.ts'
import { readSmallFile } from '../../sync/disk/disk.ts'
import { readManifestFile, requireFolder } from '../named-files.ts'

/** What the command line says: `file` holds one GatewaySync, `data` is the gateway's data directory. */
export type FolderOptions = { file: string; data: string; profile?: string; mode?: string; secrets?: string }

/** What the running gateway says of its mode; `''` is none, undefined is not known. */
type Live = { liveMode?: string | undefined }

/** `scratch` is a folder for what is needed meanwhile. */
export type Opened = { mirror: Mirror; scratch: string }

export type OpenedFolder = Opened & {
  sync: StandaloneSync
  /** What the folder should hold at a commit, by the profile and mode that it is synced with. */
  wantedAt(commit: CommitHash, ref: string): Wanted
}

/** An ignition.conf has a few kilobytes. */
const maxConfBytes = 256 * 1024

/** Runs `use` and takes everything back that was opened for it. Throws InvalidConfiguration, InvalidSpec and what `use` throws. */
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
        wantedAt: (commit, ref) => ({
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

/** A mirror of a repository in a folder of its own, both gone afterwards. `remote` gets the signal of that end. */
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

/** The mode that somebody named, else that of the running gateway, else what it is set to start with. */
function modeOf(dataDir: string, { mode, liveMode }: Pick<FolderOptions, 'mode'> & Live): Mode {
  const ignitionConf = readSmallFile(path.join(dataDir, 'ignition.conf'), maxConfBytes)?.toString('utf8')
  return findMode({ target: mode, ignitionConf, gateway: liveMode })
}
