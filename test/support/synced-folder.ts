/**
 * A separate data directory, and the engine that syncs it to trees and profiles of the test.
 */
import type { Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import type { ResolvedProfile } from '../../runtime/api/schema/profile.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { type CycleDeps, type CycleResult, type EngineMemory, runCycle, type SyncTarget } from '../../runtime/sync/cycle.ts'
import { listTree } from '../../scripts/quickstart/check.ts'
import { memorySource, type Tree, desiredOf } from './memory-source.ts'
import { temporaryFolder } from './repository.ts'

export function syncedFolder(t: Pick<Test, 'teardown'>, name: string) {
  const dataDir = temporaryFolder(t, name)
  const source = memorySource()
  const memory: EngineMemory = { manifest: undefined }
  const signal = AbortSignal.timeout(120_000)
  const sync = async (
    tree: Tree,
    profile: ResolvedProfile,
    more: Partial<SyncTarget> = {},
    deps: Partial<CycleDeps> = {},
  ): Promise<CycleResult> =>
    await runCycle(
      { source, gateway: undefined, clock: systemClock, log: silentLog, memory, ...deps },
      desiredOf(dataDir, source.commit(tree), profile, more),
      signal,
    )
  /** All files except the engine's own. */
  const files = (): string[] => listTree(dataDir).filter((file) => !file.startsWith('.cluster-sync/'))
  return { dataDir, sync, files, memory }
}
