import fc from 'fast-check'
import t from 'tap'
import { lineDiff } from '../../../../runtime/sync/plan/shown-diff.ts'

const bytes = (text: string): Buffer => Buffer.from(text)

/** The lines with one mark, in order. */
function marked(shown: string | undefined, mark: '-' | '+'): string[] {
  return (shown ?? '')
    .split('\n')
    .filter((line) => line.startsWith(mark))
    .map((line) => line.slice(1))
}

/** Each remaining line with its count, after removing the given lines. */
function left(lines: readonly string[], taken: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1)
  for (const line of taken) counts.set(line, (counts.get(line) ?? 0) - 1)
  return new Map([...counts].filter(([, count]) => count !== 0).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

void t.test('both sides of a diff leave the same unchanged lines', async (t) => {
  const text = fc.array(fc.constantFrom('a', 'b', 'c', '{', '}'), { maxLength: 30 })
  fc.assert(
    fc.property(text, text, (before, after) => {
      const whole = (lines: readonly string[]): Buffer => bytes(lines.map((line) => `${line}\n`).join(''))
      const shown = lineDiff(whole(before), whole(after))
      t.strictSame(left(before, marked(shown, '-')), left(after, marked(shown, '+')))
      if (before.join() === after.join()) t.equal(shown, '')
    }),
    { numRuns: 300 },
  )
})

void t.test('an added file shows all its lines, an empty one none, and binary content is not compared', async (t) => {
  t.equal(lineDiff(undefined, bytes('a\nb\n')), '+a\n+b')
  t.equal(lineDiff(undefined, bytes('')), '')
  t.equal(lineDiff(bytes(''), bytes('')), '')
  t.equal(lineDiff(bytes('a\n'), bytes('')), '-a')
  t.equal(lineDiff(bytes('a\n'), bytes('a')), '+\\ No newline at end of file')
  t.equal(lineDiff(bytes('a\0'), bytes('a')), undefined)
  t.equal(lineDiff(undefined, bytes('\0')), undefined)
})

void t.test('a changed line in a long file is found, and thousands of changes form one hunk in little memory', async (t) => {
  const lines = Array.from({ length: 30_000 }, (_, index) => `${index}\n`)
  t.equal(lineDiff(bytes(lines.join('')), bytes(lines.with(15_000, 'new\n').join(''))), '-15000\n+new')
  const before = process.memoryUsage().rss
  const shown = lineDiff(bytes('a\n'.repeat(30_000)), bytes('b\n'.repeat(30_000)))
  t.strictSame([marked(shown, '-').length, marked(shown, '+').length], [30_000, 30_000])
  // A full line-by-line comparison would take gigabytes.
  t.ok(process.memoryUsage().rss - before < 256 * 1024 * 1024)
})
