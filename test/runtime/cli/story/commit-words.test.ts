import t from 'tap'
import { createKnownCommits, parseCommitWords } from '../../../../runtime/cli/story/commit-words.ts'

const raw = (author: string, message: string): Buffer => Buffer.from(`tree x\nauthor ${author}\ncommitter c <c@x> 1 +0000\n\n${message}`)

void t.test('the first line and the author of a commit are taken, without what could harm a terminal', async (t) => {
  const rows: [string, Buffer, object | undefined][] = [
    ['usual', raw('Jane Doe <j@x> 1 +0000', 'Add line 3\n\nbecause\n'), { subject: 'Add line 3', author: 'Jane Doe' }],
    ['no message', raw('Jane <j@x> 1 +0000', ''), { subject: 'no message', author: 'Jane' }],
    ['no name', raw('<j@x> 1 +0000', 'a'), { subject: 'a', author: 'nobody' }],
    ['escapes', raw('J\u001b[1m <j@x> 1 +0000', 'a\u0007b'), { subject: 'a\uFFFDb', author: 'J\uFFFD[1m' }],
    ['no object', Buffer.from('nothing'), undefined],
  ]
  for (const [name, bytes, expected] of rows) t.same(parseCommitWords(bytes), expected, name)
  t.equal(parseCommitWords(raw('a <a@x> 1 +0000', 'x'.repeat(500)))?.subject.length, 73)
})

void t.test('words are read once, a commit that cannot be read has none, and old ones are forgotten', async (t) => {
  const commits = createKnownCommits()
  let reads = 0
  const read = async (): Promise<Buffer> => {
    reads += 1
    return raw('Jane <j@x> 1 +0000', 'first')
  }
  commits.named('a', 100)
  await commits.learn('a', read)
  await commits.learn('a', read)
  t.equal(reads, 1)
  t.same(commits.about('a', 350), { words: { subject: 'first', author: 'Jane' }, durationMs: 250 })
  await commits.learn('b', async () => await Promise.reject(new Error('gone')))
  t.same(commits.about('b', 1), { words: undefined, durationMs: undefined })
  for (let count = 0; count < 20; count += 1) await commits.learn(`c${count}`, read)
  t.same(commits.about('a', 350), { words: undefined, durationMs: undefined })
})
