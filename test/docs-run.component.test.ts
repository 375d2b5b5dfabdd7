/**
 * Commands of pages that no test of their own plays: each run brings a commit to a gateway, the way back leads back, and the plan of a change says
 * what the page shows. Only places of the reader's machine, addresses and ports are others.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
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

const program = /^(?:\$ )?npx --no -- cluster-sync (run .*)$/m
const runs = ['docs/api-key.md', 'docs/standalone.md', 'docs/status-page.md'] as const

for (const page of runs) {
  void t.test(`the run of ${page} brings a commit to the gateway`, { timeout: 120_000 }, async (t) => {
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

void t.test('the way back of docs/rollback.md leads to what was there before', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'way-back')
  const repository = makeRepository(path.join(folder, 'plant'))
  repository.commit({ 'projects/a.txt': 'good' })
  const bad = repository.commit({ 'projects/a.txt': 'bad' })
  repository.git('clone', '-q', '--bare', '.', path.join(folder, 'plant.git'))
  repository.git('remote', 'add', 'origin', path.join(folder, 'plant.git'))
  repository.git('config', 'push.autoSetupRemote', 'true')
  const [block = ''] = textsIn('docs/rollback.md', 'console')
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

void t.test('the plan of docs/pipelines.md says of a change what the page shows', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'page-plan')
  const repository = makeRepository(folder)
  mkdirSync(folder, { recursive: true })
  cpSync(path.resolve(import.meta.dirname, '../examples/plant'), folder, { recursive: true })
  repository.commit({}, 'Add the plant')
  repository.git('checkout', '-q', '-b', 'press-line')
  repository.commit({ 'services/projects/line-1/project.json': '{"title": "Press line"}\n' })
  const [command = ''] = textsIn('docs/pipelines.md', 'sh')
  const [shown = ''] = textsIn('docs/pipelines.md', 'text')
  const { code, stdout, stderr } = await runCli(command.trim().split(' ').slice(1), { cwd: folder })
  t.equal(code, 0, stderr)
  for (const line of shown.trimEnd().split('\n')) t.ok(stdout.split('\n').includes(line), `${line}\n${stdout}`)
})
