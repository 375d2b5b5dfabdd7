/**
 * The packed command line on a machine without the project: installed without a registry into an empty prefix, and run by the Node of the
 * tests and by the oldest supported version.
 */
import { spawn } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { matchObject } from './support/assertions.ts'
import { findOldestNode, oldestNode } from './support/oldest-node.ts'
import { temporaryFolder } from './support/repository.ts'
import { requires } from './support/requires.ts'
import { setUpRun, writeGatewaySync } from './support/standalone-run.ts'

const root = path.resolve(import.meta.dirname, '..')
const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { version: string }

type Ended = { code: number; output: string }

/** Without the test runner's loader, which every child process of a test inherits. */
function run(cwd: string, words: readonly string[], more: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, ...more }
    const child = spawn('env', ['NODE_OPTIONS=', ...words], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

function succeeds(t: Test, { code, output }: Ended): void {
  t.equal(code, 0, code === 0 ? 'succeeds' : output)
}

/** A user's first steps: the help text, a check of a repository, and a sync of a commit into a data directory. */
async function works(t: Test, folder: string, node: string, program: string): Promise<void> {
  const call = (...args: string[]) => run(folder, [node, program, ...args])
  matchObject(t, await call('--version'), { code: 0, output: `${version}\n` })
  matchObject(t, await call('--help'), { code: 0, output: /^Local .*:\n +run /m })
  matchObject(t, await call('lint', 'plant'), { code: 0, output: /^0 errors, 0 warnings in 17 resources/ })
  matchObject(t, await call('explain', 'plant', '--mode', 'prod'), { code: 0, output: /system-properties {2}<- prod, overrides core/ })

  const synced = await call('run', '-f', 'gatewaysync.yaml', '--data', 'data', '--state', 'state', '--once')
  matchObject(t, synced, { code: 0, output: / published [0-9a-f]{8} of main/ }, 'a commit is fetched, checked in a thread and published')
  t.strictSame(readdirSync(path.join(folder, 'data/projects')), ['line-1'])
  matchObject(t, await call('status', '--state', 'state'), { code: 0, output: /is ready/ }, 'times are told')

  writeFileSync(path.join(folder, 'kubeconfig'), kubeconfig)
  const asked = await run(folder, [node, program, 'status', 'plant'], { KUBECONFIG: path.join(folder, 'kubeconfig') })
  matchObject(
    t,
    asked,
    { code: 2, output: /^cluster-sync: the cluster at https:..127[.]0[.]0[.]1:1 does not answer/ },
    'a cluster is asked',
  )
}

/** For a nonexistent cluster: no server listens on port 1. */
const kubeconfig = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Config',
  clusters: [{ name: 'away', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'jane', user: { token: 'none' } }],
  contexts: [{ name: 'away', context: { cluster: 'away', user: 'jane', namespace: 'plant' } }],
  'current-context': 'away',
})

/** A folder with a plant's repository, a GatewaySync and an empty data directory. */
function plant(t: Test): string {
  const { folder, repository } = setUpRun(t, 'packed')
  cpSync(path.join(root, 'examples/plant'), path.join(folder, 'plant'), { recursive: true })
  repository.commit({ 'projects/line-1/project.json': '{}' })
  writeGatewaySync(folder, { repo: repository.folder })
  return folder
}

void t.test('the packed command line works without registry and checkout', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const built = temporaryFolder(t, 'built')
  succeeds(t, await run(root, [process.execPath, 'scripts/package/cli/main.ts', built]))
  const tarball = path.join(built, `cluster-sync-operator-cli-${version}.tgz`)
  const prefix = path.join(built, 'prefix')
  succeeds(t, await run(built, ['npm', 'install', '--offline', '--global', '--no-audit', '--prefix', prefix, tarball]))
  const installed = path.join(prefix, 'lib/node_modules')
  t.strictSame(readdirSync(installed), ['cluster-sync-operator-cli'], 'it brings no other packages')
  t.notOk(readdirSync(path.join(installed, 'cluster-sync-operator-cli')).includes('node_modules'))
  const program = path.join(prefix, 'bin/cluster-sync')

  await works(t, plant(t), process.execPath, program)

  await t.test('an unsupported Node is refused with the required version', async (t) => {
    for (const version of ['20.19.0', '22.17.1', '23.11.0']) {
      const disguise = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${version}'}})`
      const refused = await run(built, [process.execPath, '--import', disguise, program, '--version'])
      matchObject(t, refused, { code: 2, output: /^cluster-sync: Node 22\.18 or newer is needed/ }, version)
    }
  })

  await t.test(`runs with Node ${oldestNode}, the oldest that it permits`, async (t) => {
    const found = findOldestNode()
    // Also under CI: an unavailable registry is not a fault of this project.
    if ('away' in found) {
      t.plan(0, `the npm registry does not give Node ${oldestNode}: ${found.away}`)
      return
    }
    matchObject(t, await run(built, [found.program, '--version']), { code: 0, output: `v${oldestNode}\n` })
    await works(t, plant(t), found.program, program)
  })
})
