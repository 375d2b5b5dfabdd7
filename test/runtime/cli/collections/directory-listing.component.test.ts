/**
 * Reading of directory files of any size relative to the chunk size.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { directoryListing } from '../../../../runtime/cli/collections/directory-listing.ts'
import type { FileEntry } from '../../../../runtime/validation/model/listing.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const chunkBytes = 256 * 1024

void t.test('a file is announced with its size and read completely', async (t) => {
  const folder = temporaryFolder(t, 'directory-listing')
  mkdirSync(path.join(folder, 'below'))
  const sizes = [0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 2 * chunkBytes, 3 * chunkBytes + 7]
  for (const size of sizes) writeFileSync(path.join(folder, 'below', String(size)), Buffer.alloc(size, size))
  const listing = directoryListing(folder, 'below')
  const signal = AbortSignal.timeout(30_000)
  const entries: FileEntry[] = []
  for await (const batch of listing.list(signal)) entries.push(...batch)
  const arrived: { path: string; announced: number; content: Buffer }[] = []
  let chunks: Buffer[] = []
  let begun = { path: '', announced: -1 }
  await listing.read(
    entries,
    {
      begin: ({ path }, announced) => ([begun, chunks] = [{ path, announced }, []]),
      data: (chunk) => void chunks.push(Buffer.from(chunk)),
      end: () => void arrived.push({ ...begun, content: Buffer.concat(chunks) }),
    },
    signal,
  )
  t.equal(arrived.length, sizes.length)
  for (const { path, announced, content } of arrived) {
    const size = Number(path.slice('below/'.length))
    t.equal(announced, size)
    t.ok(content.equals(Buffer.alloc(size, size)), `${size} bytes as they are on the disk`)
  }
})
