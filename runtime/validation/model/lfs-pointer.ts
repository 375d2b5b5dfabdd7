/**
 * Detects the pointer that Git LFS stores in git in place of a file. Pure.
 */

/** The first line of every pointer, without the version. */
const start = Buffer.from('version https://git-lfs.github.com/spec/')
/** Longer files are not pointers: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md. */
const maxPointerBytes = 1024

/** Whether this is a pointer in place of the content, which a gateway would read as the content. */
export function isLfsPointer(content: Uint8Array): boolean {
  if (content[0] !== start[0] || content.length > maxPointerBytes) return false
  return content.length >= start.length && start.equals(content.subarray(0, start.length))
}
