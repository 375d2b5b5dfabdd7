import t from 'tap'
import { createKnownCommits } from '../../../../runtime/cli/story/commit-words.ts'

const raw = (author: string, message: string): Buffer => Buffer.from(`tree x\nauthor ${author}\ncommitter c <c@x> 1 +0000\n\n${message}`)

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
