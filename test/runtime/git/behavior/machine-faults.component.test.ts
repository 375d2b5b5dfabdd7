/**
 * The output of real git when the machine is at fault and not the repository: a helper that is killed or cannot be started, and a git
 * without a newer option. None of it counts as mirror damage.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { asFault } from '../../../../runtime/platform/fault.ts'
import { isOwnFailure, repack } from '../../../../runtime/git/disk/mirror-folder.ts'
import { faultOf } from '../../../../runtime/git/command/faults.ts'
import { runGit } from '../../../../runtime/git/command/git.ts'
import { anonymousRemote, anonymousAccess } from '../../../../runtime/git/remote/remote.ts'
import { containsText, matchObject, rejectsWith } from '../../../support/assertions.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { gitEnvironment, makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { absent, requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(120_000)
const limits = { maxMemoryBytes: 1024 ** 3, maxPackBytes: 1024 ** 3 }
const killed = /^GitKilled: a helper process of git was killed, probably because memory ran out$/
/** The fetch may first notice that nothing reads its pack, and then reports no signal. */
const takesNoMore = /^GitKilled: a helper process of git was killed|^GitUnreachable: the connection to .* was lost$/
/** git may be writing to the helper at that time and end from the broken pipe. */
const silent = /^GitKilled: (?:a helper process of git ended without a message, as if it|git fetch) was killed$/

/** A copy of git's program folder in which the given helper ends by SIGKILL. */
function killing(t: Test, helper: string): Record<string, string> {
  const programs = execFileSync('git', ['--exec-path'], { encoding: 'utf8' }).trim()
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  const folder = temporaryFolder(t, 'exec')
  const script = (name: string, lines: readonly string[]): void => {
    writeFileSync(path.join(folder, name), `#!/bin/sh\n${lines.join('\n')}\n`)
    chmodSync(path.join(folder, name), 0o755)
  }
  script('git', [`for word; do [ "$word" != ${helper} ] || kill -9 $$; done`, `exec ${git} "$@"`])
  for (const name of readdirSync(programs)) if (name !== 'git') symlinkSync(path.join(programs, name), path.join(folder, name))
  return { GIT_EXEC_PATH: folder }
}

void t.test('a killed helper of git is reported as killed, and the mirror is not reported as damaged', async (t) => {
  if (!requires(t, 'git', 'which')) return
  const folder = temporaryFolder(t, 'machine')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  host.repository('plant').commit({ a: '1' })
  const own = makeRepository(path.join(folder, 'own'))
  own.commit({ a: '1' })
  const { url } = anonymousRemote(host.url('plant/.git'), { allowLocal: false })
  const about = { url, access: anonymousAccess, proxy: undefined }
  const at = { folder: path.join(own.folder, '.git'), timeoutMs: 60_000 }
  const fetch = { ...at, args: ['fetch', '-q', '--depth=1', url.text, '+main:refs/w/incoming'], protocols: ['http'] as const, about }
  const rows = [
    ['pack-objects', { ...at, args: ['repack', '-a', '-d', '-q'] }, killed],
    ['index-pack', fetch, takesNoMore],
    ['remote-http', fetch, silent],
  ] as const
  for (const [helper, run, told] of rows) {
    const error: unknown = await runGit({ ...run, environment: killing(t, helper) }, { limits, signal }).catch((thrown: unknown) => thrown)
    const { reason, message } = asFault(error)
    containsText(t, `${reason}: ${message}`, told, helper)
    t.notOk(isOwnFailure(error), helper)
  }
})

void t.test('a helper that cannot be started is reported as such', async (t) => {
  if (!requires(t, 'git', 'setpriv', 'prlimit')) return
  if (process.getuid?.() !== 0) {
    absent(t, 'only root may run a program as another user')
    return
  }
  const folder = temporaryFolder(t, 'machine')
  chmodSync(folder, 0o755)
  const { commit, folder: own } = makeRepository(path.join(folder, 'own'))
  commit({ a: '1' })
  const as = ['--reuid', '54322', '--clear-groups', 'prlimit', '--nproc=1']
  const { stderr } = spawnSync('setpriv', [...as, 'git', '-c', 'safe.directory=*', '-C', own, 'repack', '-a', '-d', '-q'], {
    encoding: 'utf8',
    env: { ...gitEnvironment, LC_ALL: 'C' },
  })
  const fault = faultOf(stderr, 'repack', undefined)
  matchObject(t, fault, { reason: 'GitKilled', message: /^git could not start a helper process: .* permits no more processes/ }, stderr)
  t.notOk(isOwnFailure(fault))
  const ofThread = faultOf('fatal: unable to create thread: Resource temporarily unavailable\n', 'repack', undefined)
  matchObject(
    t,
    ofThread,
    { reason: 'GitOutOfMemory', message: /more memory than git may use, or this machine permits no more threads/ },
    'the system says the same of both',
  )
})

void t.test('under a low process limit a fetch fault blames neither the git host nor the repository', async (t) => {
  if (!requires(t, 'git', 'setpriv', 'prlimit')) return
  if (process.getuid?.() !== 0) {
    absent(t, 'only root may run a program as another user')
    return
  }
  const folder = temporaryFolder(t, 'machine')
  chmodSync(folder, 0o755)
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  host.repository('plant').commit({ a: '1' })
  const { url } = anonymousRemote(host.url('plant/.git'), { allowLocal: false })
  const reasons = new Set<string>()
  for (let processes = 1; processes <= 5; processes += 1) {
    // Each fetch runs as its own user, because processes of the previous one may not have ended yet.
    const user = `${54_330 + processes}`
    const mirror = path.join(folder, `mirror-${processes}`)
    execFileSync('git', ['init', '-q', '--bare', mirror])
    execFileSync('chown', ['-R', user, mirror])
    const as = ['--reuid', user, '--clear-groups', 'prlimit', `--nproc=${processes}`]
    const fetch = ['git', '-C', mirror, 'fetch', '-q', '--depth=1', url.text, '+main:refs/w/incoming']
    const { status, stderr } = await promisify(execFile)('setpriv', [...as, ...fetch], { env: { ...gitEnvironment, LC_ALL: 'C' } }).then(
      () => ({ status: 0, stderr: '' }),
      (error: { code: number; stderr: string }) => ({ status: error.code, stderr: error.stderr }),
    )
    if (status === 0) continue
    const fault = faultOf(stderr, 'fetch', { url, access: anonymousAccess, proxy: undefined })
    reasons.add(fault.reason)
    t.match(
      `${fault.reason}: ${fault.message}`,
      /^Git(?:Killed|OutOfMemory): .*permits no more (?:processes|threads)/,
      `${processes}: ${stderr}`,
    )
  }
  t.ok(reasons.has('GitKilled'), [...reasons].join(' '))
})

void t.test('a damaged local repository and a damaged mirror are reported as such', async (t) => {
  const said = 'error: packed object 1 (stored in ./objects/pack/pack-1.pack) is corrupt\n'
  const of = (repo: string) => ({ url: anonymousRemote(repo, { allowLocal: true }).url, access: anonymousAccess, proxy: undefined })
  t.equal(
    faultOf(said, 'fetch', of('/srv/plant.git')).message,
    'a file of the repository on this machine is damaged; git fsck in the repository names it',
  )
  for (const asked of [undefined, of('https://git.example/plant.git')])
    t.equal(faultOf(said, 'fetch', asked).message, 'a file of the mirror on this machine is damaged; the mirror is fetched again')
})

void t.test('a git that cannot merge only small packs merges all packs', async (t) => {
  if (!requires(t, 'git', 'which')) return
  const folder = temporaryFolder(t, 'machine')
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  const older = path.join(folder, 'older')
  mkdirSync(older)
  // The exact message of git 2.31.
  const words = 'echo "error: unknown option \\`${word#--}\'" >&2; exit 129'
  const script = ['#!/bin/sh', 'for word; do case "$word" in', `  --geometric=*) ${words} ;;`, 'esac; done', `exec ${git} "$@"`]
  writeFileSync(path.join(older, 'git'), `${script.join('\n')}\n`)
  chmodSync(path.join(older, 'git'), 0o755)
  for (const [name, programs, isThorough] of [
    ['older', `${older}:${process.env['PATH']}`, true],
    ['newer', process.env['PATH'] ?? '', false],
  ] as const) {
    const repository = makeRepository(path.join(folder, name))
    const commits: string[] = []
    for (let round = 0; round < 5; round += 1) {
      commits.push(repository.commit({ a: `${round}` }))
      repository.git('repack', '-d', '-q')
    }
    const at = path.join(repository.folder, '.git')
    const local = async (args: readonly string[], own: AbortSignal, input = ''): Promise<Buffer> =>
      await runGit({ folder: at, args, input, timeoutMs: 60_000, environment: { PATH: programs } }, { limits, signal: own })
    t.equal(await repack(local, { kept: undefined, thorough: false }, signal), isThorough, name)
    t.equal(readdirSync(path.join(at, 'objects/pack')).filter((file) => file.endsWith('.pack')).length, 1, name)
    for (const [round, commit] of commits.entries()) t.equal(repository.git('show', `${commit}:a`).toString(), `${round}`, name)
    if (isThorough)
      await rejectsWith(t, local(['repack', '--geometric=2'], signal), {
        reason: 'ToolMissing',
        message: 'this git is too old: it does not support --geometric',
      })
  }
})
