/**
 * File frames of a commit as `git ls-tree` and `git cat-file` write them: any names and contents are parsed unchanged for any split of the
 * stream.
 */
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { encodeLastFrame } from '../../../../runtime/content/protocol/content-frames.ts'
import { fileFramesReader, fileHeaderFormat, fileLineFormat } from '../../../../runtime/content/protocol/file-frames.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { gitEnvironment, makeRepository, temporaryFolder } from '../../../support/repository.ts'

type Seen = Record<string, string>

/** Reads frames in pieces of the given length. */
function read(frames: Buffer, length: number): Seen {
  const seen: Seen = {}
  let [name, content] = ['', '']
  const reader = fileFramesReader({
    begin(file) {
      name = file.path
      content = `${file.mode} ${file.size} `
    },
    data: (chunk) => void (content += Buffer.from(chunk).toString('latin1')),
    end: () => void (seen[name] = content),
  })
  for (let at = 0; at < frames.length; at += length) reader.take(frames.subarray(at, at + length))
  t.ok(reader.ended(), 'the end has come')
  return seen
}

function framesOf(folder: string): Buffer {
  const git = (input: Buffer | undefined, ...args: string[]): Buffer =>
    execFileSync('git', ['-C', folder, '-c', 'core.quotePath=false', ...args], { input, env: gitEnvironment, maxBuffer: 64 * 1024 * 1024 })
  const lines = git(undefined, 'ls-tree', '-r', '--full-tree', `--format=${fileLineFormat}`, 'HEAD')
  return Buffer.concat([git(lines, 'cat-file', `--batch=${fileHeaderFormat}`, '--buffer'), encodeLastFrame()])
}

void t.test('names and contents with any characters are parsed as committed', async (t) => {
  const letter = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('a', 'B', ' ', '"', '\\', '\n', '\t', '\u0001', '\u007f', 'ü', '日', '\u{1f600}', "'", '%') },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }).filter((text) => !/[/\0]/.test(text)) },
  )
  const name = fc
    .array(letter, { minLength: 1, maxLength: 12 })
    .map((letters) => letters.join(''))
    .filter((text) => !/^\.+$/.test(text) && text.toLowerCase() !== '.git' && Buffer.byteLength(text) < 200)
  const content = fc.oneof(fc.string(), fc.constantFrom('', 'end\n', '\n', 'x'.repeat(70_000)))
  const folder = temporaryFolder(t, 'file-frames')
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(name, content, { maxKeys: 5, noNullPrototype: true }),
      fc.integer({ min: 1, max: 500 }),
      async (files, length) => {
        const repository = makeRepository(path.join(folder, String((run += 1))))
        repository.commit(Object.fromEntries([['first', ''], ...Object.entries(files).map(([key, text]) => [`d/${key}`, text])]))
        const desired = Object.entries(files).map(([key, text]) => {
          const bytes = Buffer.from(text)
          return [`d/${key}`, `100644 ${bytes.length} ${bytes.toString('latin1')}`]
        })
        const seen = read(framesOf(repository.folder), length)
        return isDeepStrictEqual(seen, Object.fromEntries([...desired, ['first', '100644 0 ']]))
      },
    ),
    { numRuns: 40 },
  )
})

void t.test('a malformed frame and a path outside the folder are rejected', async (t) => {
  const id = 'a'.repeat(40)
  const reasonOf = (text: string): string => {
    try {
      fileFramesReader({ begin() {}, data() {}, end() {} }).take(Buffer.from(text))
      return 'none'
    } catch (error) {
      return error instanceof Fault ? error.reason : String(error)
    }
  }
  t.equal(reasonOf(`${id} blob 1 100644 a/b\nx\n`), 'none')
  t.equal(reasonOf(`${id} blob 1 100644 "a\\tb\\303\\274"\nx\n`), 'none')
  t.equal(reasonOf(`${id} missing\n`), 'CommitGone', 'a submodule is no object of the repository')
  for (const header of [
    `${id} blob 1 100644 ../a`,
    `${id} blob 1 100644 /a`,
    `${id} blob 1 100644 "a\\0000"`,
    `${id} blob 1 100644 "a\\qb"`,
    `${id} blob 1 100644 "a`,
    `${id} blob 1 100644 "\\056\\056/a"`,
    `${id} blob 1 100644 `,
    `${id} blob 1 100600 a`,
    `${id} blob -1 100644 a`,
    `${id} blob 1e3 100644 a`,
    `${id} tree 0 100644 a`,
    `${'g'.repeat(40)} blob 1 100644 a`,
    `${id.slice(1)} blob 1 100644 a`,
    '',
    'ends',
  ])
    t.equal(reasonOf(`${header}\n`), 'DeliveryFailed', header)
  t.equal(reasonOf(`${id} blob 1 100644 ${'a'.repeat(600_000)}`), 'DeliveryFailed', 'a header that has no end is not held')
  t.equal(reasonOf(`${id} blob 1 100644 "${'a'.repeat(200_000)}"\n`), 'DeliveryFailed', 'nor is a name without an end unquoted')
  t.equal(reasonOf(`${id} blob ${256 * 1024 * 1024 + 1} 100644 a\n`), 'RepositoryTooLarge')
  t.equal(reasonOf(`${id} blob 1 100644 ${'a/'.repeat(101)}a\n`), 'RepositoryTooLarge')
})
