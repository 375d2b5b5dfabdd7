/**
 * Records on disk which checks were started and did not end, so that a commit that kills the process is not retried endlessly. An entry costs
 * a small file for each check; in the status of a GatewaySync it would cost a write to the API server before each publication.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'

/** Attempts by the id of a validation (`validationId`). Never throws. */
export type AttemptLog = {
  /** Whether an attempt was in progress when the process ended, or is now. */
  has(id: string): boolean
  /** Records an attempt and returns its number, from 1. */
  begin(id: string): number
  /** The attempt has ended, for any reason. */
  end(id: string): void
  forget(id: string): void
}

const attempts = v.record(v.string(), v.pipe(v.number(), v.integer(), v.minValue(1)))
/** The maximum number of entries: few checks are running when a process ends. */
const maxEntries = 100

/** `file` must outlive the process; if it cannot be read or written, nothing counts as attempted before. */
export function openAttemptLog(file: string): AttemptLog {
  const begun = readEntries(file)
  const write = (): void => {
    try {
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(`${file}.tmp`, JSON.stringify(Object.fromEntries(begun)))
      renameSync(`${file}.tmp`, file)
    } catch {
      // A full disk must not prevent a check.
    }
  }
  return {
    has: (id) => begun.has(id),
    begin(id) {
      const attempt = (begun.get(id) ?? 0) + 1
      begun.delete(id)
      begun.set(id, attempt)
      const [oldest] = begun.keys()
      if (begun.size > maxEntries && oldest !== undefined) begun.delete(oldest)
      write()
      return attempt
    },
    end(id) {
      if (begun.delete(id)) write()
    },
    forget: (id) => void begun.delete(id),
  }
}

function readEntries(file: string): Map<string, number> {
  try {
    return new Map(Object.entries(v.parse(attempts, JSON.parse(readFileSync(file, 'utf8')))))
  } catch {
    return new Map()
  }
}
