/**
 * Tests that the journal is read back in full or not at all, so that an interrupted apply is completed or undone from it.
 */
import { appendFileSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { decodeJournal } from '../../../support/decode-journal.ts'
import { throwsError } from '../../../support/assertions.ts'
import type { BlobId } from '../../../../runtime/content/protocol/protocol.ts'
import { maxRecordBytes } from '../../../../runtime/sync/disk/manifest-file.ts'
import {
  dropJournal,
  encodeJournal,
  interruptedApply,
  isInterrupted,
  type Journal,
  mayBeInterrupted,
  readJournal,
  writeJournal,
} from '../../../../runtime/sync/apply/journal.ts'

const path = fc
  .array(fc.constantFrom('a', 'b', 'ü', 'a b', '"'), { minLength: 1, maxLength: 3 })
  .map((names) => `projects/${names.join('/')}`)
const stage = (kind: string) => fc.nat(99).map((number) => `${kind}${number}`)
const step: fc.Arbitrary<Journal['steps'][number]> = fc.oneof(
  fc.record({ op: fc.constant('put' as const), path, stage: stage('s'), keep: stage('k'), had: fc.boolean() }, { noNullPrototype: true }),
  fc.record({ op: fc.constant('tree' as const), path, stage: stage('t') }, { noNullPrototype: true }),
  fc.record({ op: fc.constant('move' as const), path, keep: stage('d') }, { noNullPrototype: true }),
)
const owned = fc.constantFrom('a', 'b').map((digit) => ({
  id: digit.repeat(40) as BlobId,
  exec: false,
  mapping: 0,
  stat: { size: 1, mtimeMs: 2, ino: 3, mode: 0o644 },
  rendered: undefined,
  driftVerdict: undefined,
}))
const journal: fc.Arbitrary<Journal> = fc
  .record(
    {
      steps: fc.array(step, { maxLength: 8 }),
      emptied: fc.array(path, { maxLength: 4 }),
      changes: fc.array(fc.record({ path, owned: fc.option(owned, { nil: undefined }) }, { noNullPrototype: true }), { maxLength: 8 }),
      base: fc.option(fc.uuid()),
      run: fc.uuid().map((id) => `run-${id}`),
    },
    { noNullPrototype: true },
  )
  .map((parts) => ({
    ...parts,
    bootId: 'boot',
    state: {
      commit: null,
      ref: 'main',
      syncHash: 'h',
      treeKey: 't',
      mappings: [],
      chain: [],
      absent: [],
      publish: 'p',
      bootId: 'boot',
      scanPending: [],
      scanned: {},
      commissioning: false,
      publishedAt: 0,
      findings: [],
      problems: [],
    },
  }))

const damaged = /of an interrupted sync is damaged/
const textOf = (given: Journal): string => Buffer.concat([...encodeJournal(given)]).toString('utf8')

void t.test('a written journal is read back unchanged', async (t) => {
  fc.assert(fc.property(journal, (given) => t.strictSame(decodeJournal(textOf(given)), given)))
})

void t.test('a journal truncated at any position is refused', async () => {
  const isRefused = (text: string): boolean => {
    try {
      decodeJournal(text)
      return false
    } catch (error) {
      return (error as { reason?: string }).reason === 'StateUnreadable'
    }
  }
  fc.assert(
    fc.property(journal, fc.nat(), (given, where) => {
      const text = textOf(given)
      // The final line break carries no information.
      return isRefused(text.slice(0, where % (text.length - 1)))
    }),
  )
})

void t.test('a journal with one changed character is refused', async (t) => {
  fc.assert(
    fc.property(journal, fc.nat(), (given, where) => {
      const text = textOf(given)
      const at = where % (text.length - 1)
      const changed = `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`
      t.throws(() => decodeJournal(changed), damaged)
    }),
  )
})

void t.test('a journal of another version is reported as such, not as damaged', async (t) => {
  const [given] = fc.sample(journal, 1)
  if (given === undefined) throw new Error('there is no journal')
  for (const version of [2, 4]) {
    const text = textOf(given).replace('"version":3', `"version":${version}`)
    throwsError(t, () => decodeJournal(text), {
      reason: 'StateUnreadable',
      message: 'another version of this program wrote the journal of an interrupted sync',
    })
  }
})

void t.test('a journal with paths outside the data directory or its run folder is refused', async (t) => {
  const [given] = fc.sample(journal, 1)
  if (given === undefined) throw new Error('there is no journal')
  const bad: Journal['steps'][number][] = [
    { op: 'move', path: '../outside', keep: 'd1' },
    { op: 'move', path: '/etc/passwd', keep: 'd1' },
    { op: 'move', path: '.cluster-sync/journal', keep: 'd1' },
    { op: 'move', path: 'projects/a', keep: '../d1' },
    { op: 'tree', path: 'projects/a', stage: 's1/..' },
  ]
  for (const step of bad) t.throws(() => decodeJournal(textOf({ ...given, steps: [step] })), damaged, JSON.stringify(step))
  for (const run of ['../run', '../run-1', 'run-1/..', 'run-']) t.throws(() => decodeJournal(textOf({ ...given, run })), damaged, run)
})

void t.test('a journal with a correct checksum and a wrong line is refused with the number of that line', async (t) => {
  const [given] = fc.sample(journal, 1)
  if (given === undefined) throw new Error('there is no journal')
  const [first = '', ...rest] = textOf({ ...given, steps: [], emptied: [], changes: [] })
    .trimEnd()
    .split('\n')
  const state = rest[0] ?? ''
  const sealed = (lines: readonly string[], end = lines.length): string => {
    const text = lines.map((line) => `${line}\n`).join('')
    return `${text}${JSON.stringify({ end, crc: crc32(text) })}\n`
  }
  t.strictSame(decodeJournal(sealed([first, state])), { ...given, steps: [], emptied: [], changes: [] })
  const move = { op: 'move', path: 'projects/a', keep: 'd1' }
  const rows: [text: string, line: number][] = [
    ['', 1],
    ['\n', 1],
    [sealed([]), 1],
    [sealed([first]), 2],
    [sealed([first, '["e","projects/a"]']), 3],
    [sealed([first, state], 1), 3],
    [sealed([first, state], 3), 3],
    ...[['x', move], ['x', 'projects/a'], ['s', 'projects/a'], ['e', '../a'], ['e', move], { 0: 's', 1: move }, 's'].map(
      (line): [string, number] => [sealed([first, '["e","projects/a"]', JSON.stringify(line), state]), 3],
    ),
  ]
  for (const [text, line] of rows)
    throwsError(
      t,
      () => decodeJournal(text),
      {
        reason: 'StateUnreadable',
        message: `the journal of an interrupted sync is damaged at line ${line}`,
      },
      text,
    )
})

void t.test('a journal on the disk marks an interrupted sync until it is dropped', async (t) => {
  const folder = t.testdir({ '.cluster-sync': {} })
  const file = `${folder}/.cluster-sync/journal`
  t.strictSame(
    [readJournal(folder), interruptedApply(folder), isInterrupted(folder), mayBeInterrupted(folder)],
    [undefined, undefined, false, false],
  )
  const [given] = fc.sample(journal, 1)
  if (given === undefined) throw new Error('there is no journal')
  // The first and the last line are read before the rest, each in 4 KiB.
  for (const length of [0, 1, 500]) {
    const steps = Array.from({ length }, (_, index): Journal['steps'][number] => ({ op: 'move', path: `projects/${index}`, keep: 'd1' }))
    writeJournal(folder, { ...given, steps })
    t.strictSame(readJournal(folder), { ...given, steps })
    const { ino, mtimeMs } = lstatSync(file)
    t.equal(interruptedApply(folder), `${ino} ${mtimeMs}`)
    t.strictSame([isInterrupted(folder), mayBeInterrupted(folder)], [true, true])
  }
  dropJournal(folder)
  t.equal(existsSync(file), false)
  t.strictSame([readJournal(folder), interruptedApply(folder)], [undefined, undefined])
})

void t.test('what is not a journal on the disk is refused before it is read', async (t) => {
  const [given] = fc.sample(journal, 1)
  if (given === undefined) throw new Error('there is no journal')
  const text = textOf(given)
  const [first = ''] = text.split('\n', 1)
  const last = text.trimEnd().split('\n').at(-1) ?? ''
  const isDamaged = { reason: 'StateUnreadable', message: 'the journal of an interrupted sync is damaged at line 1' }
  const write: Record<string, (file: string) => void> = {
    'a folder': (file) => mkdirSync(file),
    'an empty file': (file) => writeFileSync(file, ''),
    'another file': (file) => writeFileSync(file, 'x'.repeat(10_000)),
    'a file that only begins like one': (file) => writeFileSync(file, `${first}\n${'x'.repeat(10_000)}\n`),
    'a file that only ends like one': (file) => writeFileSync(file, `${'x'.repeat(10_000)}\n${last}\n`),
  }
  for (const [name, make] of Object.entries(write)) {
    const folder = t.testdir({ '.cluster-sync': {} })
    make(`${folder}/.cluster-sync/journal`)
    throwsError(t, () => readJournal(folder), isDamaged, name)
  }
  const folder = t.testdir({ '.cluster-sync': {}, other: text })
  const file = `${folder}/.cluster-sync/journal`
  writeFileSync(file, `${first}\n`)
  truncateSync(file, maxRecordBytes())
  appendFileSync(file, `\n${last}\n`)
  throwsError(t, () => readJournal(folder), {
    reason: 'StateUnreadable',
    message: /^the journal of an interrupted sync cannot be used: it has \d+ MiB, and this process reads at most \d+ MiB; /,
  })
  rmSync(file)
  symlinkSync('../other', file)
  throwsError(t, () => readJournal(folder), { reason: 'SymbolicLink', message: /^"\.cluster-sync\/journal": / })
})

void t.test('an apply counts as interrupted while its journal cannot be seen', async (t) => {
  const folder = t.testdir({ other: {}, '.cluster-sync': t.fixture('symlink', 'other') })
  throwsError(t, () => interruptedApply(folder), { reason: 'SymbolicLink' })
  throwsError(t, () => isInterrupted(folder), { reason: 'SymbolicLink' })
  t.equal(mayBeInterrupted(folder), true)
})
