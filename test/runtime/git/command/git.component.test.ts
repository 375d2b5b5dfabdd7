/**
 * The child process that runs git: its limits, and how its end is reported.
 */
import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { runGit } from '../../../../runtime/git/command/git.ts'
import { matchObject, rejectsWith } from '../../../support/assertions.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const limits = { maxMemoryBytes: 1024 ** 3, maxPackBytes: 1024 ** 3 }
const signal = AbortSignal.timeout(290_000)

void t.test('git with too much output is stopped, and the fault says so', async (t) => {
  if (!requires(t, 'git')) return
  const repository = makeRepository(path.join(temporaryFolder(t, 'git'), 'plant'))
  repository.commit({ big: 'x'.repeat(9 * 1024 * 1024) })
  const run = { folder: path.join(repository.folder, '.git'), args: ['cat-file', 'blob', 'HEAD:big'], timeoutMs: 60_000 }
  const error: unknown = await runGit(run, { limits, signal }).catch((thrown: unknown) => thrown)
  matchObject(t, error, { reason: 'GitFailed', message: 'git cat-file wrote more than 8388608 bytes' })
})

void t.test('git that exceeds its time limit is a timeout, and an aborted one is not', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = makeRepository(path.join(temporaryFolder(t, 'git'), 'plant'))
  const run = { folder: path.join(folder, '.git'), args: ['-c', 'alias.wait=!sleep 600', 'wait'], timeoutMs: 200 }
  const late: unknown = await runGit(run, { limits, signal }).catch((thrown: unknown) => thrown)
  matchObject(t, late, { reason: 'GitTimeout' })
  const stop = new AbortController()
  const ended = runGit({ ...run, timeoutMs: 60_000 }, { limits, signal: stop.signal })
  stop.abort(new Error('stopped by the caller'))
  await rejectsWith(t, ended, { message: 'stopped by the caller' })
})

void t.test('a lack of file descriptors is reported as such, not as a missing program', async (t) => {
  if (!requires(t, 'git', 'sh')) return
  const { folder } = makeRepository(path.join(temporaryFolder(t, 'git'), 'plant'))
  const module = path.join(import.meta.dirname, '../../../../runtime/git/command/git.ts')
  // Takes all file descriptors, then releases them one by one, so that each step of starting git fails once.
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
      told.push(await runGit(run, how).then(() => 'ended well', ({ reason, message }) => reason + ': ' + message))
      closeSync(taken.pop())
    }
    console.log(JSON.stringify(told))
  `
  const call = ['-c', 'ulimit -n 64 && exec "$@"', 'sh', process.execPath, '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)('sh', call, { env: { ...process.env, NODE_OPTIONS: '' } })
  const told = JSON.parse(stdout) as string[]
  const ofProcess = 'GitKilled: git cannot be started: this process has too many files open; raise its limit (ulimit -n)'
  const ofHelper = 'GitKilled: git could not open more files; raise the limit on open files (ulimit -n)'
  t.ok(told.includes(ofProcess))
  t.strictSame(
    told.filter((each) => each !== ofProcess && each !== ofHelper && each !== 'ended well'),
    [],
  )
})

void t.test('git runs under a system limit that is lower than its own', async (t) => {
  if (!requires(t, 'git', 'prlimit')) return
  const repository = makeRepository(path.join(temporaryFolder(t, 'git'), 'plant'))
  const commit = repository.commit({ a: '1' })
  // The limit applies to this test process, so this must be the last test of the file.
  await promisify(execFile)('prlimit', ['--pid', String(process.pid), `--fsize=${512 * 1024 ** 2}`])
  const run = { folder: path.join(repository.folder, '.git'), args: ['rev-parse', 'HEAD'], timeoutMs: 60_000 }
  t.equal((await runGit(run, { limits, signal })).toString().trim(), commit)
})
