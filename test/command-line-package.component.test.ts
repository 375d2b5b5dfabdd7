/**
 * The packed command line on a machine that has nothing of the project: installed without a registry into an empty prefix, and run by the
 * Node of the tests and by the oldest line that it is made for.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from './support/repository.ts'
import { absent, requires } from './support/requires.ts'
import { setUpRun, writeGatewaySync } from './support/standalone-run.ts'

const root = path.resolve(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }

type Ended = { code: number; output: string }

/** Without the test runner's loader, which every child process of a test inherits. */
function run(cwd: string, words: readonly string[], more: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...more }
    const child = spawn('env', ['NODE_OPTIONS=', ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 240_000 })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

function succeeds(t: Test, { code, output }: Ended): void {
  t.equal(code, 0, code === 0 ? 'succeeds' : output)
}

/** What a person does first: look at it, check a repository, and bring a commit into a data directory. */
async function works(t: Test, folder: string, node: string, program: string): Promise<void> {
  const call = (...args: string[]) => run(folder, [node, program, ...args])
  t.match(await call('--version'), { code: 0, output: `${version}\n` })
  t.match(await call('--help'), { code: 0, output: /Commands:\n +run / })
  t.match(await call('lint', 'plant'), { code: 0, output: /^0 errors, 0 warnings in 16 resources/ })
  t.match(await call('explain', 'plant', '--mode', 'prod'), { code: 0, output: /system-properties {2}<- prod, overrides core/ })

  const synced = await call('run', '-f', 'gatewaysync.yaml', '--data', 'data', '--state', 'state', '--once')
  t.match(synced, { code: 0, output: / published [0-9a-f]{8} of main/ }, 'a commit is fetched, checked in a thread and published')
  t.same(readdirSync(path.join(folder, 'data/projects')), ['line-1'])
  t.match(await call('status', '--state', 'state'), { code: 0, output: /is ready/ }, 'times are told')
}

/** A folder with a plant's repository, a GatewaySync and an empty data directory. */
function plant(t: Test): string {
  const { folder, repository } = setUpRun(t, 'packed')
  cpSync(path.join(root, 'examples/plant'), path.join(folder, 'plant'), { recursive: true })
  repository.commit({ 'projects/line-1/project.json': '{}' })
  writeGatewaySync(folder, { repo: repository.folder })
  return folder
}

void t.test('the packed command line needs no registry, no checkout, and no newer Node than it says', { timeout: 290_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const built = temporaryFolder(t, 'built')
  succeeds(t, await run(root, [process.execPath, 'scripts/package/cli/main.ts', built]))
  const tarball = path.join(built, `cluster-sync-operator-cli-${version}.tgz`)
  const prefix = path.join(built, 'prefix')
  succeeds(t, await run(built, ['npm', 'install', '--offline', '--global', '--no-audit', '--prefix', prefix, tarball]))
  const installed = path.join(prefix, 'lib/node_modules')
  t.same(readdirSync(installed), ['cluster-sync-operator-cli'], 'it brings no other packages')
  t.notOk(readdirSync(path.join(installed, 'cluster-sync-operator-cli')).includes('node_modules'))
  const program = path.join(prefix, 'bin/cluster-sync')

  await works(t, plant(t), process.execPath, program)

  const older = path.join(built, 'older')
  mkdirSync(older)
  writeFileSync(path.join(older, 'package.json'), '{}')
  const settings = { npm_config_prefer_offline: 'true', npm_config_audit: 'false', npm_config_fund: 'false' }
  const got = await run(older, ['npm', 'install', 'node@22'], settings)
  if (got.code !== 0 && /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED/.test(got.output)) {
    absent(t, 'the npm registry is not to be reached')
    return
  }
  succeeds(t, got)
  const node22 = path.join(older, 'node_modules/node/bin/node')
  t.match(await run(older, [node22, '--version']), { code: 0, output: /^v22[.]/ })
  await works(t, plant(t), node22, program)
})
