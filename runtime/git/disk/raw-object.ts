/**
 * Reads a commit or a tag byte by byte as git stores it, to check its signature.
 */
import { Fault } from '../../platform/fault.ts'
import type { CommitHash } from '../../api/values.ts'

/** Larger than any sensible commit or tag with its message. */
const maxObjectBytes = 1024 * 1024

type Local = (args: readonly string[], signal: AbortSignal, input: string) => Promise<Buffer>

/** Undefined when the mirror holds no such object. Throws NotVerified for one over 1 MiB, and the faults of git. */
export async function readRawObject(
  local: Local,
  type: 'commit' | 'tag',
  id: CommitHash,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  const found = await local(['cat-file', '--batch-check=%(objecttype) %(objectsize)'], signal, `${id}\n`)
  const [kind, size] = found.toString('latin1').trim().split(' ')
  if (kind !== type) return undefined
  if (Number(size) > maxObjectBytes) throw new Fault('NotVerified', `${type} ${id} is larger than ${maxObjectBytes} bytes`)
  return await local(['cat-file', type, id], signal, '')
}
