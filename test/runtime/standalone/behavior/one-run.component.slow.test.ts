/**
 * Tests that a run applies only commits of its own GatewaySync, ref and repository, and never runs beside another one.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { makeRepository } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { projects, setUpRun, writeGatewaySync } from '../../../support/standalone-run.ts'
import { until } from '../../../support/world.ts'

/** Creates `main` and `staging`, which share no file. */
function twoBranches(repository: ReturnType<typeof makeRepository>): void {
  repository.commit({ 'projects/main.txt': 'main' })
  repository.git('branch', 'staging')
  repository.git('checkout', '-q', 'staging')
  repository.commit({ 'projects/main.txt': null, 'projects/staging.txt': 'staging' })
  repository.git('checkout', '-q', 'main')
}

void t.test('a commit from a dry run of another ref is never applied by the next run', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'question')
  twoBranches(repository)
  const run = (file: string) => ['run', '-f', file, '--data', dataDir]
  const main = writeGatewaySync(folder, { repo: repository.folder })
  t.equal((await runCli([...run(main), '--once'])).code, 0)
  const dryRun = { sync: { defaults: { dryRun: true }, profiles: { default: projects } } }
  const staging = await runCli([...run(writeGatewaySync(folder, { repo: repository.folder, ref: 'staging', spec: dryRun })), '--once'])
  t.equal(staging.code, 1)
  t.match(staging.stderr, /1 to add.*1 to remove.*\(DryRun\)/)

  // The git host is unavailable, so only a commit published by an earlier run could be applied.
  repository.git('config', 'core.bare', 'maybe')
  const again = startCli(t, run(writeGatewaySync(folder, { repo: repository.folder })))
  await until(() => (again.output().includes('not ready:') ? true : undefined), 'the git host was asked')
  await until(() => (again.output().includes('plant: Pending') ? true : undefined), 'the target was looked at')
  t.equal(await again.stop(), 0)
  t.match(again.output(), /the published commit is of staging/)
  t.strictSame(listTree(path.join(dataDir, 'projects')), ['main.txt'])
})

void t.test('a run with another repository or GatewaySync does not apply the commit published earlier', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'other')
  repository.commit({ 'projects/a.txt': 'a' })
  const dryRun = { sync: { defaults: { dryRun: true }, profiles: { default: projects } } }
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: dryRun })
  t.equal((await runCli(['run', '-f', file, '--data', dataDir, '--once'])).code, 1)
  const nowhere = path.join(folder, 'nowhere')
  for (const [name, choices, expected] of [
    ['another repository', { repo: nowhere }, /Pending.*of another repository/s],
    ['another name', { repo: nowhere, name: 'press' }, /not ready:/],
  ] as const) {
    const run = startCli(t, ['run', '-f', writeGatewaySync(folder, choices), '--data', dataDir])
    await until(() => (run.output().includes('not ready:') && expected.test(run.output()) ? true : undefined), name)
    t.equal(await run.stop(), 0)
    t.notOk(existsSync(path.join(dataDir, 'projects')), name)
  }
})

type Kept = { uid: string; generation: number; spec: object; status: { published: object; history: object[] } }

void t.test('a second run on a data directory or state folder exits with 1 and changes nothing', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'twice')
  twoBranches(repository)
  const [state, other, elsewhere] = ['state', 'other', 'elsewhere'].map((name) => path.join(folder, name)) as [string, string, string]
  mkdirSync(other)
  mkdirSync(elsewhere)
  const first = startCli(t, ['run', '-f', writeGatewaySync(folder, { repo: repository.folder }), '--data', dataDir, '--state', state])
  await until(() => (first.output().includes('ready:') ? true : undefined), 'the first run is ready')
  // Excludes reports, which the first run updates every half minute when it checks for drift.
  const kept = (): unknown => {
    const { uid, generation, spec, status } = JSON.parse(readFileSync(path.join(state, 'state.json'), 'utf8')) as Kept
    return { uid, generation, spec, published: status.published, history: status.history }
  }
  const before = kept()
  const moved = makeRepository(path.join(folder, 'moved'))
  moved.commit({ 'projects/b.txt': 'b' })
  // A separate file, because the first run reloads its own file when it changes.
  const file = writeGatewaySync(elsewhere, { repo: moved.folder, ref: 'main' })
  const rows: [string, string[]][] = [
    ['the same data directory', ['--data', dataDir, '--state', path.join(folder, 'state-2')]],
    ['the same state folder', ['--data', other, '--state', state]],
  ]
  for (const [name, folders] of rows) {
    for (const once of [['--once'], []]) {
      const { code, stdout, stderr } = await runCli(['run', '-f', file, ...folders, ...once])
      t.equal(code, 1, name)
      t.match(stderr, /process \d+ on .*\(FolderLocked\)/, name)
      t.equal(stdout, '', name)
    }
  }
  t.strictSame(kept(), before)
  t.notOk(existsSync(path.join(folder, 'state-2', 'state.json')))
  t.strictSame(listTree(path.join(dataDir, 'projects')), ['main.txt'])
  const commit = repository.commit({ 'projects/next.txt': 'next' })
  first.signal('SIGHUP')
  t.equal(await first.ended, null, 'a hang-up ends it, and its locks are those of a dead process')
  const last = await runCli([
    'run',
    '-f',
    writeGatewaySync(folder, { repo: repository.folder }),
    '--data',
    dataDir,
    '--state',
    state,
    '--once',
  ])
  matchObject(t, last, { code: 0, stdout: new RegExp(`Synced ${commit.slice(0, 8)}`) }, last.stderr)
})

void t.test('targets that share a folder through a link, mount or nesting are refused, and nothing is written', async (t) => {
  const { folder, dataDir, repository } = setUpRun(t, 'shared')
  const within = path.join(dataDir, 'projects')
  const mount = path.join(folder, 'mount')
  for (const made of [within, mount]) mkdirSync(made)
  symlinkSync(folder, path.join(folder, 'link'))
  const rows: [string, string, RegExp][] = [
    ['a link', path.join(folder, 'link/data'), /targets one and two share a data directory, /],
    ['one within the other', within, /the data directory of target two is inside that of target one: /],
  ]
  const isMounted = spawnSync('mount', ['--bind', dataDir, mount]).status === 0
  if (isMounted) {
    t.teardown(() => spawnSync('umount', [mount]))
    rows.push(['a mount', mount, /targets one and two share a data directory, /])
  } else t.comment('this user may not mount')
  const file = writeGatewaySync(folder, { repo: repository.folder })
  for (const [name, other, refusal] of rows) {
    const targets = ['--target', `name=one,data=${dataDir}`, '--target', `name=two,data=${other}`]
    const { code, stdout, stderr } = await runCli(['run', '-f', file, ...targets, '--once'])
    t.equal(code, 2, name)
    containsText(t, stderr, refusal, name)
    t.equal(stdout, '', name)
    t.strictSame(readdirSync(dataDir), ['projects'], name)
  }
})

void t.test('a repeated signal, as from a terminal, ends a run with 0', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'signals')
  repository.commit({ 'projects/a.txt': 'a' })
  const run = startCli(t, ['run', '-f', writeGatewaySync(folder, { repo: repository.folder }), '--data', dataDir])
  await until(() => (run.output().includes('ready:') ? true : undefined), 'it is ready')
  run.signal('SIGINT')
  run.signal('SIGINT')
  t.equal(await run.ended, 0)
})
