/**
 * What the standalone runner remembers over a restart: the requests, the status, the reports. One file, replaced as a whole.
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
  /** As the file says it, for who asks how the run stands; an older run kept none. */
  spec: v.optional(v.unknown()),
  annotations: v.record(v.string(), v.string()),
  status: gatewaySyncStatus,
  /** By target. */
  reports: v.record(v.string(), syncReportStatus),
})
export type RunnerState = v.InferOutput<typeof stateSchema>

const fileName = 'state.json'

/** One after the other: where nothing can be made, as below /proc, a recursive mkdir of Node tries for ever. */
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
 * Makes the folder if need be and reads what is in it; undefined when there is nothing yet. Throws StateUnreadable, and leaves the file as
 * it is; NotWritable, PublishFailed.
 */
export function openState(folder: string): RunnerState | undefined {
  try {
    makeFolders(folder)
  } catch (error) {
    throw diskFault(error, folder)
  }
  return readState(folder)
}

/** What a run keeps in a folder, which is left as it is; undefined when there is nothing. Throws StateUnreadable, NotWritable. */
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

/** A folder that somebody took away is made anew. Throws DiskFull, NotWritable. */
export function writeState(folder: string, state: RunnerState): void {
  const file = path.join(folder, fileName)
  try {
    makeFolders(folder)
    writeDurably(file, [JSON.stringify(state)])
  } catch (error) {
    throw diskFault(error, file)
  }
}
