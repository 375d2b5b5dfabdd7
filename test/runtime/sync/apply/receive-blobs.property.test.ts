/**
 * Tests that for any blob sizes and splits each file contains exactly its content, and a damaged blob reaches no file.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { BlobId } from '../../../../runtime/content/protocol/protocol.ts'
import type { PutTarget } from '../../../../runtime/sync/apply/large-blobs.ts'
import { ownershipOf } from '../../../../runtime/sync/disk/disk.ts'
import { openFolders } from '../../../../runtime/sync/disk/folders.ts'
import { createReceiver, createStageFolders, maxBufferedBytes, type Staged } from '../../../../runtime/sync/apply/receive-blobs.ts'
import { blobIdOf } from '../../../../runtime/sync/model/manifest.ts'
import { throwsError } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const sha1 = '0'.repeat(40) as BlobId
const size = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 3_000 }) },
  fc.constantFrom(0, maxBufferedBytes - 1, maxBufferedBytes, maxBufferedBytes + 1, 300_000),
)
/** `files` is the number of files with the content; `pieces` is the number of chunks. */
const blob = fc.record({ size, files: fc.constantFrom(1, 1, 1, 2, 3), pieces: fc.integer({ min: 1, max: 4 }), rendered: fc.boolean() })
const blobs = fc.array(blob, { minLength: 1, maxLength: 150 })

type Blob = typeof blob extends fc.Arbitrary<infer Value> ? Value : never

function contentOf({ size: length }: Blob, index: number): Buffer {
  return Buffer.alloc(length, `content ${index} `)
}

/** A receiver that writes to a folder, and its staged files. Rendered files contain their content twice. */
function setUp(t: Pick<Test, 'teardown'>, given: readonly Blob[]) {
  const dataDir = temporaryFolder(t, 'receive')
  mkdirSync(path.join(dataDir, 'run'))
  const folders = openFolders(dataDir)
  t.teardown(() => folders.close())
  const ownership = ownershipOf(dataDir)
  const staged: Staged = { stats: [], rendered: new Map() }
  const targets = given.map((each, index) => {
    const count = given.slice(0, index).reduce((sum, { files }) => sum + files, 0)
    return Array.from({ length: each.files }, (_, at): PutTarget => {
      const put = {
        path: `d${index % 7}/${index}-${at}${each.rendered ? '.rendered' : ''}`,
        id: sha1,
        size: each.size,
        exec: at > 0,
        mapping: 0,
      }
      return { put, index: count + at }
    })
  })
  const all = targets.flat()
  const receiver = createReceiver({
    folders: createStageFolders({ run: 'run', folders, ownership, placeOf: (index) => all[index]?.put.path ?? '' }),
    ownership,
    staged,
    needsRender: ({ path: name }) => name.endsWith('.rendered'),
    render: (_put, content) => ({ content: Buffer.concat([content, content]), rendered: { uses: [], key: '', id: sha1 } }),
  })
  const receive = (index: number, id: BlobId, content: Buffer): void => {
    const [first, ...others] = targets[index] ?? []
    if (first === undefined) return
    receiver.begin(id, content.length, [first, ...others])
    const step = Math.ceil(content.length / (given[index]?.pieces ?? 1))
    for (let at = 0; at < content.length; at += step) receiver.data(content.subarray(at, at + step))
    receiver.end()
  }
  return { run: path.join(dataDir, 'run'), all, targets, receiver, receive, staged }
}

void t.test('each file contains exactly its content', async (t) => {
  fc.assert(
    fc.property(blobs, (given) => {
      const { run, all, targets, receiver, receive, staged } = setUp(t, given)
      for (const [index, each] of given.entries()) receive(index, blobIdOf(sha1, contentOf(each, index)), contentOf(each, index))
      receiver.finish()
      for (const [index, each] of given.entries()) {
        const content = contentOf(each, index)
        const expected = each.rendered ? Buffer.concat([content, content]) : content
        for (const { put, index: at } of targets[index] ?? []) {
          const found = readFileSync(path.join(run, put.path))
          if (!found.equals(expected)) throw new Error(`${put.path} holds something else`)
          if (staged.stats[at]?.size !== expected.length || staged.rendered.has(at) !== each.rendered)
            throw new Error(`${put.path} is not told of`)
        }
      }
      return staged.stats.length === all.length
    }),
    { numRuns: 30 },
  )
})

void t.test('a blob that does not match its ID is refused, and a small one is not written', async (t) => {
  fc.assert(
    fc.property(blobs, fc.nat(), (given, where) => {
      const at = where % given.length
      const { run, targets, receiver, receive } = setUp(t, given)
      let refused: unknown
      try {
        for (const [index, each] of given.entries()) {
          const content = contentOf(each, index)
          receive(index, blobIdOf(sha1, index === at ? Buffer.concat([content, Buffer.from('!')]) : content), content)
        }
        receiver.finish()
      } catch (error) {
        refused = error
      }
      receiver.abandon()
      const written = new Set(readdirSync(run, { recursive: true }).map(String))
      const isWritten = (targets[at] ?? []).some(({ put }) => written.has(put.path))
      const isLarge = (given[at]?.size ?? 0) > maxBufferedBytes && given[at]?.rendered === false
      return (refused as { reason?: string } | undefined)?.reason === 'DeliveryFailed' && (isLarge || !isWritten)
    }),
    { numRuns: 30 },
  )
})

void t.test('a blob shorter or longer than announced is refused', async (t) => {
  for (const length of [10, maxBufferedBytes + 10]) {
    const given: Blob = { size: length, files: 1, pieces: 1, rendered: false }
    const content = contentOf(given, 0)
    const id = blobIdOf(sha1, content)
    const begun = (): ReturnType<typeof setUp>['receiver'] => {
      const { receiver, targets } = setUp(t, [given])
      const [target] = targets[0] ?? []
      if (target !== undefined) receiver.begin(id, length, [target])
      return receiver
    }
    const shorter = begun()
    shorter.data(content.subarray(1))
    throwsError(t, () => shorter.end(), {
      reason: 'DeliveryFailed',
      message: `blob ${id} arrived damaged (${length - 1} of ${length} bytes)`,
    })
    shorter.abandon()
    const longer = begun()
    longer.data(content)
    throwsError(t, () => longer.data(content), { reason: 'DeliveryFailed', message: `blob ${id} is longer than announced` })
    longer.abandon()
  }
})
