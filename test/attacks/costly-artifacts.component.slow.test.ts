/**
 * Artifacts of a tenant that are small to download, and take much memory or time to unpack.
 */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import t from 'tap'
import { importArtifact } from '../../runtime/git/oci/import-tree.ts'
import { readTar } from '../../runtime/git/oci/tar.ts'
import { archiveOf, entry } from '../support/archive.ts'
import { rejectsWith } from '../support/assertions.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'

const gibibyte = 2 ** 30

async function* repeated(piece: Buffer, times: number): AsyncGenerator<Buffer> {
  for (let count = 0; count < times; count += 1) yield piece
}

async function read(chunks: AsyncIterable<Buffer>): Promise<void> {
  await Array.fromAsync(readTar(chunks, gibibyte))
}

/** 200,000 empty folders with names of six digits. */
async function* folders(): AsyncGenerator<Buffer> {
  for (let start = 0; start < 200_000; start += 100)
    yield Buffer.concat(Array.from({ length: 100 }, (_, index) => numbered(String(start + index).padStart(6, '0'))))
}

const zeros = entry({ name: '000000', type: '5' })
const sumOfZeros = Number.parseInt(zeros.toString('latin1', 148, 154), 8)

function numbered(name: string): Buffer {
  const header = Buffer.from(zeros)
  header.write(name)
  const sum = Array.from(name).reduce((total, digit) => total + Number(digit), sumOfZeros)
  header.write(sum.toString(8).padStart(6, '0'), 148)
  return header
}

void t.test('an archive of very many empty folders is refused before their names take much memory', async (t) => {
  await rejectsWith(t, read(folders()), {
    reason: 'RepositoryTooLarge',
    message: 'the paths of the artifact exceed 12 MiB of memory',
  })
})

void t.test('an archive of very many headers without files is refused', async (t) => {
  const headers = Buffer.concat(Array.from({ length: 1_000 }, () => entry({ name: 'a', type: '5' })))
  await rejectsWith(t, read(repeated(headers, 401)), {
    reason: 'RepositoryTooLarge',
    message: 'the artifact has more than 400000 headers of files and folders',
  })
})

void t.test('extended headers that are long, or have many records, are refused', async (t) => {
  const refused = async (archive: AsyncIterable<Buffer>, why: string): Promise<void> => {
    await rejectsWith(t, read(archive), { reason: 'RepositoryRefused', message: `the artifact is refused: its archive has ${why}` })
  }
  const records = (count: number): Buffer => archiveOf({ name: 'x', type: 'x', content: '5 a=\n'.repeat(count) })
  await refused(repeated(records(51), 1), 'a header of more than 50 records')
  await read(repeated(records(50), 1))
  await refused(repeated(entry({ name: 'x', type: 'L', content: 'a'.repeat(64 * 1024 + 1) }), 1), 'headers that are too long')
  await refused(repeated(entry({ name: 'x', type: 'L', content: 'a'.repeat(64 * 1024) }), 513), 'headers that are too long')
})

void t.test('an import ends with its signal, also while nothing is written to git', async (t) => {
  if (!requires(t, 'git')) return
  const folder = path.join(temporaryFolder(t, 'costly-artifacts'), 'mirror.git')
  execFileSync('git', ['init', '-q', '--bare', folder])
  const stop = new AbortController()
  async function* endless(): AsyncGenerator<Buffer> {
    yield archiveOf({ name: 'a' })
    for (let count = 0; ; count += 1) {
      if (count === 10) stop.abort(new Error('stopped'))
      yield Buffer.alloc(512)
      await yieldToEventLoop()
    }
  }
  const digest = `sha256:${'a'.repeat(64)}` as const
  const layer = { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest, size: 1, annotations: {} }
  const limits = { maxMemoryBytes: gibibyte, maxPackBytes: gibibyte }
  const artifact = { layer, created: 0, revision: undefined }
  const wanted = { folder, limits, artifact, digest, content: endless(), maxBytes: 2 ** 50 }
  await rejectsWith(t, importArtifact(wanted, stop.signal), { message: 'stopped' })
})
