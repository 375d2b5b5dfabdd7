/**
 * `node test/cluster/node/keeper.ts <folder> <pid>`: runs a node in its own process, mount and network namespaces until it receives a
 * signal or the process it serves has exited. The whole node ends with its first process, which ends with this one, so no process, mount,
 * interface or address can outlive it. The keeper then removes the cgroups and the folder of the node; if the keeper was killed, the next
 * start does.
 */
import { spawn } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { childOf, isAlive, startOf } from '../processes.ts'
import { makeCgroups, removeCgroups } from './cgroups.ts'
import { type Keeper, keeperFile, programPath } from './start.ts'

const [folder = '', servedPid = ''] = process.argv.slice(2)
const id = path.basename(folder)
let isStopped = false
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => (isStopped = true))

makeCgroups(id)
// The first process inside adopts orphaned processes, which a shell reaps and Node does not.
const first = ['bash', '-c', '"$@" & wait $!', 'init', process.execPath, path.join(import.meta.dirname, 'init.ts'), folder]
const namespaces = ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc']
const child = spawn('setpriv', ['--pdeathsig', 'KILL', '--', 'unshare', ...namespaces, '--', ...first], {
  stdio: 'inherit',
  env: { ...process.env, PATH: programPath() },
})
const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
void ended.then(() => (isStopped = true))

while (!isStopped && isAlive(Number(servedPid))) {
  const inner = childOf(child.pid ?? 0)
  if (inner !== undefined && !existsSync(path.join(folder, keeperFile))) {
    const keeper: Keeper = { pid: process.pid, startedAt: startOf(process.pid), inner }
    writeFileSync(path.join(folder, keeperFile), JSON.stringify(keeper))
  }
  await wait(100)
}
const inner = childOf(child.pid ?? 0)
if (inner !== undefined) process.kill(inner, 'SIGKILL')
await ended
await removeCgroups(id)
// Keeps the folder, so that the waiting process can read why the node did not start.
if (!existsSync(path.join(folder, 'failed')) || !isAlive(Number(servedPid))) rmSync(folder, { recursive: true, force: true })
