/**
 * Archives of the tar of this machine are read in every format, in pieces of any size; hostile ones are refused.
 */
import fc from 'fast-check'
import t from 'tap'
import { readTar } from '../../../../runtime/git/oci/tar.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { tarOf } from '../../../support/artifact-registry.ts'
import { archiveOf, entry } from '../../../support/archive.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const mebibyte = 1024 * 1024

async function* inPieces(archive: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < archive.length; at += bytes) yield archive.subarray(at, at + bytes)
}

/** Path and text of every file. */
async function read(archive: Buffer, pieceBytes = 700): Promise<Record<string, string>> {
  const files: [string, string][] = []
  for await (const { path: name, content } of readTar(inPieces(archive, pieceBytes), mebibyte)) {
    const chunks: Uint8Array[] = []
    for await (const chunk of content) chunks.push(chunk)
    files.push([name, Buffer.concat(chunks).toString()])
  }
  return Object.fromEntries(files)
}

async function faultOf(archive: Buffer): Promise<string> {
  try {
    return JSON.stringify(await read(archive))
  } catch (error) {
    return error instanceof Fault ? `${error.reason}: ${error.message}` : String(error)
  }
}

const name = fc
  .string({ unit: fc.constantFrom('a', 'B', '-', '_', 'é', '日', ' ', '"', '\\n'), minLength: 1, maxLength: 60 })
  .map((text) => `f${text}`)
const tree = fc.dictionary(
  fc.array(name, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('/')),
  fc.string({ maxLength: 3_000 }),
  {
    maxKeys: 6,
  },
)

void t.test('every file of an archive has its path and content', async (t) => {
  if (!requires(t, 'tar')) return
  const folder = temporaryFolder(t, 'tar')
  await fc.assert(
    fc.asyncProperty(
      tree,
      fc.constantFrom('ustar', 'gnu', 'pax'),
      fc.integer({ min: 1, max: 2_000 }),
      async (files, format, pieceBytes) => {
        const names = Object.keys(files)
        // One name cannot be a file and a folder, and ustar has room for 255 bytes.
        fc.pre(!names.some((one) => names.some((other) => other.startsWith(`${one}/`))))
        fc.pre(format !== 'ustar' || names.every((one) => Buffer.byteLength(one) < 90))
        const archive = tarOf(folder, files, format)
        t.strictSame(await read(archive, pieceBytes), { ...files })
      },
    ),
    { numRuns: 40 },
  )
})

function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const length = Buffer.byteLength(rest)
  const digits = String(length + String(length).length).length
  return `${length + digits}${rest}`
}

void t.test('entries that are no plain files below the root are refused by name', async (t) => {
  const refused: readonly (readonly [Buffer, string])[] = [
    [archiveOf({ name: '/etc/passwd' }), '"/etc/passwd" is not a path below the root of the artifact'],
    [archiveOf({ name: 'a/../../b' }), '"a/../../b" is not a path below the root of the artifact'],
    [archiveOf({ name: 'b', prefix: '..' }), '"../b" is not a path below the root of the artifact'],
    [archiveOf({ name: '..', type: '5' }), '".." is not a path below the root of the artifact'],
    [archiveOf({ name: 'a//b' }), '"a//b" is not a path below the root of the artifact'],
    [archiveOf({ name: '.git/config' }), '".git/config" has a name that is reserved for git'],
    [archiveOf({ name: 'a/.GIT./config' }), '"a/.GIT./config" has a name that is reserved for git'],
    [archiveOf({ name: 'a', type: '2', link: '/etc/passwd' }), '"a" is a symbolic link, which is not accepted'],
    [archiveOf({ name: 'b' }, { name: 'a', type: '1', link: 'b' }), '"a" is a hard link, which is not accepted'],
    [archiveOf({ name: 'a', type: '3' }), '"a" is a device'],
    [archiveOf({ name: 'a', type: '6' }), '"a" is a named pipe'],
    [archiveOf({ name: 'a', type: 'S' }), '"a" is neither file nor folder'],
    [archiveOf({ name: 'a' }, { name: './a' }), '"a" occurs twice'],
    [archiveOf({ name: 'a' }, { name: 'a/b' }), '"a" is both a file and a folder'],
    [archiveOf({ name: 'a/b' }, { name: 'a' }), '"a" is both a file and a folder'],
    [archiveOf({ name: 'a', type: '5' }, { name: 'a' }), '"a" is both a file and a folder'],
    [
      archiveOf({ name: 'x', type: 'x', content: record('path', '../a') }, { name: 'b' }),
      '"../a" is not a path below the root of the artifact',
    ],
    [archiveOf({ name: 'x', type: 'L', content: '/a\0' }, { name: 'b' }), '"/a" is not a path below the root of the artifact'],
    [archiveOf({ name: 'g', type: 'g', content: record('path', 'a') }), 'its archive has a header of a kind that is not accepted'],
    [
      archiveOf({ name: 'x', type: 'x', content: record('GNU.sparse.major', '1') }),
      'its archive has a header of a kind that is not accepted',
    ],
    [archiveOf({ name: 'x', type: 'x', content: '99 path=a\n' }), 'its archive has a malformed header'],
    [archiveOf({ name: 'x', type: 'x', content: record('size', '-1') }, { name: 'b' }), 'its archive has a header with a malformed number'],
    [archiveOf({ name: 'a', size: '99999999999x' }), 'its archive has a header with a malformed number'],
    [archiveOf({ name: 'a', content: 'text' }).subarray(0, 513), 'its archive ends early'],
    [Buffer.alloc(512, '1'), 'its archive has a header with a wrong checksum'],
    [Buffer.alloc(0), 'its archive ends early'],
  ]
  for (const [archive, why] of refused) t.equal(await faultOf(archive), `RepositoryRefused: the artifact is refused: ${why}`)
  const invalid = entry({ name: 'a' })
  const named = Buffer.from(invalid)
  named[0] = 0xff
  const sum = named.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0)
  named.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  t.equal(
    await faultOf(Buffer.concat([named, Buffer.alloc(1024)])),
    'RepositoryRefused: the artifact is refused: it has a name that is not UTF-8',
  )
})

void t.test('an archive that unpacks to more than the limit is refused before its content is read', async (t) => {
  const octal = (bytes: number): string => `${bytes.toString(8).padStart(11, '0')}\0`
  t.equal(
    await faultOf(archiveOf({ name: 'a', size: octal(2 * mebibyte) })),
    'RepositoryTooLarge: the unpacked artifact is larger than 1 MiB',
  )
  // 0x80, then a number in base 256: 1 TiB.
  const huge = `\u0080${'\0'.repeat(5)}\u0001${'\0'.repeat(5)}`
  t.equal(await faultOf(archiveOf({ name: 'a', size: huge })), 'RepositoryTooLarge: the unpacked artifact is larger than 1 MiB')
  const zeros = Buffer.concat([archiveOf({ name: 'a' }), Buffer.alloc(3 * mebibyte)])
  t.equal(await faultOf(zeros), 'RepositoryTooLarge: the unpacked artifact is larger than 1 MiB', 'behind the end of the archive too')
  t.strictSame(await read(archiveOf({ name: '.', type: '5' }, { name: './a/', type: '5' }, { name: './a/b', content: 'c' })), {
    'a/b': 'c',
  })
})

void t.test('an archive of many folders without files is refused before their paths take much memory', async (t) => {
  const folders = Array.from({ length: 600 }, (_, index) => {
    const path = `${index}/${'longer-than-most/'.repeat(50)}`
    return [
      { name: 'x', type: 'x', content: record('path', path) },
      { name: 'a', type: '5' },
    ]
  })
  t.equal(await faultOf(archiveOf(...folders.flat())), 'RepositoryTooLarge: the paths of the artifact exceed 12 MiB of memory')
})
