/**
 * What is said of content that is no content: a pointer of Git LFS.
 */
import { isLfsPointer } from '../../collections/model/lfs-pointer.ts'
import type { Finding } from '../model/findings.ts'

/** One finding for a pointer, none for anything else. */
export function lfsFinding(path: string, content: Uint8Array): Finding[] {
  if (!isLfsPointer(content)) return []
  return [{ rule: 'lfs-pointer', path, message: 'is a pointer of Git LFS and not the content; keep the file in git itself' }]
}
