// Makes a fresh clone ready and then runs a command: installs the packages from the lockfile when node_modules is missing or older than it,
// builds tap's plugin set unless the first argument is --no-test-runner, and starts the command on a Node that is new enough. Plain JavaScript
// that Node 18 understands.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findNode } from './node.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const modules = join(root, 'node_modules')
/** What was installed, and with which plugins the test runner was built; npm removes the latter with the package. */
const stamps = { 'package-lock.json': join(modules, '.cluster-sync-installed'), '.taprc': join(modules, '@tapjs/test/.cluster-sync-built') }
const isRunnerNeeded = process.argv[2] !== '--no-test-runner'
const [command, ...args] = process.argv.slice(isRunnerNeeded ? 2 : 3)
const shell = process.platform === 'win32'

function say(line) {
  process.stderr.write(`${line}\n`)
}

function stop(message) {
  say(message)
  process.exit(1)
}

function hashOf(file) {
  return createHash('sha256')
    .update(readFileSync(join(root, file)))
    .digest('hex')
}

function isDone(file) {
  return existsSync(stamps[file]) && readFileSync(stamps[file], 'utf8') === hashOf(file)
}

/** Runs one step of the installation; a line every ten seconds shows progress. */
async function step(title, command, args, env) {
  say(title)
  const startedMs = Date.now()
  const timer = setInterval(() => say(`  ${title}: ${Math.round((Date.now() - startedMs) / 1000)} s`), 10_000)
  const child = spawn(command, args, { cwd: root, env, shell, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output = `${output}${chunk}`.slice(-4096)))
  const code = await new Promise((resolve) => {
    child.on('error', (error) => {
      output = error.code === 'ENOENT' ? `${command} is not installed` : error.message
      resolve(1)
    })
    child.on('close', resolve)
  })
  clearInterval(timer)
  if (code !== 0) stop(`"${[command, ...args].join(' ')}" failed; is the npm registry reachable?\n${output.trim()}`)
}

const node = (() => {
  if (Number(process.versions.node.split('.')[0]) < 18)
    return stop(`Node ${process.versions.node} is too old to install the packages of this project: install Node 22.18 or newer`)
  try {
    return findNode(say)
  } catch (error) {
    return stop(error.message)
  }
})()
const env = {
  ...process.env,
  PATH: [join(modules, '.bin'), dirname(node), process.env.PATH].join(delimiter),
  // Thousands of short processes would otherwise strip and compile the same files: it halves their CPU time.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(modules, '.cache/node-compile'),
}

if (!isDone('package-lock.json')) {
  // A later change of the lockfile is installed over the existing packages, which is much faster. npm runs on the Node that it came with.
  const how = existsSync(join(modules, '.package-lock.json')) ? ['install', '--no-save'] : ['ci']
  const quiet = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  await step('installing the packages of package-lock.json', 'npm', [...how, ...quiet], process.env)
  writeFileSync(stamps['package-lock.json'], hashOf('package-lock.json'))
}
if (isRunnerNeeded && !isDone('.taprc')) {
  await step('preparing the test runner', join(modules, '.bin', 'tap'), ['build'], env)
  writeFileSync(stamps['.taprc'], hashOf('.taprc'))
}

if (command !== undefined) {
  const child = spawn(command, args, { env, shell, stdio: 'inherit' })
  // A terminal sends Ctrl-C to the command itself; other senders signal only this process.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      if (name !== 'SIGINT' || !process.stdin.isTTY) child.kill(name)
    })
  }
  child.on('error', (error) => stop(`could not start ${command}: ${error.message}`))
  child.on('exit', (code) => process.exit(code ?? 1))
}
