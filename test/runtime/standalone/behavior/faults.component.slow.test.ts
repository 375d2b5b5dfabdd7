/**
 * Tests a run under faults: an interrupted apply, a state folder that disappears, a push that cannot be resolved, and unusual local
 * repositories.
 */
import { randomBytes } from 'node:crypto'
import { chownSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { isInterrupted } from '../../../../runtime/sync/apply/journal.ts'
import { releaseLock } from '../../../../runtime/sync/disk/lock.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { profileOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { projects, setUpRun, writeGatewaySync } from '../../../support/standalone-run.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'
import { until } from '../../../support/world.ts'

void t.test('an interrupted apply is completed before waiting for the git host, a pause or a dry run', async (t) => {
  if (!requires(t, 'git')) return
  const rows: [string, object][] = [
    ['the git host is away', {}],
    ['paused', { paused: true }],
    ['a dry run', { sync: { defaults: { dryRun: true }, profiles: { default: projects } } }],
  ]
  for (const [name, spec] of rows) {
    const { dataDir, sync } = syncedFolder(t, 'interrupted')
    const profile = profileOf([{ source: 'projects', destination: 'projects' }])
    await sync({ 'projects/a': '1', 'projects/b': '1' }, profile)
    const boundary = (at: string): void => {
      if (at === 'journal') throw new Error('killed')
    }
    await sync({ 'projects/a': '2', 'projects/b': '2' }, profile, {}, { boundary })
    t.ok(isInterrupted(dataDir), name)
    releaseLock(dataDir)
    const folder = temporaryFolder(t, 'file')
    const file = writeGatewaySync(folder, { repo: path.join(folder, 'nowhere'), spec: spec as Record<string, unknown> })
    const { code, stderr } = await runCli(['run', '-f', file, '--data', dataDir, '--once'])
    t.equal(code, 1, name)
    t.match(stderr, /\(RepositoryNotFound\)/, name)
    t.notOk(isInterrupted(dataDir), name)
    const contents = ['a', 'b'].map((file) => readFileSync(path.join(dataDir, 'projects', file), 'utf8'))
    t.strictSame(contents, ['2', '2'], `${name}: one commit`)
  }
})

void t.test('--once exits with 1 while a managed file is missing, even after a new commit', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'missing')
  repository.commit({ 'projects/a.txt': 'a', 'projects/b.txt': 'b' })
  const run = ['run', '-f', writeGatewaySync(folder, { repo: repository.folder }), '--data', dataDir, '--once']
  t.equal((await runCli(run)).code, 0)
  rmSync(path.join(dataDir, 'projects/a.txt'))
  repository.commit({ 'projects/b.txt': 'b2' })
  const { code, stderr } = await runCli(run)
  t.equal(code, 1)
  t.match(stderr, /plant: Drifted.*1 managed file was changed or deleted locally: projects\/a\.txt \(Drifted\)/)
  t.equal(readFileSync(path.join(dataDir, 'projects/b.txt'), 'utf8'), 'b2')
})

void t.test('a run continues to sync when its state folder disappears, and writes the state again', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'state-gone')
  repository.commit({ 'projects/a.txt': '1' })
  const state = path.join(folder, 'state')
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: { polling: { interval: '5s' } } })
  const run = startCli(t, ['run', '-f', file, '--data', dataDir, '--state', state])
  await until(() => (run.output().includes('ready:') ? true : undefined), 'it is ready')
  renameSync(state, `${state}-away`)
  const commit = repository.commit({ 'projects/a.txt': '2' })
  await until(() => (run.output().includes(`Synced ${commit.slice(0, 8)}`) ? true : undefined), 'the next commit is in place')
  t.equal(readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8'), '2')
  await until(() => (existsSync(path.join(state, 'state.json')) ? true : undefined), 'the state is written again')
  t.equal(await run.stop(), 0)
})

void t.test('a push of a missing ref is reported as pending, and again once the git host has the ref', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'refused')
  repository.commit({ 'projects/a.txt': 'a' })
  const token = path.join(folder, 'token')
  writeFileSync(token, 'the-token')
  const file = writeGatewaySync(folder, { repo: repository.folder })
  const run = startCli(t, ['run', '-f', file, '--data', dataDir, '--receiver-port', '0', '--token-file', token])
  await until(() => (run.output().includes('ready:') ? true : undefined), 'it is ready')
  const url = /POST (http:\S+)/.exec(run.output())?.[1] ?? ''
  const headers = { authorization: 'Bearer the-token', 'content-type': 'application/json' }
  t.equal((await fetch(url, { method: 'POST', headers, body: '{"ref":"typo"}' })).status, 202)
  const line = / the push to typo is pending: .*\(RefNotFound\); the previous commit [0-9a-f]{8} of main stays published$/m
  await until(() => (line.test(run.output()) ? true : undefined), 'the line about the push')
  repository.git('branch', 'typo')
  const end = / the push to typo is no longer pending: the git host has commit [0-9a-f]{8} for it$/m
  await until(() => (end.test(run.output()) ? true : undefined), 'the line about the end of the wait')
  t.equal(await run.stop(), 0)
})

void t.test('a push with an interrupted transfer makes the run not ready, and is retried without another push or poll', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir } = setUpRun(t, 'broken-off')
  let breaks = false
  const host = await startGitHost(folder, {
    before(request, response) {
      if (!breaks || request.method !== 'POST') return false
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result', 'content-length': '8192' })
      response.write('0008NAK\n', () => response.destroy())
      return true
    },
  })
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  repository.commit({ 'projects/a.txt': '1' })
  const token = path.join(folder, 'token')
  writeFileSync(token, 'the-token')
  const file = writeGatewaySync(folder, { repo: host.url('plant.git'), spec: { polling: { enabled: false } } })
  const run = startCli(t, ['run', '-f', file, '--data', dataDir, '--receiver-port', '0', '--token-file', token])
  await until(() => (run.output().includes('ready:') ? true : undefined), 'it is ready')
  const url = /POST (http:\S+)/.exec(run.output())?.[1] ?? ''
  const commit = repository.commit({ 'projects/a.txt': '2' })
  breaks = true
  const headers = { authorization: 'Bearer the-token', 'content-type': 'application/json' }
  t.equal((await fetch(url, { method: 'POST', headers, body: '{"ref":"main"}' })).status, 202)
  await until(
    () =>
      / not ready: .*\(GitUnreachable\); the previous commit [0-9a-f]{8} of main stays published$/m.test(run.output()) ? true : undefined,
    'it is reported',
  )
  breaks = false
  await until(() => (run.output().includes(`Synced ${commit.slice(0, 8)}`) ? true : undefined), 'the push is met')
  t.notMatch(run.output(), /is refused/)
  t.equal(await run.stop(), 0)
})

void t.test('a local repository of another user with a large loose object is read', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'local')
  repository.commit({ 'projects/small.txt': 'small' })
  const large = randomBytes(55 * 1024 * 1024)
  writeFileSync(path.join(repository.folder, 'projects/large.bin'), large)
  repository.git('add', '.')
  repository.git('commit', '-q', '-m', 'a large file')
  // Only root can change the owner; other users read their own repository here.
  if (process.geteuid?.() === 0)
    for (const name of ['', ...readdirSync(repository.folder, { recursive: true }).map(String)])
      chownSync(path.join(repository.folder, name), 2003, 2003)
  const { code, stderr } = await runCli(['run', '-f', writeGatewaySync(folder, { repo: repository.folder }), '--data', dataDir, '--once'])
  t.equal(code, 0, stderr)
  t.ok(large.equals(readFileSync(path.join(dataDir, 'projects/large.bin'))))
})
