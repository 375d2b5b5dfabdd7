/**
 * What is said of content that is no content: a pointer of Git LFS.
 */
import { isLfsPointer } from '../../collections/model/lfs-pointer.ts'
import type { Finding } from '../model/findings.ts'

/** Adds a finding for a pointer, and none for anything else. */
export function noteLfsPointer(path: string, content: Uint8Array, findings: Finding[]): void {
  if (!isLfsPointer(content)) return
  findings.push({ rule: 'lfs-pointer', path, message: 'is a pointer of Git LFS and not the content; keep the file in git itself' })
}
