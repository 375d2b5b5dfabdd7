/**
 * Checks whether processes run: by ID and start time, since IDs are reused.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** A zombie does not count as alive, such as in a container whose first process does not reap. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return statOf(pid)?.[0] !== 'Z'
  } catch {
    return false
  }
}

/** The start time of a process in clock ticks since boot; undefined if it does not exist. */
export function startOf(pid: number): string | undefined {
  return statOf(pid)?.[19]
}

/** The first child of a process; undefined while it has none. */
export function childOf(pid: number): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .find((each) => Number.isInteger(each) && Number(statOf(each)?.[1]) === pid)
}

/** The fields of /proc/<pid>/stat after the name of the program. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
