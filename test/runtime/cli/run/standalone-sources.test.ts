import t from 'tap'
import { createCommitCache } from '../../../../runtime/cli/run/standalone-sources.ts'

const raw = (author: string, message: string): Buffer => Buffer.from(`tree x\nauthor ${author}\ncommitter c <c@x> 1 +0000\n\n${message}`)

void t.test('subject and author are read once, are absent for an unreadable commit, and the oldest are evicted', async (t) => {
  const commits = createCommitCache()
  let reads = 0
  const read = async (): Promise<Buffer> => {
    reads += 1
    return raw('Jane <j@x> 1 +0000', 'first')
  }
  commits.named('a', 100)
  await commits.learn('a', read)
  await commits.learn('a', read)
  t.equal(reads, 1)
  t.strictSame(commits.about('a', 350), { summary: { subject: 'first', author: 'Jane' }, durationMs: 250 })
  await commits.learn('b', async () => await Promise.reject(new Error('gone')))
  t.strictSame(commits.about('b', 1), { summary: undefined, durationMs: undefined })
  for (let count = 0; count < 20; count += 1) await commits.learn(`c${count}`, read)
  t.strictSame(commits.about('a', 350), { summary: undefined, durationMs: undefined })
})
