/**
 * The processes that this one has started, as the system sees them.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** `hasEnded`: nobody has taken note of its end yet, so that its number is taken. */
export type ChildProcess = { pid: number; hasEnded: boolean }

export function childProcesses(): ChildProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      const [, state, parent] = /\) (\w) (\d+) /.exec(readFileSync(`/proc/${name}/stat`, 'latin1')) ?? []
      return parent === String(process.pid) ? [{ pid: Number(name), hasEnded: state === 'Z' }] : []
    } catch {
      return []
    }
  })
}
