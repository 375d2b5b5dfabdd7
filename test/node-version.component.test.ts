/**
 * The Node that runs the sources: the installed one if it is recent enough, otherwise the one in .node-version.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from './support/repository.ts'

const root = path.resolve(import.meta.dirname, '..')
const fallback = readFileSync(path.join(root, '.node-version'), 'utf8').trim()
const platformPackage = `node-${process.platform}-${process.arch}`
const printArguments = 'basename "$0"; for each; do echo "$each"; done'

/** The programs of this test, on PATH and in ~/.cache/cluster-sync-operator. */
type Machine = { checkout: string; programs: string; cache: string }

/** A checkout with its set-up scripts, and an npm that records its calls and "installs" programs that print their arguments. */
function setUp(
  t: Test,
  npm = `mkdir -p node_modules/@tapjs/test; ${printProgram('node_modules/.bin/tap')}; ${printProgram(`node_modules/${platformPackage}/bin/node`)}`,
): Machine {
  const folder = temporaryFolder(t, 'machine')
  const [checkout, programs, cache] = ['checkout', 'programs', 'cache'].map((name) => path.join(folder, name)) as [string, string, string]
  for (const file of ['scripts/ensure.mjs', 'scripts/node.mjs', 'bin/cluster-sync.js', '.node-version', 'package-lock.json', '.taprc'])
    cpSync(path.join(root, file), path.join(checkout, file))
  writeFileSync(path.join(checkout, 'package.json'), '{"type":"module"}')
  writeProgram(path.join(programs, 'npm'), `echo "$*" >> ${folder}/calls; ${npm}`)
  return { checkout, programs, cache }
}

/** Shell code that writes a program which answers --version like the fallback. */
function printProgram(file: string): string {
  const script = `#!/bin/sh\\nif [ "$1" = --version ]; then echo v${fallback}; exit; fi\\n${printArguments.replaceAll('"', '\\"')}\\n`
  return `mkdir -p ${path.dirname(file)}; printf "${script.replaceAll('$', '\\$')}" > ${file}; chmod 755 ${file}`
}

function writeProgram(file: string, script: string): void {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\n${script}\n`)
  chmodSync(file, 0o755)
}

function callsOf({ checkout }: Machine): string[] {
  return readFileSync(path.join(checkout, '../calls'), 'utf8').trim().split('\n')
}

/** Runs a program of the checkout like a Node of another version. */
function runAs(version: string, { checkout, programs, cache }: Machine, [file = '', ...args]: readonly string[]) {
  const disguise = `data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'${version}'}})`
  const env = { PATH: `${programs}:/usr/bin:/bin`, CLUSTER_SYNC_TEST_CACHE: cache }
  const words = ['--import', disguise, path.join(checkout, file), ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8', timeout: 60_000 })
  return { status, stdout, stderr }
}

void t.test('a supported Node runs the command line itself', async (t) => {
  const machine = setUp(t)
  mkdirSync(path.join(machine.checkout, 'runtime'))
  writeFileSync(
    path.join(machine.checkout, 'runtime/cli.ts'),
    'const words: string[] = process.argv.slice(2)\nprocess.stdout.write(words.join())',
  )
  for (const supported of ['22.18.0', '24.0.0', '26.1.0'])
    t.strictSame(runAs(supported, machine, ['bin/cluster-sync.js', 'lint', '.']), { status: 0, stdout: 'lint,.', stderr: '' }, supported)
  t.notOk(existsSync(machine.cache))
})

void t.test('an older Node installs the fallback once, and starts the command line with it', async (t) => {
  const machine = setUp(t)
  for (const old of ['18.20.8', '20.19.0', '22.17.1', '23.11.0']) {
    const { status, stdout } = runAs(old, machine, ['bin/cluster-sync.js', 'lint', '.'])
    t.strictSame({ status, stdout }, { status: 0, stdout: `node\n${path.join(machine.checkout, 'runtime/cli.ts')}\nlint\n.\n` }, old)
  }
  const calls = callsOf(machine)
  t.equal(calls.length, 1)
  t.ok(calls[0]?.endsWith(` ${platformPackage}@${fallback}`), calls[0] ?? '')
})

void t.test('a script installs the packages once with a message, and runs on the fallback', async (t) => {
  const machine = setUp(t)
  const first = runAs('18.20.8', machine, ['scripts/ensure.mjs', 'node', 'a.ts'])
  t.match(first.stderr, /^Node 22\.18 or newer is needed .*\ninstalling the packages of package-lock\.json\npreparing the test runner\n$/)
  const again = runAs('18.20.8', machine, ['scripts/ensure.mjs', 'node', 'a.ts'])
  for (const { status, stdout } of [first, again]) t.strictSame({ status, stdout }, { status: 0, stdout: 'node\na.ts\n' })
  t.equal(again.stderr, '')
  t.equal(callsOf(machine).filter((call) => call.startsWith('ci ')).length, 1)
  for (const file of ['package-lock.json', 'node_modules/.package-lock.json']) writeFileSync(path.join(machine.checkout, file), '{}')
  runAs('18.20.8', machine, ['scripts/ensure.mjs'])
  t.ok(callsOf(machine).at(-1)?.startsWith('install --no-save '), 'a changed lockfile is installed over what is there')
})

void t.test('a failed installation is an error that names the fix', async (t) => {
  const machine = setUp(t, 'echo "npm error ENOTFOUND registry"; exit 1')
  for (const [file, status] of [
    ['bin/cluster-sync.js', 2],
    ['scripts/ensure.mjs', 1],
  ] as const) {
    const refused = runAs('20.19.0', machine, [file])
    t.equal(refused.status, status)
    t.match(refused.stderr, /Node 22\.18 or newer is needed and this is .*npm error ENOTFOUND registry\nInstall Node 22\.18 or newer/s)
  }
  const { status, stderr } = runAs('22.18.0', machine, ['scripts/ensure.mjs', 'node', 'a.ts'])
  t.equal(status, 1)
  t.match(stderr, /"npm ci .*" failed; is the npm registry reachable\?\nnpm error ENOTFOUND registry\n$/)
})
