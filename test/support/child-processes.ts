/**
 * The child processes of this process, as the system reports them.
 */
import { readdirSync, readFileSync } from 'node:fs'

/** `hasEnded`: a zombie, whose ID is still in use. */
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
