// Makes a fresh clone ready and then runs a command: installs from the lockfile when node_modules is missing or older than it, builds
// tap's plugin set, and starts the command on the pinned Node. Plain JavaScript that Node 18 understands, because it may be all there is.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

if (Number(process.versions.node.split('.')[0]) < 18) {
  process.stderr.write(
    `Node ${process.versions.node} is too old to install the packages of this project: install Node 18 or newer, best the one in .node-version\n`,
  )
  process.exit(1)
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
const stamp = join(modules, '.cluster-sync-installed')
const path = [join(modules, '.bin'), process.env.PATH].join(delimiter)

/** What an installation depends on: the lockfile, the plugins of tap and the Node that runs them. */
function wanted() {
  const hash = createHash('sha256')
  for (const file of ['package-lock.json', '.taprc']) hash.update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

function run(command, args, options) {
  const shell = process.platform === 'win32'
  return spawnSync(command, args, { cwd: root, env: { ...process.env, PATH: path }, shell, ...options })
}

function step(command, args) {
  const { status, stdout, stderr, error } = run(command, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (status === 0) return
  const detail = error === undefined ? `${stdout}\n${stderr}`.trim().split('\n').slice(0, 15).join('\n') : error.message
  process.stderr.write(
    `could not prepare this checkout: "${command} ${args.join(' ')}" failed; is the npm registry reachable?\n${detail}\n`,
  )
  process.exit(1)
}

const installed = existsSync(stamp) ? readFileSync(stamp, 'utf8') : ''
if (installed !== wanted()) {
  process.stderr.write('installing dependencies from package-lock.json\n')
  step('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'])
  step(join(modules, '.bin', 'tap'), ['build'])
  writeFileSync(stamp, wanted())
}

const [command, ...args] = process.argv.slice(2)
if (command !== undefined) {
  const child = spawn(command, args, { env: { ...process.env, PATH: path }, shell: process.platform === 'win32', stdio: 'inherit' })
  // A terminal sends Ctrl-C to the command itself; everyone else tells only us.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      if (name !== 'SIGINT' || !process.stdin.isTTY) child.kill(name)
    })
  }
  child.on('error', (error) => {
    process.stderr.write(`could not start ${command}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code) => process.exit(code ?? 1))
}
