/**
 * Reads a commit or a tag byte by byte as git stores it, to check its signature, and refuses large ones.
 */
import { Fault } from '../../platform/fault.ts'
import { type CommitHash, parseCommitHash, printable } from '../../api/values.ts'
import { Temporal } from '../../platform/temporal.ts'

/** Larger than any sensible commit or tag with its message. */
const maxObjectBytes = 1024 * 1024
const mebibyte = 1024 * 1024

type Local = (args: readonly string[], signal: AbortSignal, input: string) => Promise<Buffer>

/** Reads an object; undefined if the mirror has no such object. Throws NotVerified for one over 1 MiB, and the faults of git. */
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

/** `committed`: its commit time, RFC 3339, or undefined if it claims an impossible one; absent when it was not read. */
export type SmallObject = { id: CommitHash; type: string; committed?: { at: string | undefined } }

/**
 * Returns the id and type of an object without reading it: a pack of 40 KB may hold a commit of 40 MiB. Throws RepositoryTooLarge for a commit or tag over 1 MiB,
 * GitObjectMissing, and the faults of git.
 */
export async function requireSmallObject(local: Local, name: string, signal: AbortSignal): Promise<SmallObject> {
  const found = await local(['cat-file', '--batch-check=%(objectname) %(objecttype) %(objectsize)'], signal, `${name}\n`)
  return smallObject(found, name)
}

/** Like `requireSmallObject`, with the commit time. A single call of git, because every push waits for it. */
export async function requireSmallHead(local: Local, ref: string, signal: AbortSignal): Promise<SmallObject> {
  const format = '%(objectname) %(objecttype) %(objectsize) %(committerdate:unix)'
  try {
    const found = await local(['for-each-ref', `--format=${format}`, ref], signal, '')
    const [, , , seconds = ''] = found.toString('latin1').trim().split(' ')
    return { ...smallObject(found, ref), committed: { at: commitTime(seconds) } }
  } catch (error) {
    if (!(error instanceof Fault) || error.reason !== 'GitOutOfMemory') throw error
    return await requireSmallObject(local, ref, signal)
  }
}

function smallObject(found: Buffer, name: string): SmallObject {
  const [id = '', type = '', size] = found.toString('latin1').trim().split(' ')
  if (size === undefined) throw new Fault('GitObjectMissing', `the mirror has no object ${printable(name)}`)
  if ((type === 'commit' || type === 'tag') && Number(size) > maxObjectBytes) {
    const mebibytes = (Number(size) / mebibyte).toFixed(1)
    throw new Fault('RepositoryTooLarge', `${type} ${id} takes ${mebibytes} MiB; a ${type} with its message may take 1 MiB`)
  }
  return { id: parseCommitHash(id), type }
}

/** RFC 3339; undefined for an impossible time. */
export function commitTime(seconds: string): string | undefined {
  const value = Number(seconds)
  const isTime = Number.isSafeInteger(value) && value > 0 && value < 8_640_000_000_000
  return isTime ? Temporal.Instant.fromEpochMilliseconds(value * 1000).toString({ smallestUnit: 'second' }) : undefined
}
