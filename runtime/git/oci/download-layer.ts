/**
 * Downloads the layer of an artifact. The import of a layer takes memory that namespaces share, so it waits for no registry.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, writeFile } from 'node:fs/promises'
import type { Digest } from '../../api/artifact-revision.ts'
import { systemClock } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { releasePiece } from '../../http/body.ts'
import { createUnnamedFile } from '../command/unnamed-file.ts'
import type { Layer } from './manifest.ts'
import { networkFault } from './network-fault.ts'

type From = { registry: { openBlob(digest: Digest, signal: AbortSignal): Promise<AsyncIterable<Buffer>> }; host: string; layer: Layer }

const timeoutMs = 600_000
/** As for a pack: the layer must arrive within `startMs`, and a second more for each `minBytesPerSecond`. */
const startMs = 60_000
const minBytesPerSecond = 4 * 1024

/** A layer on the disk; `content` reads it from its beginning. */
export type DownloadedLayer = { content(): AsyncIterable<Buffer>; close(): Promise<void> }

const pieceBytes = 64 * 1024

/**
 * Downloads to a file without a name, on the disk of `folder`; the caller closes it. Throws RepositoryRefused unless the layer has the
 * digest and the size that the manifest names, GitTimeout, and the faults of a registry.
 */
export async function downloadLayer(from: From, folder: string, signal: AbortSignal): Promise<DownloadedLayer> {
  const file = await createUnnamedFile(folder)
  try {
    await writeFile(file, checkedLayer(from, await from.registry.openBlob(from.layer.digest, signal)))
    return { content: () => contentOf(file), close: async () => file.close() }
  } catch (error) {
    await file.close()
    signal.throwIfAborted()
    throw error
  }
}

async function* contentOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let at = 0; ;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(pieceBytes), 0, pieceBytes, at)
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

async function* checkedLayer({ host, layer: { digest, size } }: From, content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  const startedMs = systemClock.monotonicMs()
  let arrived = 0
  try {
    for await (const chunk of content) {
      arrived += chunk.length
      if (arrived > size) break
      const tookMs = systemClock.monotonicMs() - startedMs
      if (tookMs > startMs + (arrived / minBytesPerSecond) * 1000)
        throw new Fault('GitTimeout', `${host} sends less than ${minBytesPerSecond / 1024} KiB/s`)
      if (tookMs > timeoutMs) throw new Fault('GitTimeout', `${host} did not send the layer within ${timeoutMs / 1000} s`)
      hash.update(chunk)
      yield chunk
      // It is on the disk now. With the garbage of a quick registry, a layer of 60 MiB took 20 MiB more.
      releasePiece(chunk)
    }
  } catch (error) {
    throw networkFault(error, host)
  }
  if (arrived !== size || `sha256:${hash.digest('hex')}` !== digest)
    throw new Fault('RepositoryRefused', `${host} sent a layer that does not have the digest ${digest} of the manifest`)
}
