/**
 * Agents that read files that take much of git's memory do not take the memory of the controller.
 */
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import t from 'tap'
import { parseCommitHash } from '../../runtime/api/values.ts'
import { anonymousBytes } from '../../runtime/git/command/process-memory.ts'
import { ReadingMemory } from '../../runtime/git/command/reading-memory.ts'
import { frameBlobs } from '../../runtime/git/content/read-blobs.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { childProcesses } from '../support/child-processes.ts'
import { makeRepository, temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const mebibyte = 1024 * 1024
const limits = { maxMemoryBytes: 56 * mebibyte, maxPackBytes: 1024 * mebibyte }
const signal = AbortSignal.timeout(100_000)

function bytesOfGit(): number {
  return childProcesses().reduce((sum, { pid }) => sum + anonymousBytes(pid), 0)
}

async function drain(stream: AsyncGenerator): Promise<void> {
  for (let rest = await stream.next(); rest.done !== true;) rest = await stream.next()
}

void t.test('four slow agents of one namespace take no more memory than one, and that of another reads on', async (t) => {
  if (!requires(t, 'git')) return
  const repository = makeRepository(path.join(temporaryFolder(t, 'large-reads'), 'a'))
  const text = randomBytes(6 * mebibyte).toString('hex')
  for (const end of ['a', 'b']) repository.commit({ large: `${text}${end}`, small: end })
  // One of the two is stored as a difference to the other.
  repository.git('repack', '-adfq')
  const idsOf = (name: string) =>
    ['HEAD', 'HEAD~1'].map((commit) => parseCommitHash(repository.git('rev-parse', `${commit}:${name}`).toString().trim()))
  const memory = new ReadingMemory({ maxBytes: 24 * mebibyte })
  const read = (namespace: string, name: string) =>
    frameBlobs({ folder: path.join(repository.folder, '.git'), limits, start: memory.startFor(namespace) }, idsOf(name), signal)
  const quiet = read('quiet', 'small')
  await quiet.next()
  const hostile = Array.from({ length: 4 }, () => read('hostile', 'large'))
  // Each reads until git has both texts in memory, and then only waits.
  const endings = hostile.map(async (stream): Promise<unknown> => {
    try {
      for (let bytes = 0; bytes < text.length;) bytes += ((await stream.next()).value as Uint8Array).byteLength
      return undefined
    } catch (error) {
      return error
    }
  })
  await Promise.all(endings)
  await until(() => bytesOfGit() < 24 * mebibyte || undefined, 'what exceeds the bound has ended')
  // What was read from a process before it ended comes first.
  const ended = await Promise.all(hostile.map(async (stream) => await drain(stream).catch((error: unknown) => error)))
  t.ok([...ended, ...(await Promise.all(endings))].some((error) => error instanceof Fault && error.reason === 'GitKilled'))
  await drain(quiet)
  await Promise.all(hostile.map((stream) => stream.return(undefined)))
})
