/**
 * Which findings of a commit are new.
 */
import t from 'tap'
import { newFindings } from '../../../runtime/api/findings.ts'

const finding = { rule: 'unlisted-file', path: 'a/b.json', message: 'is not listed', line: 3 }

void t.test('a finding on another line is not new; one with another rule, file or message is', async (t) => {
  const moved = { ...finding, line: 9 }
  const others = [
    { ...finding, rule: 'lfs-pointer' },
    { ...finding, path: 'a/c.json' },
    { ...finding, message: 'is listed twice' },
  ]
  t.strictSame(newFindings([finding], [moved, ...others]), others)
})

void t.test('findings whose joined fields are equal text are two findings', async (t) => {
  const one = { rule: 'r', path: 'a b', message: 'c' }
  const other = { rule: 'r', path: 'a', message: 'b c' }
  t.strictSame(newFindings([one], [other]), [other])
})
