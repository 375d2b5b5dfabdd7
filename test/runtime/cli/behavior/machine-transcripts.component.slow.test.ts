/**
 * The output of commands on a machine that lacks something: git, write access, a free port, or an unlocked data directory.
 * test/support/transcript.ts compares the calls with the recorded transcripts.
 */
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { temporaryFolder } from '../../../support/repository.ts'
import { limitedMachine } from '../../../support/limited-machine.ts'
import { absent, requires } from '../../../support/requires.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { kept, ofAnyTime, setUpPlant } from '../../../support/transcript.ts'
import { until } from '../../../support/world.ts'

const gatewayUser = 2003
const once = 'run -f gatewaysync.yaml --data data --once'

/** A folder with the plant and an empty data directory, and a function that runs a call and formats its transcript. */
function setUp(t: Test) {
  const folder = temporaryFolder(t, 'machine')
  chmodSync(folder, 0o755)
  setUpPlant(folder)
  mkdirSync(path.join(folder, 'data'))
  const env = { STATE_DIRECTORY: path.join(folder, 'state') }
  // The hooks that tap preloads into child processes write to a folder of root at exit.
  const play = async (call: string, under: readonly string[] = ['env', 'NODE_OPTIONS=']): Promise<string> => {
    const { code, stdout, stderr } = await runCli(call.split(' '), { cwd: folder, env, under })
    return `$ cluster-sync ${call}\n${ofAnyTime((stdout + stderr).replaceAll(`${folder}/`, ''))}[exit ${code}]\n`
  }
  return { folder, play }
}

function file(name: string): string {
  return path.join(import.meta.dirname, 'transcripts', `${name}.txt`)
}

function mayNot(t: Test): boolean {
  if (process.geteuid?.() === 0) return !requires(t, 'git', 'unshare', 'mount')
  absent(t, 'only root may take a program away, or work as another user')
  return true
}

void t.test('without git each command names git as missing', { timeout: 600_000 }, async (t) => {
  if (mayNot(t)) return
  const { folder, play } = setUp(t)
  const under = limitedMachine(folder, ['rm /usr/bin/git'])
  const calls = [once, 'plan -f gatewaysync.yaml --data data', 'lint plant', 'lint plant --ref main', 'sign plant --dry-run']
  const all: string[] = []
  for (const call of calls) all.push(await play(call, under))
  kept(t, file('without-git'), all.join('\n'))
})

void t.test('a data directory without write permission is named', { timeout: 600_000 }, async (t) => {
  if (mayNot(t)) return
  const { folder, play } = setUp(t)
  chownSync(path.join(folder, 'data'), gatewayUser, gatewayUser)
  chmodSync(path.join(folder, 'data'), 0o500)
  kept(t, file('not-writable'), await play(once))
})

void t.test('a port that is in use is named', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const { folder, play } = setUp(t)
  writeFileSync(path.join(folder, 'token'), 'secret\n')
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '::', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const calls = [`--receiver-port ${port} --token-file token`, `--status-port ${port} --status-host ::`]
  const all: string[] = []
  for (const words of calls) all.push(await play(`run -f gatewaysync.yaml --data data ${words}`))
  kept(t, file('port-in-use'), all.join('\n').replaceAll(String(port), '<port>'))
})

void t.test('a second run on the same data directory exits, and the first keeps running', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const { folder, play } = setUp(t)
  const here = ['-f', path.join(folder, 'gatewaysync.yaml'), '--data', path.join(folder, 'data'), '--state', path.join(folder, 'first')]
  const first = startCli(t, ['run', ...here])
  await until(() => (first.output().includes(' ready: 1 of 1') ? true : undefined), 'the first is ready')
  const second = await play(once)
  t.equal(await first.stop(), 0)
  const ofAnyMachine = second.replaceAll(/process \d+ on "[^"]*"/g, 'process <pid> on "<machine>"')
  kept(t, file('two-runs'), ofAnyMachine)
})
