/**
 * What real git writes where the machine, and not the repository, is the trouble: a helper that is killed or cannot be started, and a git that is
 * older than an option. None of it is taken for a damaged mirror.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { asFault } from '../../../../runtime/fault.ts'
import { isOwnFailure, repack } from '../../../../runtime/source/disk/mirror-folder.ts'
import { faultOf } from '../../../../runtime/source/git/faults.ts'
import { runGit } from '../../../../runtime/source/git/git.ts'
import { anonymousAccess } from '../../../../runtime/source/remote/access.ts'
import { anonymousRemote } from '../../../../runtime/source/remote/remote.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { gitEnvironment, makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { absent, requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(120_000)
const limits = { maxMemoryBytes: 1024 ** 3, maxPackBytes: 1024 ** 3 }
const killed = 'GitKilled: a helper of git was ended from outside, as a machine does that is short of memory'
/** Where the fetch itself notices first that nobody takes its pack, it knows of no signal. */
const takesNoMore = /^GitKilled: a helper of git was ended from outside|^GitUnreachable: the connection to .* broke off$/
/** git itself may write to the helper by then, and end by that. */
const silent = /^GitKilled: (?:a helper of git ended without a word, as one does that is|git fetch was) ended from outside$/

/** Programs of git's own folder, but for one that ends by SIGKILL. */
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

void t.test('a helper of git that is killed is told as that, and no mirror is blamed', async (t) => {
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
    t.match(`${reason}: ${message}`, told, helper)
    t.notOk(isOwnFailure(error), helper)
  }
})

void t.test('a helper that cannot be started is told as that', async (t) => {
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
  t.match(fault, { reason: 'GitKilled', message: /^git could start no helper/ }, stderr)
  t.notOk(isOwnFailure(fault))
  const ofThread = faultOf('fatal: unable to create thread: Resource temporarily unavailable\n', 'repack', undefined)
  t.match(ofThread, { reason: 'GitOutOfMemory' }, 'a thread that finds no memory within the bound of git')
})

void t.test('a git that cannot merge only the small packs merges all of them', async (t) => {
  if (!requires(t, 'git', 'which')) return
  const folder = temporaryFolder(t, 'machine')
  const git = execFileSync('which', ['git'], { encoding: 'utf8' }).trim()
  const older = path.join(folder, 'older')
  mkdirSync(older)
  // Word for word what git 2.31 says.
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
      await t.rejects(local(['repack', '--geometric=2'], signal), {
        reason: 'ToolMissing',
        message: 'this git is too old: it knows no --geometric',
      })
  }
})
