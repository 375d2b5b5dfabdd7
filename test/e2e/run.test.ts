/**
 * `cluster-sync run` as a user calls it: processes, real git, the simulator as the gateway.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { startSimulator } from '../../examples/simulator/simulator.ts'
import { differences, listTree } from '../../scripts/quickstart/check.ts'
import { containsText, lacksText, matchObject } from '../support/assertions.ts'
import { makeRepository, temporaryFolder } from '../support/repository.ts'
import { makeSshKey } from '../support/signing.ts'
import { requires } from '../support/requires.ts'
import { runCli, startCli } from '../support/run-cli.ts'
import { type Profile, projects, setUpRun, writeGatewaySync } from '../support/standalone-run.ts'
import { until } from '../support/world.ts'

function writeManifest(folder: string, repo: string, profile: Profile, ref = 'main', policy = 'Enforce'): string {
  return writeGatewaySync(folder, { repo, ref, profile, spec: { validation: { policy } } })
}

void t.test('--once applies the commit to the folder, scans the gateway and exits with 0', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'once')
  const commit = repository.commit({ 'projects/line/project.json': '{}', 'projects/line/a.txt': 'one', 'other/b.txt': 'not mapped' })
  const gateway = await startSimulator({ dataDir, name: 'gw' })
  t.teardown(async () => gateway.stop())
  const file = writeManifest(folder, repository.folder, projects)
  const result = await runCli(['run', '-f', file, '--data', dataDir, '--gateway', gateway.url, '--once'])
  t.equal(result.code, 0, result.stderr)
  containsText(t, result.stdout, `published ${commit.slice(0, 8)} of main`)
  t.match(result.stdout, /plant: Synced .* gateway read projects/)
  t.strictSame(
    differences({ repository: repository.folder, commit, dataDir, placed: [{ source: 'projects', destination: 'projects' }] }),
    [],
  )
  t.ok(gateway.requests.some(({ method, path }) => method === 'POST' && path.endsWith('/scan/projects')))
})

void t.test('a spec with signature verification applies only signed commits', async (t) => {
  if (!requires(t, 'git', 'ssh-keygen')) return
  const { folder, dataDir, repository } = setUpRun(t, 'verify')
  const key = makeSshKey(folder, 'release')
  mkdirSync(path.join(folder, 'secrets', 'keys'), { recursive: true })
  writeFileSync(path.join(folder, 'secrets', 'keys', 'release.pub'), key.publicKey)
  repository.commit({ 'projects/a.txt': 'unsigned' })
  const file = writeManifest(folder, repository.folder, projects)
  const verify = 'verify: { mode: Commit, secretRef: { name: keys } }'
  writeFileSync(file, readFileSync(file, 'utf8').replace('    ref: main\n', `    ref: main\n    ${verify}\n`))
  const args = ['run', '-f', file, '--data', dataDir, '--secrets', path.join(folder, 'secrets'), '--once']
  const refused = await runCli(args)
  t.equal(refused.code, 1)
  t.match(refused.stderr, /is not signed \(NotVerified\)/)
  t.strictSame(
    readdirSync(dataDir).filter((name) => name !== '.cluster-sync'),
    [],
  )
  for (const [name, value] of Object.entries({ 'gpg.format': 'ssh', 'user.signingKey': key.file, 'commit.gpgSign': 'true' }))
    repository.git('config', name, value)
  repository.commit({ 'projects/a.txt': 'signed' })
  const result = await runCli(args)
  t.equal(result.code, 0, result.stderr)
  t.equal(readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8'), 'signed')
})

void t.test('each further --once applies the difference: added, changed, deleted', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'again')
  const file = writeManifest(folder, repository.folder, projects)
  const placed = [{ source: 'projects', destination: 'projects' }]
  const first = repository.commit({ 'projects/a.txt': '1', 'projects/deep/er/b.txt': '1' })
  t.equal((await runCli(['run', '-f', file, '--data', dataDir, '--once'])).code, 0)
  const second = repository.commit({ 'projects/a.txt': '2', 'projects/deep/er/b.txt': null, 'projects/deep/c.txt': '1' })
  const result = await runCli(['run', '-f', file, '--data', dataDir, '--once'])
  t.equal(result.code, 0, result.stderr)
  containsText(t, result.stdout, '1 added, 1 changed, 1 removed')
  lacksText(t, result.stdout, `published ${first.slice(0, 8)}`, 'what an earlier run left is not told as if it were true now')
  t.strictSame(differences({ repository: repository.folder, commit: second, dataDir, placed }), [])
  t.strictSame(
    listTree(path.join(dataDir, '.cluster-sync')).filter((name) => name.startsWith('run-') || name === 'journal'),
    [],
    'nothing is left of the apply',
  )
})

void t.test('another repository replaces the previous one and its mirror', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'moved')
  repository.commit({ 'projects/a.txt': 'here' })
  const moved = makeRepository(path.join(folder, 'moved'))
  moved.commit({ 'projects/a.txt': 'there' })
  for (const [where, text] of [
    [repository, 'here'],
    [moved, 'there'],
  ] as const) {
    const result = await runCli([
      'run',
      '-f',
      writeManifest(folder, where.folder, projects),
      '--data',
      dataDir,
      '--state',
      path.join(folder, 'state'),
      '--once',
    ])
    t.equal(result.code, 0, `ended without an error: ${result.stderr}`)
    t.equal(readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8'), text)
    t.equal(readdirSync(path.join(folder, 'state/mirrors')).length, 1)
  }
})

void t.test('a release event selects its tag over a branch of that name, across a stop and a power loss', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'push')
  const tagged = repository.commit({ 'projects/a.txt': 'one' })
  repository.git('tag', 'v1')
  const head = repository.commit({ 'projects/a.txt': 'two' })
  repository.git('branch', 'v1')
  const file = writeManifest(folder, repository.folder, projects)
  const secret = path.join(folder, 'token')
  writeFileSync(secret, 'the-token\n')
  const args = ['run', '-f', file, '--data', dataDir, '--receiver-port', '0', '--token-file', secret]
  const first = startCli(t, args)
  await until(() => (first.output().includes(`Synced ${head.slice(0, 8)}`) ? true : undefined), 'the first sync')
  const url = /POST (http:\S+)/.exec(first.output())?.[1] ?? ''
  const push = async (token: string) =>
    await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"action":"published","release":{"tag_name":"v1"}}',
    })
  t.equal((await push('wrong')).status, 401)
  t.equal((await push('the-token')).status, 202)
  // Anything answered with 202 is kept, whatever happens next.
  await first.kill()
  const again = await runCli(['run', '-f', file, '--data', dataDir, '--once'])
  t.equal(again.code, 0, again.stderr)
  t.ok(again.stdout.includes(`published ${tagged.slice(0, 8)} of v1`), again.stdout)
  t.equal(readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8'), 'one')
  const third = startCli(t, args)
  await until(() => (third.output().includes('ready:') ? true : undefined), 'it is ready')
  t.equal(await third.stop(), 0)
  t.equal(readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8'), 'one', 'the spec alone does not take it back')
  writeManifest(folder, repository.folder, projects, head)
  const changed = await runCli(['run', '-f', file, '--data', dataDir, '--once'])
  t.equal(changed.code, 0, changed.stderr)
  t.equal(readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8'), 'two', 'a changed spec ends the request')
})

void t.test('plan shows the changes of a sync file by file and makes none', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'plan')
  const file = writeManifest(folder, repository.folder, projects)
  const first = repository.commit({ 'projects/a.txt': 'one\nsame\n', 'projects/gone.txt': 'x' })
  const plan = ['plan', '-f', file, '--data', dataDir]
  const before = await runCli(plan)
  t.equal(before.code, 1)
  t.match(before.stdout, /\+ projects\/a\.txt[^]*2 to add, 0 to change, 0 to remove/)
  t.strictSame(listTree(dataDir), [], 'nothing was written')
  t.equal((await runCli(['run', '-f', file, '--data', dataDir, '--once'])).code, 0)
  matchObject(t, await runCli(plan), {
    code: 0,
    stdout: `0 to add, 0 to change, 0 to remove, with no deployment mode, at ${first.slice(0, 8)} of main\n`,
  })
  repository.commit({ 'projects/a.txt': 'two\nsame\n', 'projects/gone.txt': null })
  const change = await runCli([...plan, '--format', 'json'])
  t.equal(change.code, 1)
  const { changes } = JSON.parse(change.stdout) as { changes: object[] }
  t.strictSame(changes, [
    { op: 'change', path: 'projects/a.txt', diff: '-one\n+two' },
    { op: 'remove', path: 'projects/gone.txt' },
  ])
  t.equal((await runCli([...plan, '--ref', 'nope'])).code, 2)
})

void t.test('two targets use their own profiles', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, repository } = setUpRun(t, 'targets')
  repository.commit({ 'projects/a.txt': 'a', 'edge/b.txt': 'b' })
  const file = path.join(folder, 'gs.yaml')
  const profiles = { default: projects, edge: { mappings: [{ source: 'edge/', destination: './projects/' }] } }
  const spec = { git: { repo: repository.folder, ref: 'main' }, sync: { profiles } }
  writeFileSync(file, stringify({ apiVersion: 'clustersync.io/v1alpha1', kind: 'GatewaySync', metadata: { name: 'plant' }, spec }))
  for (const name of ['one', 'two']) mkdirSync(path.join(folder, name))
  const targets = ['--target', `name=one,data=${folder}/one`, '--target', `name=two,data=${folder}/two,profile=edge`]
  const result = await runCli(['run', '-f', file, ...targets, '--state', path.join(folder, 'state'), '--once'])
  t.equal(result.code, 0, result.stderr)
  t.strictSame(listTree(path.join(folder, 'one', 'projects')), ['a.txt'])
  t.strictSame(listTree(path.join(folder, 'two', 'projects')), ['b.txt'])
})

void t.test('a commit that would keep every gateway from starting is not published, and the previous one stays', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'gate')
  const mode = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })
  const good = repository.commit({ 'resources/core/config-mode.json': mode('external'), 'resources/dev/config-mode.json': mode('core') })
  const profile: Profile = { collections: { root: 'resources' } }
  const args = ['--target', `name=gw,data=${dataDir},mode=dev`, '--once']
  const first = await runCli(['run', '-f', writeManifest(folder, repository.folder, profile), ...args])
  t.equal(first.code, 0, first.stderr)
  repository.commit({ 'resources/dev/config-mode.json': mode('nowhere') })
  const second = await runCli(['run', '-f', writeManifest(folder, repository.folder, profile), ...args])
  t.equal(second.code, 1)
  t.match(second.stderr, /\(CollectionsInvalid\); the previous commit .*\n.*\(unknown-parent\)/)
  t.strictSame(
    differences({
      repository: repository.folder,
      commit: good,
      dataDir,
      placed: [{ source: 'resources', destination: 'config/resources' }],
    }),
    [],
  )
  const warned = await runCli(['run', '-f', writeManifest(folder, repository.folder, profile, 'main', 'Warn'), ...args])
  t.equal(warned.code, 0, warned.stderr)
  t.match(readFileSync(path.join(dataDir, 'config/resources/dev/config-mode.json'), 'utf8'), /nowhere/)
})

void t.test('a failing run exits with 1, prints its reason and the fix once, and writes nothing', async (t) => {
  if (!requires(t, 'git')) return
  const rows: { name: string; repo?: string; ref?: string; profile?: Profile; args?: string[]; expected: RegExp; files?: string[] }[] = [
    { name: 'an unknown ref', ref: 'no-such-branch', expected: /\(RefNotFound\)/ },
    { name: 'a missing repository', repo: '/nowhere/at/all', expected: /\(RepositoryNotFound\)/ },
    {
      name: 'a required source that the commit does not hold',
      profile: { mappings: [{ source: 'nope', destination: 'projects' }] },
      expected: /plant: .*"nope".*\(SourcePathMissing\)/,
    },
    {
      name: 'a destination that belongs to the gateway',
      profile: { mappings: [{ source: 'projects', destination: 'config/local' }] },
      expected: /\(DestinationNotAllowed\)/,
    },
    {
      name: 'a gateway that is down',
      args: ['--gateway', 'http://127.0.0.1:9'],
      expected: /\(GatewayUnreachable\)/,
      files: ['projects/a.txt'],
    },
  ]
  for (const { name, repo, ref, profile = projects, args = [], expected, files = [] } of rows) {
    const { folder, dataDir, repository } = setUpRun(t, 'faults')
    repository.commit({ 'projects/a.txt': 'a' })
    const file = writeManifest(folder, repo ?? repository.folder, profile, ref)
    const { code, stderr } = await runCli(['run', '-f', file, '--data', dataDir, '--once', ...args])
    t.equal(code, 1, name)
    containsText(t, stderr, expected, name)
    matchObject(t, stderr.trim().split('\n'), [/^[-0-9]{10}T\S+Z .*\([A-Z]\w+\)/, /^ +next: [A-Z]/], name)
    t.equal(stderr.trim().split('\n').length, 2, `${name}: nothing twice`)
    t.strictSame(
      listTree(dataDir).filter((entry) => !entry.startsWith('.cluster-sync/')),
      files,
      name,
    )
  }
})

void t.test('a full disk ends the run with its reason, and the folder is the old commit', async (t) => {
  if (!requires(t, 'git', 'prlimit', 'env')) return
  const { folder, dataDir, repository } = setUpRun(t, 'full')
  const first = repository.commit({ 'projects/a.txt': 'one' })
  const file = writeManifest(folder, repository.folder, projects)
  const args = ['run', '-f', file, '--data', dataDir, '--once']
  t.equal((await runCli(args)).code, 0)
  repository.commit({ 'projects/a.txt': 'two', 'projects/b.txt': 'x'.repeat(500_000) })
  // No file of this process may grow beyond 100 kB, which simulates a full volume without filling one.
  const result = await runCli(args, {
    under: ['env', '--unset=NODE_OPTIONS', '--unset=NODE_V8_COVERAGE', '--ignore-signal=XFSZ', 'prlimit', '--fsize=100000:unlimited'],
  })
  t.equal(result.code, 1, result.stderr.slice(-500))
  t.match(result.stderr, /plant: .*\(DiskFull\)/)
  t.strictSame(
    differences({ repository: repository.folder, commit: first, dataDir, placed: [{ source: 'projects', destination: 'projects' }] }),
    [],
  )
  t.strictSame(
    listTree(path.join(dataDir, '.cluster-sync')).filter((name) => name.startsWith('run-') || name === 'journal'),
    [],
  )
})

void t.test('invalid options and files end with exit code 2 and one line that names the key', async (t) => {
  const folder = temporaryFolder(t, 'usage')
  const good = writeManifest(folder, '/srv/x.git', projects)
  const bad = path.join(folder, 'bad.yaml')
  writeFileSync(bad, readFileSync(good, 'utf8').replace('ref: main', 'ref: main\n    reff: x'))
  const rows: [string[], RegExp][] = [
    [['run', '-f', good, '--data', folder, '--onec'], /unknown option '--onec'.*--once/s],
    [['run', '-f', good], /no target: specify/],
    [['run', '-f', path.join(folder, 'none.yaml'), '--data', folder], /none\.yaml: cannot be read/],
    [['run', '-f', bad, '--data', folder], /unknown key spec\.git\.reff/],
    [['run', '-f', good, '--data', path.join(folder, 'nowhere')], /does not exist/],
    [['run', '-f', good, '--data', folder, '--receiver-port', '70000'], /--receiver-port/],
    [['run', '-f', good, '--data', folder, '--token-file', 'x'], /need --receiver-port/],
    [['run', '-f', good, '--data', folder, 'extra'], /too many arguments/],
    [['ruin'], /unknown command 'ruin'/],
  ]
  for (const [args, expected] of rows) {
    const { code, stderr } = await runCli(args)
    t.equal(code, 2, args.join(' '))
    containsText(t, stderr, expected)
    t.notMatch(stderr, /\n\s+at /, 'no stack trace')
  }
})
