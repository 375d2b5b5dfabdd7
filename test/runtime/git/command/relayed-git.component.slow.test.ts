/**
 * A git process that another thread runs behaves like a local one: its output, its exit, and how it is ended.
 */
import { once } from 'node:events'
import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { asFault } from '../../../../runtime/platform/fault.ts'
import { waitForEnd, type GitRun, startGit, type StartGit } from '../../../../runtime/git/command/git.ts'
import { maxErrorBytes } from '../../../../runtime/git/command/http-trace.ts'
import { relayedGit, runForThread } from '../../../../runtime/git/command/relayed-git.ts'
import { matchObject } from '../../../support/assertions.ts'
import { childProcesses } from '../../../support/child-processes.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'

const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }
const signal = AbortSignal.timeout(60_000)
const relayed: StartGit = (run, own) => relayedGit(run, own, (asked) => runForThread(asked))

function setUp(t: Test) {
  const repository = makeRepository(temporaryFolder(t, 'relayed-git'))
  repository.commit({ small: 'a', large: 'line\n'.repeat(1_000_000), empty: '' })
  const idOf = (name: string): string => repository.git('rev-parse', `HEAD:${name}`).toString().trim()
  const run = (...args: string[]): GitRun => ({ folder: path.join(repository.folder, '.git'), args, timeoutMs: 60_000 })
  return { run, idOf }
}

async function outcomeOf(start: StartGit, run: GitRun, input: string): Promise<object> {
  const git = start(run, limits)
  const chunks: Buffer[] = []
  git.stdout.on('data', (chunk: Buffer) => void chunks.push(chunk))
  git.stdin.on('error', () => undefined)
  git.stdin.end(input)
  const fault = await waitForEnd(git, run, signal).then(() => undefined, asFault)
  const { code, by } = await git.ended
  return { output: Buffer.concat(chunks), reason: fault?.reason, message: fault?.message, code, by }
}

void t.test('output, error messages and exit code are those of git', async (t) => {
  if (!requires(t, 'git')) return
  const { run, idOf } = setUp(t)
  const rows: Record<string, [GitRun, string]> = {
    'no input': [run('rev-parse', 'HEAD'), ''],
    'large and small outputs': [run('cat-file', '--batch'), `${idOf('small')}\n${idOf('large')}\n${idOf('empty')}\n${idOf('large')}\n`],
    'much input': [run('cat-file', '--batch-check'), `${idOf('small')}\n`.repeat(50_000)],
    'a code of its own': [run('rev-parse', '--verify', '--quiet', 'none'), ''],
    'words of its own': [run('cat-file', 'blob', '0'.repeat(40)), ''],
    'a repository that is not there': [{ ...run('rev-parse', 'HEAD'), folder: '/does/not/exist' }, ''],
    'more time than it has': [{ ...run('late'), settings: ['alias.late=!sleep 60'], timeoutMs: 50 }, ''],
  }
  for (const [name, [of, input]] of Object.entries(rows)) {
    const [here, there] = [await outcomeOf(startGit, of, input), await outcomeOf(relayed, of, input)]
    t.strictSame(there, here, name)
  }
})

void t.test('unread output is not buffered without limit, and git ends when its reader stops', async (t) => {
  if (!requires(t, 'git')) return
  const { run, idOf } = setUp(t)
  const git = relayed(run('cat-file', '--batch'), limits)
  git.stdin.end(`${idOf('large')}\n`)
  await once(git.stdout, 'readable')
  matchObject(t, await outcomeOf(relayed, run('rev-parse', 'HEAD'), ''), { reason: undefined }, 'another one runs its course meanwhile')
  t.ok(git.stdout.readableLength < 256 * 1024, `${git.stdout.readableLength} bytes of five million`)
  matchObject(t, childProcesses(), [{ hasEnded: false }])
  git.stdout.destroy()
  git.stderr.resume()
  matchObject(t, await git.ended, { error: undefined })
  t.strictSame(childProcesses(), [])
})

void t.test('error output is passed on only up to the limit', async (t) => {
  if (!requires(t, 'git')) return
  const { run } = setUp(t)
  const git = relayed({ ...run('flood'), settings: ['alias.flood=!head -c 5000000 /dev/zero >&2'] }, limits)
  git.stdin.end()
  git.stdout.resume()
  let bytes = 0
  git.stderr.on('data', (chunk: Buffer) => (bytes += chunk.length))
  matchObject(t, await git.ended, { code: 0 })
  t.ok(bytes >= maxErrorBytes && bytes < 2 * maxErrorBytes + 64 * 1024, `${bytes} bytes of five million`)
})

void t.test("git ends when the requester's port closes", async (t) => {
  if (!requires(t, 'git')) return
  const { run } = setUp(t)
  const ports = new MessageChannel()
  runForThread({ run: run('cat-file', '--batch'), limits, port: ports.port2 })
  matchObject(t, childProcesses(), [{ hasEnded: false }])
  ports.port1.close()
  await until(() => childProcesses().length === 0 || undefined, 'git has ended')
})
