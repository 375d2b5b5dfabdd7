/** Which process a pid means: the kernel gives a pid again, but not with the same start. */
import { readFileSync } from 'node:fs'

/** Clock ticks since boot at which a process started; undefined: there is none, or `/proc` does not tell. `pid`: a number, or `self`. */
export function startTimeOf(pid: string): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // Field 22 of proc(5); the name before it may hold spaces and parentheses.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
