/**
 * A repository can configure how git changes its files on checkout or export: attributes, export rules, filters, line endings,
 * replacements, hooks, configuration. A gateway still gets the blobs of the commit byte by byte, and no program runs.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { parseCommitHash, parseRelativePath } from '../../runtime/api/values.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { type EngineMemory, runCycle } from '../../runtime/sync/cycle.ts'
import { listTree } from '../../scripts/quickstart/check.ts'
import { rejectsWith } from '../support/assertions.ts'
import { startGitHost } from '../support/git-host.ts'
import { profileOf, desiredOf } from '../support/memory-source.ts'
import { gitEnvironment, makeRepository, type Repository, temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'

const signal = AbortSignal.timeout(120_000)
const profile = profileOf([{ source: 'projects', destination: 'projects' }])

/** Files that one of the settings would change. */
const contents: Record<string, string> = {
  'lf.json': '{\n  "a": 1\n}\n',
  'crlf.json': '{\r\n  "a": 1\r\n}\r\n',
  'mixed.txt': 'one\r\ntwo\nthree\rfour',
  'ident.txt': '$Id$ $Id: 0000 $\n',
  'subst.txt': '$Format:%H %an %(describe)$\n',
  'binary.bin': '\0\u0001\u0002\r\n\0',
  'utf16.txt': '\uFEFFtext',
  'empty.txt': '',
  'filtered.txt': 'as it is\n',
  'hidden.txt': 'not in an archive\n',
  'hidden-folder/inside.txt': 'not in an archive either\n',
  'ignored.log': 'in the commit in spite of .gitignore\n',
  '.gitignore': '*.log\n',
  '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = https://git.example/x.git\n',
  '.lfsconfig': '[lfs]\n\turl = https://lfs.example/\n',
  '.mailmap': 'Somebody <plant@example.com>\n',
  // A repository inside the repository.
  'inner/HEAD': 'ref: refs/heads/main\n',
  'inner/config': '[core]\n\tbare = true\n\tfsmonitor = touch canary\n',
  'inner/hooks/post-checkout': '#!/bin/sh\ntouch canary\n',
}

const attributes = [
  '* text eol=crlf ident export-subst filter=evil diff=evil merge=evil',
  'utf16.txt text working-tree-encoding=UTF-16LE-BOM',
  'hidden.txt export-ignore',
  'hidden-folder export-ignore',
  '',
].join('\n')

/** Makes a repository with all of these settings in its work tree, configuration and server; returns the commit. */
function makeHostile(repository: Repository, canary: string): string {
  const { folder, git } = repository
  // As blobs, so that no setting changes the content.
  const lines = Object.entries({ ...contents, '.gitattributes': attributes }).map(([name, content]) => {
    const mode = name.includes('hooks/') ? '100755' : '100644'
    return `M ${mode} inline projects/${name}\ndata ${Buffer.byteLength(content)}\n${content}\n`
  })
  const top = `M 100644 inline .gitattributes\ndata ${Buffer.byteLength(attributes)}\n${attributes}\n`
  const head = 'commit refs/heads/main\ncommitter Plant <plant@example.com> 1700000000 +0000\ndata 0\n'
  execFileSync('git', ['-C', folder, 'fast-import', '--quiet'], { env: gitEnvironment, input: `${head}${top}${lines.join('')}\ndone\n` })
  const commit = git('rev-parse', 'main').toString('utf8').trim()
  const program = `${canary}.sh`
  writeFileSync(program, `#!/bin/sh\ntouch ${canary}\ncat\n`)
  chmodSync(program, 0o755)
  const settings = {
    'core.autocrlf': 'true',
    'core.eol': 'crlf',
    'filter.evil.smudge': program,
    'filter.evil.clean': program,
    'filter.evil.process': program,
    'filter.evil.required': 'true',
    'diff.evil.textconv': program,
    'diff.evil.command': program,
    'merge.evil.driver': program,
    'core.attributesFile': path.join(folder, '.git/info/attributes'),
    'tar.umask': '0',
  }
  for (const [name, value] of Object.entries(settings)) git('config', name, value)
  mkdirSync(path.join(folder, '.git/info'), { recursive: true })
  writeFileSync(path.join(folder, '.git/info/attributes'), attributes)
  // Replaces a blob and a commit, for every git command without GIT_NO_REPLACE_OBJECTS.
  const blob = git('rev-parse', 'main:projects/lf.json').toString('utf8').trim()
  git('replace', blob, git('rev-parse', 'main:projects/mixed.txt').toString('utf8').trim())
  const tree = git('rev-parse', 'main:projects/inner').toString('utf8').trim()
  git('replace', commit, git('commit-tree', '-m', 'Another', tree).toString('utf8').trim())
  return commit
}

/** Every file of a commit as git stores it. */
function blobsOf({ folder }: Repository, commit: string): Record<string, Buffer> {
  const env = { ...gitEnvironment, GIT_NO_REPLACE_OBJECTS: '1' }
  const git = (...args: string[]): Buffer => execFileSync('git', ['-C', folder, ...args], { env })
  const entries = git('ls-tree', '-r', '-z', `${commit}:projects`).toString('utf8').split('\0').filter(Boolean)
  return Object.fromEntries(
    entries.map((entry) => {
      const [head = '', name = ''] = entry.split('\t')
      return [name, git('cat-file', 'blob', head.split(' ')[2] ?? '')]
    }),
  )
}

/** Delivers the commit from a mirror that has planted replacements too. */
async function deliver(t: Test, repo: string, commit: string, folder: string): Promise<string> {
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repo, { allowLocal: true }))
  t.equal((await mirror.resolve('main', { fresh: true }, signal)).commit, commit)
  const [key = ''] = readdirSync(path.join(folder, 'mirrors'))
  const git = (...args: string[]): string =>
    execFileSync('git', ['--git-dir', path.join(folder, 'mirrors', key), ...args], { env: gitEnvironment, encoding: 'utf8' }).trim()
  git('update-ref', `refs/replace/${git('rev-parse', `${commit}:projects/lf.json`)}`, git('rev-parse', `${commit}:projects/crlf.json`))
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir, { recursive: true })
  const memory: EngineMemory = { manifest: undefined }
  const source = mirror.source(() => [parseRelativePath('projects')])
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
  const result = await runCycle(deps, desiredOf(dataDir, parseCommitHash(commit), profile), signal)
  t.equal(result.phase, 'Synced', result.message ?? '')
  return path.join(dataDir, 'projects')
}

for (const kind of ['over http', 'on this machine'] as const) {
  void t.test(`${kind}: a gateway gets the blobs of the commit, whatever the repository wants made of them`, async (t) => {
    if (!requires(t, 'git')) return
    const folder = temporaryFolder(t, 'settings')
    const canary = path.join(folder, 'canary')
    const host = await startGitHost(path.join(folder, 'git'))
    t.teardown(async () => host.stop())
    const repository = kind === 'over http' ? host.repository('plant') : makeRepository(path.join(folder, 'plant'))
    const commit = makeHostile(repository, canary)
    const blobs = blobsOf(repository, commit)
    t.strictSame(Object.keys(blobs).toSorted(), [...Object.keys(contents), '.gitattributes'].toSorted())
    const delivered = await deliver(t, kind === 'over http' ? host.url('plant/.git') : repository.folder, commit, folder)
    t.strictSame(listTree(delivered).toSorted(), Object.keys(blobs).toSorted(), 'export-ignore and .gitignore hide nothing')
    for (const [name, blob] of Object.entries(blobs)) t.ok(readFileSync(path.join(delivered, name)).equals(blob), name)
    t.notOk(existsSync(canary), 'no filter, driver or hook ran')
    t.notOk(existsSync(path.join(delivered, 'canary')))
  })
}

void t.test('a commit with a submodule that names a program to run is refused', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'gitmodules')
  const repository = makeRepository(path.join(folder, 'plant'))
  const url = 'https://git.example/x.git'
  repository.commit({ '.gitmodules': `[submodule "x"]\n\tpath = x\n\turl = ${url}\n\tupdate = !touch canary\n` })
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  const blob = repository.git('rev-parse', 'main:.gitmodules').toString().trim()
  const message = `object ${blob} of this repository is malformed (gitmodulesUpdate); git fsck in the repository shows details`
  await rejectsWith(t, mirror.resolve('main', { fresh: true }, signal), { reason: 'RepositoryRefused', message })
})
