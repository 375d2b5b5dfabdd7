import t from 'tap'
import { createDedupe } from '../../../../runtime/receiver/request/dedupe.ts'
import { rejectsWith } from '../../../support/assertions.ts'

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

void t.test('a call whose request failed to be written or is lost becomes a new request when it is repeated', async (t) => {
  const dedupe = createDedupe()
  let requests = 0
  const write = async (): Promise<string> => `request ${(requests += 1)}`
  const fail = async (): Promise<string> => {
    throw new Error('the API server refused it')
  }
  await rejectsWith(t, dedupe.once('plant', 'line main', 'a', fail), { message: 'the API server refused it' })
  t.strictSame(await dedupe.once('plant', 'line main', 'a', write), { requestId: 'request 1', duplicate: false })
  t.strictSame(await dedupe.once('plant', 'line main', 'a', write), { requestId: 'request 1', duplicate: true })
  t.strictSame(await dedupe.once('plant', 'other main', 'a', write), { requestId: 'request 2', duplicate: false }, 'another GatewaySync')
  t.strictSame(
    await dedupe.once('plant', 'line main', undefined, write),
    { requestId: 'request 3', duplicate: false },
    'a call without an id',
  )
  const isLost = (requestId: string): boolean => requestId === 'request 1'
  const repeats = ['a', 'a'].map((id) => dedupe.once('plant', 'line main', id, write, isLost))
  t.strictSame(
    await Promise.all(repeats),
    [
      { requestId: 'request 4', duplicate: false },
      { requestId: 'request 4', duplicate: true },
    ],
    'the first of several repeats writes',
  )
})
