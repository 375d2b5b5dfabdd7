/**
 * Records since when a gateway has been waiting for the agent to let it start, and since when agents of its pod have tried to recover an
 * interrupted apply. A restarted agent continues the wait of its pod: a deadline that restarted with each restart of a crashing agent would
 * never pass.
 */
import * as v from 'valibot'
import { currentBootId, sinceBootMs } from './clean-marker.ts'
import { diskFault, ensureEngineFolder, ownershipOf, readSmallFile, removeFile, writeDurably } from './disk.ts'
import { withEngineFolder } from './folders.ts'

const firstStartSchema = v.object({ pod: v.string(), bootId: v.string(), atMs: v.pipe(v.number(), v.minValue(0)) })
type FirstStart = v.InferOutput<typeof firstStartSchema>

const startFile = 'first-start'
const recoveryFile = 'first-recovery'
const maxBytes = 1024

/**
 * Returns the milliseconds since an agent of this pod (by its uid) first started over this data directory; 0 for the first start, which is
 * recorded. A wait counts within one boot of the machine, because wall clocks jump. Throws DataDirectoryMissing, SymbolicLink, NotWritable,
 * DiskFull.
 */
export function sinceFirstStart(dataDir: string, pod: string): number {
  return sinceFirst(startFile, dataDir, pod)
}

/** The same since an agent first tried to recover an interrupted apply. `apply`: the pod's uid and the id of the apply. */
export function sinceFirstRecovery(dataDir: string, apply: string): number {
  return sinceFirst(recoveryFile, dataDir, apply)
}

/** Removes the record of these attempts. Throws errors of the file system. */
export function forgetRecovery(dataDir: string): void {
  withEngineFolder(dataDir, (engine) => {
    removeFile(engine.at(recoveryFile))
  })
}

function sinceFirst(fileName: string, dataDir: string, pod: string): number {
  const now: FirstStart = { pod, bootId: currentBootId(), atMs: sinceBootMs() }
  try {
    ensureEngineFolder(dataDir, ownershipOf(dataDir))
    return withEngineFolder(dataDir, (engine) => {
      const first = parse(readSmallFile(engine.at(fileName), maxBytes)?.toString('utf8'))
      if (first?.pod === pod && first.bootId === now.bootId && first.atMs <= now.atMs) return now.atMs - first.atMs
      writeDurably(engine.at(fileName), [JSON.stringify(now)])
      return 0
    })
  } catch (error) {
    throw diskFault(error, `.cluster-sync/${fileName}`)
  }
}

/** Parses a record; undefined for anything that no agent has written. */
function parse(text: string | undefined): FirstStart | undefined {
  try {
    const parsed = v.safeParse(firstStartSchema, JSON.parse(text ?? ''))
    return parsed.success ? parsed.output : undefined
  } catch {
    return undefined
  }
}
