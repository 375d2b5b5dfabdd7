/**
 * The state that the standalone runner keeps across restarts: requests, status, reports. One file, replaced as a whole.
 */
import { lstatSync, mkdirSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import { Fault } from '../platform/fault.ts'
import { syncReportStatus } from '../api/schema/report.ts'
import { gatewaySyncStatus } from '../api/schema/status.ts'
import { diskFault, errorCode, readSmallFile, writeDurably } from '../sync/disk/disk.ts'
import { isOfOtherVersion, jsonOrUndefined } from '../platform/text/json.ts'

const version = 1
const stateSchema = v.object({
  version: v.literal(version),
  /** The GatewaySync that the state belongs to. */
  namespace: v.string(),
  name: v.string(),
  uid: v.string(),
  /** Counts the versions of the spec, as an API server does; `specHash` shows when to count. */
  generation: v.number(),
  specHash: v.string(),
  /** The spec as written, for `cluster-sync status`; older versions saved none. */
  spec: v.optional(v.unknown()),
  annotations: v.record(v.string(), v.string()),
  status: gatewaySyncStatus,
  /** By target. */
  reports: v.record(v.string(), syncReportStatus),
})
/** The content of the state file. */
export type RunnerState = v.InferOutput<typeof stateSchema>

const fileName = 'state.json'
/** A report has 16 KiB at most; more than a thousand targets take. */
const maxStateBytes = 64 * 1024 * 1024

/** One folder at a time: where nothing can be created, as below /proc, Node's recursive mkdir would loop forever. */
function makeFolders(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    const code = errorCode(error)
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || path.dirname(folder) === folder) throw error
    makeFolders(path.dirname(folder))
    mkdirSync(folder, { mode: 0o700 })
  }
}

/**
 * Creates the folder if necessary and reads its state; undefined if there is none yet. Throws StateUnreadable, leaving the file unchanged;
 * NotWritable, PublishFailed.
 */
export function openState(folder: string): RunnerState | undefined {
  try {
    makeFolders(folder)
  } catch (error) {
    throw diskFault(error, folder)
  }
  return readState(folder)
}

/** Reads the state in a folder without changing it; undefined if there is none. Throws StateUnreadable, NotWritable. */
export function readState(folder: string): RunnerState | undefined {
  const file = path.join(folder, fileName)
  let content: Buffer | undefined
  try {
    content = readSmallFile(file, maxStateBytes)
    if (content === undefined && lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined
  } catch (error) {
    throw diskFault(error, file)
  }
  const found = jsonOrUndefined(content?.toString('utf8') ?? '')
  const parsed = v.safeParse(stateSchema, found)
  if (parsed.success) return parsed.output
  const what = isOfOtherVersion(found, version) ? 'was written by another version of this program' : 'is damaged'
  throw new Fault('StateUnreadable', `${file} ${what}; remove it to start without it (open requests are lost)`)
}

/** Saves the state; creates the folder again if it was removed. Throws DiskFull, NotWritable. */
export function writeState(folder: string, state: RunnerState): void {
  const file = path.join(folder, fileName)
  try {
    makeFolders(folder)
    writeDurably(file, [JSON.stringify(state)])
  } catch (error) {
    throw diskFault(error, file)
  }
}
