/**
 * Makes the layer of an artifact one commit without a parent: the same artifact is the same commit in every mirror.
 */
import { pipeline, type Writable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Digest } from '../../api/artifact-revision.ts'
import { Fault } from '../../platform/fault.ts'
import { type GitLimits, type GitRun, startGit, waitForEnd } from '../command/git.ts'
import { incomingRef } from '../disk/mirror-folder.ts'
import type { Artifact } from './manifest.ts'
import { readTar, type TarFile } from './tar.ts'

/** `content`: the layer, which has its digest. `maxBytes`: of the unpacked files. */
type Import = {
  folder: string
  limits: GitLimits
  artifact: Artifact
  digest: Digest
  content: AsyncIterable<Buffer>
  maxBytes: number
}

const timeoutMs = 600_000
const committer = 'cluster-sync <cluster-sync@localhost.invalid>'

/**
 * Leaves the commit under the ref of the last fetch; the folder is unchanged when this throws, except for unreferenced objects. Throws
 * RepositoryRefused, RepositoryTooLarge, GitTimeout, and the faults of git.
 */
export async function importArtifact(wanted: Import, signal: AbortSignal): Promise<void> {
  const { folder, limits } = wanted
  const settings = ['fastimport.unpackLimit=1']
  // Without deltas: neighbors in the archive rarely resemble each other, and a clean-up of the mirror finds those that do.
  const run: GitRun = { folder, args: ['fast-import', '--quiet', '--done', '--force', '--depth=0'], settings, timeoutMs }
  const child = startGit(run, limits)
  const failed = new AbortController()
  const ended = waitForEnd(child, run, AbortSignal.any([signal, failed.signal]))
  const over = new AbortController()
  ended.catch(() => over.abort())
  child.stdout.resume()
  child.stdin.on('error', () => undefined)
  try {
    await writeCommit(child.stdin, wanted, over.signal)
    child.stdin.end()
  } catch (error) {
    // If git has ended, its own error explains why.
    if (error !== gone) failed.abort(error)
  }
  await ended
}

async function writeCommit(to: Writable, { artifact, digest, content, maxBytes }: Import, signal: AbortSignal): Promise<void> {
  const text = `Artifact${artifact.revision === undefined ? '' : ` of ${artifact.revision}`}\n\n${digest}\n`
  const time = `${committer} ${artifact.created} +0000`
  const output = new Output(to)
  await output.add(`commit ${incomingRef}\nauthor ${time}\ncommitter ${time}\ndata ${Buffer.byteLength(text)}\n${text}\n`)
  for await (const file of readTar(unpacked(artifact, content, signal), maxBytes)) {
    await output.add(`M ${file.isExecutable ? '100755' : '100644'} inline ${quoted(file.path)}\ndata ${file.size}\n`)
    for await (const piece of file.content) await output.add(piece)
    await output.add('\n')
  }
  await output.add('done\n')
  await output.flush()
}

/** C style, which git reads for every path. */
function quoted(path: TarFile['path']): string {
  return `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`
}

const gone = new Error('git has ended')
const bufferBytes = 64 * 1024

/** Writes in large pieces out of one buffer: thousands of small ones would take longer, and as much memory as the whole layer. */
class Output {
  readonly #to: Writable
  readonly #buffer = Buffer.allocUnsafeSlow(bufferBytes)
  #used = 0

  constructor(to: Writable) {
    this.#to = to
  }

  /** Throws `gone`. */
  async add(piece: string | Uint8Array): Promise<void> {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    for (let at = 0; at < bytes.length;) {
      if (this.#used === bufferBytes) await this.flush()
      const part = bytes.subarray(at, at + bufferBytes - this.#used)
      this.#buffer.set(part, this.#used)
      this.#used += part.length
      at += part.length
    }
  }

  /** Settles when the buffer may be written again. Throws `gone`. */
  async flush(): Promise<void> {
    const full = this.#buffer.subarray(0, this.#used)
    this.#used = 0
    await new Promise<void>((resolve, reject) => {
      this.#to.write(full, (error) => (error == null ? resolve() : reject(gone)))
    })
  }
}

/** Throws `gone` once git has ended: an archive may be long without anything to write to git. */
async function* unpacked({ layer }: Artifact, content: AsyncIterable<Buffer>, signal: AbortSignal): AsyncGenerator<Buffer> {
  for await (const piece of layer.mediaType.endsWith('gzip') ? gunzipped(content) : content) {
    if (signal.aborted) throw gone
    yield piece
  }
}

async function* gunzipped(content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip()
  pipeline(content, gunzip, () => undefined)
  try {
    yield* gunzip as AsyncIterable<Buffer>
  } catch (error) {
    const isOfGzip = error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
    throw isOfGzip ? new Fault('RepositoryRefused', 'the layer of the artifact is not gzip', { cause: error }) : error
  }
}
