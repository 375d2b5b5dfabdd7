import t from 'tap'
import { createDedupe } from '../../../../runtime/receiver/request/dedupe.ts'

void t.test('a namespace with many calls replaces its own oldest ones, not those of another namespace', async (t) => {
  const dedupe = createDedupe()
  let requests = 0
  const write = async (): Promise<string> => `request ${(requests += 1)}`
  const first = await dedupe.once('plant', 'line main', 'a', write)
  for (let index = 0; index < 10_001; index += 1) await dedupe.once('busy', 'line main', String(index), write)
  t.strictSame(await dedupe.once('plant', 'line main', 'a', write), { ...first, duplicate: true })
  t.equal((await dedupe.once('busy', 'line main', '10000', write)).duplicate, true)
  t.equal((await dedupe.once('busy', 'line main', '0', write)).duplicate, false, 'the oldest of the namespace with the most')
})
