/**
 * The journal reads back whole or not at all: a publish is ended or undone by what it says.
 */
import fc from 'fast-check'
import t from 'tap'
import type { BlobId } from '../../../runtime/delivery/protocol.ts'
import { decodeJournal, encodeJournal, type Journal } from '../../../runtime/sync/publish/journal.ts'

const path = fc
  .array(fc.constantFrom('a', 'b', 'ü', 'a b', '"'), { minLength: 1, maxLength: 3 })
  .map((names) => `projects/${names.join('/')}`)
const stage = (kind: string) => fc.nat(99).map((number) => `${kind}${number}`)
const step: fc.Arbitrary<Journal['steps'][number]> = fc.oneof(
  fc.record({ op: fc.constant('put' as const), path, stage: stage('s'), keep: stage('k'), had: fc.boolean() }),
  fc.record({ op: fc.constant('tree' as const), path, stage: stage('t') }),
  fc.record({ op: fc.constant('move' as const), path, keep: stage('d') }),
)
const owned = fc.constantFrom('a', 'b').map((digit) => ({
  id: digit.repeat(40) as BlobId,
  exec: false,
  mapping: 0,
  stat: { size: 1, mtimeMs: 2, ino: 3, mode: 0o644 },
  rendered: undefined,
  judged: undefined,
}))
const journal: fc.Arbitrary<Journal> = fc
  .record({
    steps: fc.array(step, { maxLength: 8 }),
    emptied: fc.array(path, { maxLength: 4 }),
    changes: fc.array(fc.record({ path, owned: fc.option(owned, { nil: undefined }) }), { maxLength: 8 }),
    base: fc.option(fc.uuid()),
    run: fc.uuid().map((id) => `run-${id}`),
  })
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

const damaged = /of an interrupted publish is damaged/
const textOf = (given: Journal): string => Buffer.concat([...encodeJournal(given)]).toString('utf8')

void t.test('what was written is read back', async (t) => {
  fc.assert(fc.property(journal, (given) => t.same(decodeJournal(textOf(given)), given)))
})

void t.test('a journal that ends early is refused, wherever it ends', async () => {
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
      // The last line break says nothing.
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

void t.test('a journal that leads out of the data directory, or out of its run, is refused', async (t) => {
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
  t.throws(() => decodeJournal(textOf({ ...given, run: '../run' })), damaged)
})
