import t from 'tap'
import { parseCommitSummary } from '../../../../runtime/git/content/commit-summary.ts'

const raw = (author: string, message: string): Buffer => Buffer.from(`tree x\nauthor ${author}\ncommitter c <c@x> 1 +0000\n\n${message}`)

void t.test('the subject and author of a commit are parsed, without terminal control characters', async (t) => {
  const rows: [string, Buffer, object | undefined][] = [
    ['usual', raw('Jane Doe <j@x> 1 +0000', 'Add line 3\n\nbecause\n'), { subject: 'Add line 3', author: 'Jane Doe' }],
    ['no message', raw('Jane <j@x> 1 +0000', ''), { subject: 'no message', author: 'Jane' }],
    ['no name', raw('<j@x> 1 +0000', 'a'), { subject: 'a', author: 'unknown author' }],
    ['escapes', raw('J\u001b[1m <j@x> 1 +0000', 'a\u0007b'), { subject: 'a\uFFFDb', author: 'J\uFFFD[1m' }],
    ['no object', Buffer.from('nothing'), undefined],
  ]
  for (const [name, bytes, expected] of rows) t.strictSame(parseCommitSummary(bytes), expected, name)
  t.equal(parseCommitSummary(raw('a <a@x> 1 +0000', 'x'.repeat(500)))?.subject.length, 73)
})
