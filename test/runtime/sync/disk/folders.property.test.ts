/**
 * Tests that an address leads to the file at its path, for any earlier calls and any number of open folders.
 */
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { openFolders } from '../../../../runtime/sync/disk/folders.ts'
import { throwsError } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'

/** More than are kept open. */
const count = 100
/** Mostly the same few, so that some are requested again soon. */
const folder = fc.oneof({ weight: 3, arbitrary: fc.nat(2) }, fc.nat(count - 1))
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant('read' as const), one: folder }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('both' as const), one: folder, other: folder }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant('swap' as const), one: folder, other: folder }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('missing' as const), one: folder }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant('all' as const) }) },
)

/** Of different depths, so that the path to some passes through others. */
const nameOf = (at: number): string => (at % 3 === 0 ? `f${at}` : at % 3 === 1 ? `a/f${at}` : `a/b/f${at}`)

void t.test('files are reached through any folders in any order', async (t) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const root = temporaryFolder(t, 'folders')
      const holds = Array.from({ length: count }, (_, at) => at)
      for (const at of holds) {
        mkdirSync(path.join(root, nameOf(at)), { recursive: true })
        writeFileSync(path.join(root, nameOf(at), 'n'), String(at))
      }
      const folders = openFolders(root)
      try {
        const addressOf = (at: number): string => (at % 2 === 0 ? folders.at(`${nameOf(at)}/n`) : `${folders.folder(nameOf(at))}/n`)
        const check = (at: number, address = addressOf(at)): void => {
          const found = readFileSync(address, 'utf8')
          if (found !== String(holds[at])) throw new Error(`${nameOf(at)} holds ${holds[at]}, and not ${found}`)
        }
        for (const each of steps) {
          if (each.op === 'read') check(each.one)
          else if (each.op === 'all') for (const at of holds.keys()) check(at)
          else if (each.op === 'missing') throwsError(t, () => folders.at(`${nameOf(each.one)}/gone/too/x`), { code: 'ENOENT' })
          else if (each.op === 'both') {
            const addresses = [each.one, each.other].map((at) => [at, addressOf(at)] as const)
            for (const [at, address] of addresses) check(at, address)
          } else {
            const [one, other] = [nameOf(each.one), nameOf(each.other)]
            for (const [from, to] of [
              [one, 'kept'],
              [other, one],
              ['kept', other],
            ] as const) {
              if (one !== other) renameSync(path.join(root, from), path.join(root, to))
            }
            folders.forget(one)
            folders.forget(other)
            const [first = 0, second = 0] = [holds[each.one], holds[each.other]]
            holds[each.one] = second
            holds[each.other] = first
          }
        }
      } finally {
        folders.close()
      }
    }),
    { numRuns: 40 },
  )
})

void t.test('the last two addresses stay valid, even for a folder opened long before', async (t) => {
  const root = temporaryFolder(t, 'folders')
  for (let at = 0; at < count; at += 1) {
    mkdirSync(path.join(root, nameOf(at)), { recursive: true })
    writeFileSync(path.join(root, nameOf(at), 'n'), String(at))
  }
  const folders = openFolders(root)
  try {
    const wrong: string[] = []
    for (let step = 1; step < count; step += 1) {
      for (let at = 0; at < count; at += 1) {
        const pair = [at, (at + step) % count]
        const addresses = pair.map((each) => folders.at(`${nameOf(each)}/n`))
        for (const [index, address] of addresses.entries()) {
          if (readFileSync(address, 'utf8') !== String(pair[index])) wrong.push(pair.join(' and '))
        }
      }
    }
    t.strictSame(wrong, [])
  } finally {
    folders.close()
  }
})

void t.test('an address requested after close is invalid, even if its descriptor number is reused', async (t) => {
  const root = temporaryFolder(t, 'folders')
  const elsewhere = temporaryFolder(t, 'elsewhere')
  for (const at of [root, elsewhere]) writeFileSync(path.join(at, 'n'), at)
  const folders = openFolders(root)
  t.equal(readFileSync(folders.at('n'), 'utf8'), root)
  folders.close()
  const again = Array.from({ length: 10 }, () => openSync(elsewhere, 'r'))
  t.teardown(() => again.forEach((fd) => closeSync(fd)))
  throwsError(t, () => readFileSync(folders.at('n'), 'utf8'), { code: 'ENOENT' })
})
