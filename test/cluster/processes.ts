/**
 * Which processes are there: by the id, and by the time of their start, as ids are given out again.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** One that has ended and that nobody has taken note of yet, as in a container whose first process takes no note of any, is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return statOf(pid)?.[0] !== 'Z'
  } catch {
    return false
  }
}

/** When a process was started, in ticks since the machine was; undefined for one that is not there. */
export function startOf(pid: number): string | undefined {
  return statOf(pid)?.[19]
}

/** The first child of a process; undefined while it has none. */
export function childOf(pid: number): number | undefined {
  return readdirSync('/proc')
    .map(Number)
    .find((each) => Number.isInteger(each) && Number(statOf(each)?.[1]) === pid)
}

/** The fields of /proc/<pid>/stat behind the name of the program. */
function statOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
