/**
 * Reads a commit or a tag byte by byte as git stores it, to check its signature, and refuses large ones.
 */
import { Fault } from '../../platform/fault.ts'
import { type CommitHash, parseCommitHash, printable } from '../../api/values.ts'

/** Larger than any sensible commit or tag with its message. */
const maxObjectBytes = 1024 * 1024
const mebibyte = 1024 * 1024

type Local = (args: readonly string[], signal: AbortSignal, input: string) => Promise<Buffer>

/** Undefined when the mirror has no such object. Throws NotVerified for one over 1 MiB, and the faults of git. */
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

/**
 * The id and type of an object, which is not read: a pack of 40 KB may hold a commit of 40 MiB. Throws
 * RepositoryTooLarge for a commit or tag over 1 MiB, GitObjectMissing, and the faults of git.
 */
export async function requireSmallObject(local: Local, name: string, signal: AbortSignal): Promise<{ id: CommitHash; type: string }> {
  const found = await local(['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)'], signal, `${name}\n`)
  const [id = '', type = '', size] = found.toString('latin1').trim().split(' ')
  if (size === undefined) throw new Fault('GitObjectMissing', `the mirror has no object ${printable(name)}`)
  if ((type === 'commit' || type === 'tag') && Number(size) > maxObjectBytes) {
    const mebibytes = (Number(size) / mebibyte).toFixed(1)
    throw new Fault('RepositoryTooLarge', `${type} ${id} takes ${mebibytes} MiB; a ${type} with its message may take 1 MiB`)
  }
  return { id: parseCommitHash(id), type }
}
