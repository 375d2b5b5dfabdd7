/**
 * Commands of pages without their own test: each run applies a commit to a gateway, a rollback restores the previous state, and the plan of
 * a change has the output on the page. Only local paths, addresses and ports differ.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { startSimulator } from '../examples/simulator/simulator.ts'
import { makeAuthority } from './support/authority.ts'
import { textsIn } from './support/page.ts'
import { makeRepository, temporaryFolder } from './support/repository.ts'
import { requires } from './support/requires.ts'
import { runCli, spawnCli } from './support/run-cli.ts'
import { setUpRun, writeGatewaySync } from './support/standalone-run.ts'
import { until } from './support/world.ts'

const program = /^(?:\$ )?cluster-sync (run .*)$/m
const runs = ['docs/how-to/api-key.md', 'docs/how-to/standalone.md', 'docs/how-to/status-page.md'] as const

for (const page of runs) {
  void t.test(`the run of ${page} brings a commit to the gateway`, { timeout: 600_000 }, async (t) => {
    if (!requires(t, 'git', 'openssl')) return
    const { folder, dataDir, repository } = setUpRun(t, 'page-run')
    repository.commit({ 'projects/line-1/project.json': '{}' })
    writeGatewaySync(folder, { repo: repository.folder })
    writeFileSync(path.join(folder, 'gateway-api-key'), 'sync:secret\n')
    const { certificate, server } = await makeAuthority(path.join(folder, 'authority'), 'Plant CA', ['localhost'])
    const text = [...textsIn(page, 'sh'), ...textsIn(page, 'console')].find((block) => program.test(block)) ?? ''
    const [, command = ''] = program.exec(text) ?? []
    const common = { dataDir, name: 'gateway', host: 'localhost' }
    const simulator = command.includes('https:')
      ? await startSimulator({ ...common, apiKey: 'sync:secret', tls: { key: server.key, cert: server.certificate } })
      : await startSimulator(common)
    t.teardown(async () => simulator.stop())
    const places = new Map([
      ['/usr/local/bin/ignition/data', dataDir],
      ['http://localhost:8088', simulator.url],
      ['https://localhost:8043', simulator.url],
      ['8080', '0'],
    ])
    const words = command.split(' ').map((word) => places.get(word) ?? word)
    const authority = path.join(folder, 'plant-ca.crt')
    writeFileSync(authority, certificate)
    const child = spawnCli([...words, '--state', 'state'], { cwd: folder, env: { NODE_EXTRA_CA_CERTS: authority } })
    t.teardown(() => child.kill('SIGKILL'))
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    await until(() => output.includes(' ready: 1 of 1') || child.exitCode !== null || undefined, 'the gateway is ready')
    t.match(output, command.includes('--gateway') ? /Synced .*gateway read projects/ : /status page: http[^]*Synced/)
    child.kill('SIGINT')
    t.equal(await ended, 0, output)
  })
}

void t.test('the rollback of docs/how-to/rollback.md restores the previous content', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'way-back')
  const repository = makeRepository(path.join(folder, 'plant'))
  repository.commit({ 'projects/a.txt': 'good' })
  const bad = repository.commit({ 'projects/a.txt': 'bad' })
  repository.git('clone', '-q', '--bare', '.', path.join(folder, 'plant.git'))
  repository.git('remote', 'add', 'origin', path.join(folder, 'plant.git'))
  repository.git('config', 'push.autoSetupRemote', 'true')
  const [block = ''] = textsIn('docs/how-to/rollback.md', 'console')
  const script = block.replaceAll(/^\$ /gm, '').replace('3bb65981', bad)
  const identity = {
    GIT_AUTHOR_NAME: 'Jane',
    GIT_AUTHOR_EMAIL: 'jane@example.com',
    GIT_COMMITTER_NAME: 'Jane',
    GIT_COMMITTER_EMAIL: 'j@example.com',
  }
  execFileSync('sh', ['-ec', script], { cwd: repository.folder, env: { ...process.env, ...identity, GIT_EDITOR: 'true' }, stdio: 'pipe' })
  const shown = execFileSync('git', ['-C', path.join(folder, 'plant.git'), 'show', 'main:projects/a.txt'], { encoding: 'utf8' })
  t.equal(shown, 'good')
})

void t.test('the git commands of docs/tutorials/plant-engineer.md change a branch and undo a change', async (t) => {
  if (!requires(t, 'git', 'sh')) return
  const folder = temporaryFolder(t, 'plant-engineer')
  const remote = path.join(folder, 'plant.git')
  cpSync(path.resolve(import.meta.dirname, '../examples/plant'), path.join(folder, 'origin'), { recursive: true })
  const origin = makeRepository(path.join(folder, 'origin'))
  origin.commit({}, 'Add the plant')
  origin.git('clone', '-q', '--bare', '.', remote)
  const config = [
    '[user]\n name = Jane Doe\n email = jane@example.com',
    `[url "${remote}"]\n insteadOf = https://git.example.com/plants/plant.git`,
  ]
  writeFileSync(path.join(folder, '.gitconfig'), config.join('\n'))
  const run = (script = 'false', cwd = path.join(folder, 'plant')): string =>
    execFileSync('sh', ['-ec', script], {
      cwd,
      env: { ...process.env, HOME: folder, GIT_CONFIG_GLOBAL: path.join(folder, '.gitconfig') },
      encoding: 'utf8',
      stdio: 'pipe',
    })
  const titleOf = (ref: string): unknown =>
    (JSON.parse(run(`git --git-dir=${remote} show ${ref}:services/projects/line-1/project.json`, folder)) as { title: unknown }).title
  const [clone, begin, push, undo] = textsIn('docs/tutorials/plant-engineer.md', 'sh')
  run(clone, folder)
  run(begin)
  const project = path.join(folder, 'plant/services/projects/line-1/project.json')
  writeFileSync(project, readFileSync(project, 'utf8').replace('"Line 1"', '"Press line"'))
  run(push)
  t.strictSame([titleOf('press-line'), titleOf('main')], ['Press line', 'Line 1'])
  run(`git --git-dir=${remote} update-ref refs/heads/main refs/heads/press-line`, folder)
  run(undo)
  t.equal(titleOf('main'), 'Line 1')
})

void t.test('the plan of docs/how-to/pipelines.md for a change has the lines on the page', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'page-plan')
  const repository = makeRepository(folder)
  mkdirSync(folder, { recursive: true })
  cpSync(path.resolve(import.meta.dirname, '../examples/plant'), folder, { recursive: true })
  repository.commit({}, 'Add the plant')
  repository.git('checkout', '-q', '-b', 'press-line')
  repository.commit({ 'services/projects/line-1/project.json': '{"title": "Press line"}\n' })
  const [command = ''] = textsIn('docs/how-to/pipelines.md', 'sh')
  const [shown = ''] = textsIn('docs/how-to/pipelines.md', 'text')
  const { code, stdout, stderr } = await runCli(command.trim().split(' ').slice(1), { cwd: folder })
  t.equal(code, 0, stderr)
  for (const line of shown.trimEnd().split('\n')) t.ok(stdout.split('\n').includes(line), `${line}\n${stdout}`)
})
