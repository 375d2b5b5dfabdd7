/**
 * When the clean-up of a mirror is a thorough one: it depends on the mirror's size now and after the last thorough one.
 */
import t from 'tap'
import { isThoroughDue } from '../../../../runtime/git/disk/mirror-folder.ts'

const mebibyte = 1024 * 1024

void t.test('a thorough clean-up is due for small mirrors, and for large ones that have more than doubled', async (t) => {
  const rows: [what: string, mebibytes: number, last: number, isDue: boolean][] = [
    ['a small mirror', 1, 0, true],
    ['a small mirror that was larger', 1, 100, true],
    ['a mirror of 20,000 files after 30 pushes', 16, 0, false],
    ['a large one of which nothing is known', 100, 0, true],
    ['a large one as it was', 100, 100, false],
    ['a large one that has doubled', 231, 100, false],
    ['a large one that has more than doubled', 233, 100, true],
  ]
  for (const [what, now, last, isDue] of rows) t.equal(isThoroughDue(now * mebibyte, last * mebibyte), isDue, what)
})
