/**
 * The child process that runs git: what it may cost, and how its end is told.
 */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { runGit } from '../../../runtime/source/git/git.ts'
import { makeRepository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'

const limits = { maxMemoryBytes: 1024 ** 3, maxPackBytes: 1024 ** 3 }
const signal = AbortSignal.timeout(290_000)

void t.test('git that writes without end is stopped, and the fault says so', async (t) => {
  if (!requires(t, 'git')) return
  const repository = makeRepository(path.join(temporaryFolder(t, 'git'), 'plant'))
  repository.commit({ big: 'x'.repeat(9 * 1024 * 1024) })
  const run = { folder: path.join(repository.folder, '.git'), args: ['cat-file', 'blob', 'HEAD:big'], timeoutMs: 60_000 }
  const error: unknown = await runGit(run, { limits, signal }).catch((thrown: unknown) => thrown)
  t.match(error, { reason: 'GitFailed', message: 'git cat-file wrote more than 8388608 bytes' })
})

void t.test('git that does not end in time is a timeout, and one that the caller ends is none', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = makeRepository(path.join(temporaryFolder(t, 'git'), 'plant'))
  const run = { folder: path.join(folder, '.git'), args: ['-c', 'alias.wait=!sleep 600', 'wait'], timeoutMs: 200 }
  const late: unknown = await runGit(run, { limits, signal }).catch((thrown: unknown) => thrown)
  t.match(late, { reason: 'GitTimeout' })
  const stop = new AbortController()
  const ended = runGit({ ...run, timeoutMs: 60_000 }, { limits, signal: stop.signal })
  stop.abort(new Error('stopped by the caller'))
  await t.rejects(ended, { message: 'stopped by the caller' })
})

void t.test('a machine that is short of descriptors is told as that, and lacks no program', async (t) => {
  if (!requires(t, 'git', 'sh')) return
  const { folder } = makeRepository(path.join(temporaryFolder(t, 'git'), 'plant'))
  const module = path.join(import.meta.dirname, '../../../runtime/source/git/git.ts')
  // As many are taken as there are, but for so many, with each of which another step of starting git fails.
  const program = `
    import { closeSync, openSync } from 'node:fs'
    import { runGit } from ${JSON.stringify(module)}
    const run = { folder: ${JSON.stringify(path.join(folder, '.git'))}, args: ['rev-parse', '--git-dir'], timeoutMs: 60_000 }
    const how = { limits: ${JSON.stringify(limits)}, signal: AbortSignal.timeout(60_000) }
    await runGit(run, how)
    const taken = []
    try { for (;;) taken.push(openSync('/dev/null')) } catch {}
    const told = []
    for (let free = 0; free <= 8; free += 1) {
      told.push(await runGit(run, how).then(() => 'ended well', ({ reason }) => String(reason)))
      closeSync(taken.pop())
    }
    console.log(JSON.stringify(told))
  `
  const call = ['-c', 'ulimit -n 64 && exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)('sh', call, { env: { ...process.env, NODE_OPTIONS: '' } })
  const told = JSON.parse(stdout) as string[]
  t.ok(told.includes('GitKilled'))
  t.strictSame(
    told.filter((each) => each !== 'GitKilled' && each !== 'ended well'),
    [],
  )
})
