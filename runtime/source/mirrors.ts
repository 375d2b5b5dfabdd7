/**
 * All mirrors of one process, one for each repository and credentials.
 */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { GitLimits } from './git.ts'
import { type Network, openNetwork } from './connect.ts'
import { type Mirror, openMirror } from './mirror.ts'
import { requireOwnFolder } from './mirror-folder.ts'
import { rememberOffers } from './offers.ts'
import { mirrorKey, type NamedRemote, type Remote, repositoryKey } from './remote.ts'

export type { Mirror } from './mirror.ts'
export type { NamedRemote, Remote } from './remote.ts'

export type Mirrors = {
  /** Throws InvalidConfiguration where others may write to the folder. */
  of(remote: Remote): Mirror
  /**
   * Removes all mirrors but those of these repositories, also what an earlier process has left. Where the credentials of one are not
   * known now, every mirror of its repository stays.
   */
  prune(named: readonly NamedRemote[]): Promise<void>
  /** Ends what is under way. */
  close(): Promise<void>
}

type Options = {
  /** On disk, not in memory; losing it costs one fetch. */
  folder: string
  clock: Clock
  log: Log
  /** The commits that anybody needs, in whichever mirror; a clean-up drops the others. Undefined while that is not known: all of them. */
  needed?: () => ReadonlySet<string> | undefined
  maxPackBytes?: number
  network?: Network
}

/** Two similar texts of 20 MB need 42 MiB; a delta has no other bound (git.md section 1). */
const maxMemoryBytes = 96 * 1024 * 1024
const usualMaxPackBytes = 1024 * 1024 * 1024

export function createMirrors({
  folder,
  clock,
  log,
  needed = () => undefined,
  maxPackBytes = usualMaxPackBytes,
  network = openNetwork,
}: Options): Mirrors {
  const mirrors = new Map<string, Mirror>()
  const stopping = new AbortController()
  const offers = rememberOffers()
  const limits: GitLimits = { maxMemoryBytes, maxPackBytes }
  return {
    of(remote) {
      const key = mirrorKey(remote)
      const known = mirrors.get(key)
      if (known !== undefined) return known
      requireOwnFolder(folder)
      const mirror = openMirror({
        folder: path.join(folder, key),
        remote,
        network,
        limits,
        offers,
        needed,
        clock,
        log,
        signal: stopping.signal,
      })
      mirrors.set(key, mirror)
      return mirror
    },
    async prune(named) {
      const kept = new Set(named.map(({ url, access }) => (access === undefined ? repositoryKey(url) : mirrorKey({ url, access }))))
      for (const name of existsSync(folder) ? readdirSync(folder) : []) {
        const [, key, repository = ''] = /^(([0-9a-f]{32})(?:-[0-9a-f]{32})?)(?:\.new)?$/.exec(name) ?? []
        if (key === undefined || kept.has(key) || kept.has(repository)) continue
        // The entry stays: whoever still has a question under way and whoever asks anew must have one writer.
        await mirrors.get(key)?.drop()
        rmSync(path.join(folder, name), { recursive: true, force: true })
      }
    },
    async close() {
      stopping.abort(new Error('closing'))
      await Promise.all([...mirrors.values()].map((mirror) => mirror.settled()))
    },
  }
}
