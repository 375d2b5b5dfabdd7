/**
 * Which findings are new.
 */
import t from 'tap'
import { newFindings } from '../../../runtime/gatewaysync/new-findings.ts'

const finding = { rule: 'unlisted-file', path: 'a/b.json', message: 'is not listed', line: 3 }

void t.test('a finding that only moved to another line is not new, and one of another rule, file or text is', async (t) => {
  const moved = { ...finding, line: 9 }
  const others = [
    { ...finding, rule: 'lfs-pointer' },
    { ...finding, path: 'a/c.json' },
    { ...finding, message: 'is listed twice' },
  ]
  t.same(newFindings([finding], [moved, ...others]), others)
})

void t.test('parts that run into each other are two findings', async (t) => {
  const one = { rule: 'r', path: 'a b', message: 'c' }
  const other = { rule: 'r', path: 'a', message: 'b c' }
  t.same(newFindings([one], [other]), [other])
})
