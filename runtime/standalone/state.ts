/**
 * What the standalone runner remembers across a restart: requests, status, reports. One file, replaced as a whole.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import { Fault } from '../fault.ts'
import { syncReportStatus } from '../gatewaysync/schema/report.ts'
import { gatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { diskFault, errorCode, isMissing, writeDurably } from '../sync/disk/disk.ts'
import { jsonOrUndefined } from '../json.ts'

const stateSchema = v.object({
  version: v.literal(1),
  /** The GatewaySync that it is about. */
  namespace: v.string(),
  name: v.string(),
  uid: v.string(),
  /** Counts the versions of the spec, as an API server does; `specHash` tells when to count. */
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

/** One folder at a time: where nothing can be created, as below /proc, Node's recursive mkdir would loop for ever. */
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
 * Creates the folder if need be and reads the state in it; undefined when there is none yet. Throws StateUnreadable, leaving the file as it is;
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

/** Reads the state in a folder without changing it; undefined when there is none. Throws StateUnreadable, NotWritable. */
export function readState(folder: string): RunnerState | undefined {
  const file = path.join(folder, fileName)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw diskFault(error, file)
  }
  const parsed = v.safeParse(stateSchema, jsonOrUndefined(text))
  if (parsed.success) return parsed.output
  throw new Fault('StateUnreadable', `${file} is damaged; remove it to start anew (open requests are then forgotten)`)
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
