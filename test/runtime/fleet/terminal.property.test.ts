/**
 * Tables and folded text: they fit the width, mark what they truncate, and contain no control characters.
 */
import fc from 'fast-check'
import t from 'tap'
import { folded, tableLines } from '../../../runtime/fleet/terminal.ts'

const lengthOf = (line: string): number => Array.from(line).length
const cell = fc.string({ maxLength: 60, unit: 'grapheme' })

void t.test('a table never exceeds its width, for any cells', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 }), fc.integer({ min: 40, max: 160 }), (rows, width) => {
      const columns = ['NAME', 'READY', 'WHY'].map((title) => ({ title, max: 50 }))
      const lines = tableLines(columns, rows, width)
      return lines.length === rows.length + 1 && lines.every((line) => lengthOf(line) <= width)
    }),
  )
})

void t.test('a table that fits shows every cell in full, and a longer cell is truncated', async (t) => {
  const columns = [
    { title: 'NAME', max: 10 },
    { title: 'WHY', max: 10 },
  ]
  t.strictSame(
    tableLines(
      columns,
      [
        ['plant', 'Synced'],
        ['b', ''],
      ],
      40,
    ),
    ['NAME   WHY', 'plant  Synced', 'b'],
  )
  t.strictSame(tableLines(columns, [['a-name-that-is-long', 'x']], 40).at(1), 'a-name-th…  x')
})

void t.test('folded text keeps its order and fits the width', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[a-z]{1,30}$/), { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 40, max: 120 }),
      (words, width) => {
        const lines = folded(words.join(' '), width, '  -> ')
        const kept = lines.flatMap((line) => line.replace('->', '').split(' ').filter(Boolean))
        return kept.join(' ') === words.join(' ') && lines.every((line) => lengthOf(line) <= width)
      },
    ),
  )
})

void t.test('control characters in text from outside are replaced', async (t) => {
  const hostile = 'a\u001b[2Jb\u0007\u009b1m\u202ec\u2066d\te\nf'
  const printed = [...folded(hostile, 80, ''), ...tableLines([{ title: 'A', max: 40 }], [[hostile]], 80)].join('')
  for (const letter of ['\u001b', '\u0007', '\u009b', '\u202e', '\u2066', '\t', '\n']) t.notOk(printed.includes(letter))
})
