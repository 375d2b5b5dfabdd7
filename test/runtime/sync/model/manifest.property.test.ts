/**
 * Tests that the manifest reads back what was written, keeps all managed files, and rejects damaged content.
 */
import fc from 'fast-check'
import t from 'tap'
import type { BlobId } from '../../../../runtime/content/protocol/protocol.ts'
import { type Manifest, type ManifestChange, type Owned, type State, wantsCompaction } from '../../../../runtime/sync/model/manifest.ts'
import { changeLines, encodeHead, manifestReader, encodeState } from '../../../../runtime/sync/model/manifest-lines.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'

const blobId = fc.constantFrom('a', 'b', 'c').map((digit) => digit.repeat(40) as BlobId)
const count = fc.nat(10_000)
const stat = fc.record({ size: count, mtimeMs: count, ino: count, mode: fc.constantFrom(0o644, 0o755) }, { noNullPrototype: true })
const path = fc
  .array(fc.constantFrom('a', 'b', 'ü', 'a b', '"', '\u{1F600}'), { minLength: 1, maxLength: 3 })
  .map((names) => `projects/${names.join('/')}`)
const owned: fc.Arbitrary<Owned> = fc.record(
  {
    id: blobId,
    exec: fc.boolean(),
    mapping: fc.nat(9),
    stat,
    rendered: fc.option(fc.record({ uses: fc.array(fc.array(fc.string())), key: fc.string(), id: blobId }, { noNullPrototype: true }), {
      nil: undefined,
    }),
    driftVerdict: fc.option(
      fc
        .tuple(stat, fc.constantFrom('drift' as const, 'harmless' as const), fc.option(blobId))
        .map(([seen, verdict, id]) => ({ ...seen, verdict, id })),
      { nil: undefined },
    ),
  },
  { noNullPrototype: true },
)
const change: fc.Arbitrary<ManifestChange> = fc.record({ path, owned: fc.option(owned, { nil: undefined }) }, { noNullPrototype: true })
const write = fc.record({ changes: fc.array(change, { maxLength: 6 }), publish: fc.uuid() }, { noNullPrototype: true })
type Write = { changes: ManifestChange[]; publish: string }

const state = (publish: string): State => ({
  commit: parseCommitHash('f'.repeat(40)),
  ref: 'main',
  syncHash: 'h',
  treeKey: 't',
  mappings: ['projects -> projects'],
  chain: [],
  absent: [],
  publish,
  bootId: 'boot',
  scanPending: [],
  scanned: {},
  commissioning: false,
  publishedAt: 0,
  findings: [],
  problems: [],
})

/** The lines of all writes, preceded by the head with their total length. */
function linesOf(writes: readonly Write[]): string[] {
  const lines = writes.flatMap(({ changes, publish }) => [...changeLines(changes), encodeState(state(publish))])
  const bytes = [encodeHead(0), ...lines].reduce((sum, line) => sum + Buffer.byteLength(line), 0)
  return [encodeHead(bytes), ...lines]
}

function readLines(lines: readonly string[]): Manifest {
  const reader = manifestReader()
  for (const line of lines) reader.line(line.replace(/\n$/, ''), Buffer.byteLength(line))
  return reader.finish()
}

function filesAfter(writes: readonly Write[]): Map<string, Owned> {
  const files = new Map<string, Owned>()
  for (const { changes } of writes) {
    for (const { path, owned } of changes) {
      if (owned === undefined) files.delete(path)
      else files.set(path, owned)
    }
  }
  return files
}

const byPath = (files: ReadonlyMap<string, Owned>): [string, Owned][] => [...files].toSorted(([a], [b]) => (a < b ? -1 : 1))

void t.test('a written manifest is read back with the last entry of each path', async (t) => {
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 4 }), (writes) => {
      const manifest = readLines(linesOf(writes))
      t.strictSame(byPath(manifest.files), byPath(filesAfter(writes)))
      return manifest.suspectReason === undefined && manifest.state?.publish === writes.at(-1)?.publish
    }),
  )
})

void t.test('an unfinished write has no effect', async (t) => {
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 3 }), write, fc.nat(6), (writes, unfinished, length) => {
      const lines = linesOf(writes)
      const begun = [...changeLines(unfinished.changes)].slice(0, length)
      const manifest = readLines([...lines, ...begun])
      t.strictSame(byPath(manifest.files), byPath(filesAfter(writes)))
      return manifest.suspectReason === undefined && manifest.bytes === lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0)
    }),
  )
})

void t.test('one changed character makes the manifest suspect and no commit, and readable entries stay managed', async () => {
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 3 }), fc.nat(), fc.nat(), (writes, which, where) => {
      const lines = linesOf(writes)
      const number = which % lines.length
      const line = lines[number] ?? ''
      const at = where % (line.length - 1)
      const damaged = lines.with(number, `${line.slice(0, at)}${line[at] === 'x' ? 'y' : 'x'}${line.slice(at + 1)}`)
      const manifest = readLines(damaged)
      const untouched = readLines(lines.toSpliced(number, 1))
      const isKept = [...untouched.files.keys()].every((path) => manifest.files.has(path))
      return manifest.suspectReason !== undefined && (manifest.state?.commit ?? null) === null && isKept
    }),
  )
})

void t.test('a manifest of another version is reported as such, not as damaged', async (t) => {
  const [head = '', ...rest] = linesOf([{ changes: [], publish: '' }])
  for (const version of [1, 3]) {
    const { suspectReason } = readLines([head.replace('"m",2', `"m",${version}`), ...rest])
    t.equal(suspectReason, 'the manifest cannot be used: another version of this program wrote it')
  }
})

void t.test('a truncated manifest is suspect', async () => {
  fc.assert(
    fc.property(fc.array(write, { minLength: 1, maxLength: 3 }), fc.nat(), (writes, which) => {
      const lines = linesOf(writes)
      return readLines(lines.slice(0, which % lines.length)).suspectReason !== undefined
    }),
  )
})

void t.test('a manifest is compacted when it has more than a thousand lines and twice as many as files', async (t) => {
  const files = new Map(byPath(filesAfter([{ changes: [], publish: '' }])))
  t.equal(wantsCompaction({ files, state: undefined, lines: 1_000, bytes: 0, suspectReason: undefined, file: undefined }), false)
  t.equal(wantsCompaction({ files, state: undefined, lines: 1_001, bytes: 0, suspectReason: undefined, file: undefined }), true)
})
