/**
 * Measures a process and its descendants by /proc, for the memory of all of them together: the kernel's limit is one of each process.
 */
import { readFileSync } from 'node:fs'

/** Bytes of anonymous memory, without file pages. 0 for a process that has ended, and on systems without /proc. */
export function anonymousBytes(pid: number): number {
  const [, kibibytes = '0'] = /^RssAnon:\s+([0-9]+) kB$/m.exec(readText(`/proc/${pid}/status`)) ?? []
  const children = readText(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean)
  return children.reduce((sum, child) => sum + anonymousBytes(Number(child)), Number(kibibytes) * 1024)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
