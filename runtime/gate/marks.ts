/**
 * Remembers on disk which checks were begun and did not end, so that a commit with which the process itself ends is not tried for ever.
 * A mark costs a small file at each check; in the status of a GatewaySync it would be a write to the API server before each publication.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import * as v from 'valibot'

export type AttemptMarks = {
  /** Returns the how many-th attempt this is. */
  begin(id: string): number
  /** It has ended, however it did. */
  end(id: string): void
  forget(id: string): void
}

const attempts = v.record(v.string(), v.pipe(v.number(), v.integer(), v.minValue(1)))
/** Few checks are under way when a process ends. */
const maxMarks = 100

/** `file` stands on a disk that outlives the process; what cannot be read or written there is as if nothing had been begun before. */
export function createMarks(file: string): AttemptMarks {
  const begun = readMarks(file)
  const write = (): void => {
    try {
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(`${file}.tmp`, JSON.stringify(Object.fromEntries(begun)))
      renameSync(`${file}.tmp`, file)
    } catch {
      // A full disk holds up no check.
    }
  }
  return {
    begin(id) {
      const attempt = (begun.get(id) ?? 0) + 1
      begun.delete(id)
      begun.set(id, attempt)
      const [oldest] = begun.keys()
      if (begun.size > maxMarks && oldest !== undefined) begun.delete(oldest)
      write()
      return attempt
    },
    end(id) {
      if (begun.delete(id)) write()
    },
    forget: (id) => void begun.delete(id),
  }
}

function readMarks(file: string): Map<string, number> {
  try {
    return new Map(Object.entries(v.parse(attempts, JSON.parse(readFileSync(file, 'utf8')))))
  } catch {
    return new Map()
  }
}
