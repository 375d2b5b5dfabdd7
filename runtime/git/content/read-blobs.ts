/**
 * Streams blobs out of a mirror by `git cat-file --batch`, in the order of the ids.
 */
import * as fs from 'node:fs'
import { framesReader } from '../../content/protocol/content-frames.ts'
import type { BlobSink } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import type { CommitHash } from '../../api/values.ts'
import { type BatchedPipe, openBatchedPipe } from '../command/batched-pipe.ts'
import { waitForEnd, type GitLimits, type GitProcess, type GitRun, startGit, type StartGit } from '../command/git.ts'
import { rechunk } from './rechunk.ts'

type Repository = { folder: string; limits: GitLimits; start?: StartGit }

const timeoutMs = 600_000
/** Chunk size for the reader: four TLS records. */
const pieceBytes = 64 * 1024
/** With at least this many blobs a batched pipe is worth the process (mkfifo) that creates it. */
const manyBlobs = 500

/** Streams blobs into a sink. Throws CommitGone for a blob that does not exist, DeliveryFailed when git ends early, and what the sink throws. */
export async function readBlobs(repository: Repository, ids: readonly CommitHash[], sink: BlobSink, signal: AbortSignal): Promise<void> {
  const reader = framesReader(sink)
  for await (const chunk of batch(repository, ids, signal)) reader.take(chunk)
  requireAll(reader.count(), ids)
}

/**
 * The blobs in git's own frames, for a caller that only passes them on. They are parsed, so that a missing blob ends the stream, but not
 * changed. Throws as `readBlobs` does.
 */
export async function* frameBlobs(repository: Repository, ids: readonly CommitHash[], signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = framesReader({ begin() {}, data() {}, end() {} })
  for await (const chunk of batch(repository, ids, signal)) {
    reader.take(chunk)
    yield chunk
  }
  requireAll(reader.count(), ids)
}

function requireAll(count: number, ids: readonly CommitHash[]): void {
  if (count !== ids.length) throw new Fault('DeliveryFailed', `git returned ${count} of ${ids.length} blobs`)
}

async function* batch(
  { folder, limits, start = startGit }: Repository,
  ids: readonly CommitHash[],
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const run = { folder, args: ['cat-file', '--batch', '--buffer'], timeoutMs }
  const pipe = ids.length < manyBlobs ? undefined : await openBatchedPipe(folder)
  const child = startWith(pipe, (more) => start({ ...run, ...more }, limits))
  const own = new AbortController()
  const ended = waitForEnd(child, run, AbortSignal.any([signal, own.signal]))
  ended.catch(() => undefined)
  child.stdin.on('error', () => undefined)
  child.stdin.end(`${ids.join('\n')}\n`)
  let complete = false
  try {
    yield* pipe === undefined ? rechunk(child.stdout, pieceBytes) : pipe.chunks()
    await ended
    complete = true
  } finally {
    if (!complete) own.abort(new Error('the client has disconnected'))
  }
}

/**
 * Closes this process's writing end of the pipe in any case, so that git is its only writer, and the reading end too when git does not
 * start.
 */
function startWith(pipe: BatchedPipe | undefined, start: (more: Pick<GitRun, 'output'>) => GitProcess): GitProcess {
  try {
    return start(pipe === undefined ? {} : { output: pipe.input })
  } catch (error) {
    pipe?.close()
    throw error
  } finally {
    if (pipe !== undefined) fs.closeSync(pipe.input)
  }
}
