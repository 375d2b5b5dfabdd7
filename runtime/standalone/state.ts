/**
 * What the standalone runner remembers over a restart: the requests, the status, the reports. One file, replaced as a whole.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'
import { Fault } from '../fault.ts'
import { syncReportStatus } from '../gatewaysync/report.ts'
import { gatewaySyncStatus } from '../gatewaysync/status.ts'
import { diskFault, isMissing, writeDurably } from '../sync/disk.ts'

const stateSchema = v.object({
  version: v.literal(1),
  uid: v.string(),
  /** Counts the versions of the spec, as an API server does; `specHash` tells when to count. */
  generation: v.number(),
  specHash: v.string(),
  annotations: v.record(v.string(), v.string()),
  status: gatewaySyncStatus,
  /** By target. */
  reports: v.record(v.string(), syncReportStatus),
})
export type RunnerState = v.InferOutput<typeof stateSchema>

const fileName = 'state.json'

/** Undefined when there is none yet. Throws StateUnreadable; the file is left as it is. */
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

/** Throws DiskFull, NotWritable. */
export function writeState(folder: string, state: RunnerState): void {
  const file = path.join(folder, fileName)
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeDurably(file, [JSON.stringify(state)])
  } catch (error) {
    throw diskFault(error, file)
  }
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
