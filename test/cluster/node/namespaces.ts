/**
 * Turns new namespaces into a separate machine: fixed paths that the node's programs write to are redirected, and its network has the
 * node's address.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { nodeAddress, nodeFolder, stateFolder } from './configuration.ts'

/** Kernel settings of the whole machine that a kubelet would change: inside, it reads the values that it requires. */
const kernelSettings = { 'vm/overcommit_memory': '1', 'vm/panic_on_oom': '0', 'kernel/panic': '10', 'kernel/panic_on_oops': '1' }

/** `folder`: that of the node on the machine. */
export function prepareNamespaces(folder: string): void {
  run('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/run')
  mkdirSync(nodeFolder)
  run('mount', '--bind', folder, nodeFolder)
  mkdirSync(stateFolder, { mode: 0o700 })
  run('mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/var/log')
  // containerd's CNI plugins keep state below /var/lib, whatever their configuration.
  const layers = { upperdir: path.join('/run', 'lib-changed'), workdir: path.join('/run', 'lib-work') }
  for (const layer of Object.values(layers)) mkdirSync(layer)
  run('mount', '-t', 'overlay', '-o', `lowerdir=/var/lib,upperdir=${layers.upperdir},workdir=${layers.workdir}`, 'overlay', '/var/lib')
  mkdirSync('/var/lib/cni', { recursive: true })
  for (const [name, value] of Object.entries(kernelSettings)) {
    const setting = path.join('/proc/sys', name)
    if (!existsSync(setting)) continue
    const file = path.join(stateFolder, path.basename(name))
    writeFileSync(file, `${value}\n`)
    run('mount', '--bind', file, setting)
  }
  run('ip', 'link', 'set', 'lo', 'up')
  // A kubelet refuses a loopback address, and not every kernel supports dummy interfaces, so the address is on a veth pair.
  run('ip', 'link', 'add', 'node0', 'type', 'veth', 'peer', 'name', 'node1')
  run('ip', 'address', 'add', `${nodeAddress}/24`, 'dev', 'node0')
  for (const end of ['node0', 'node1']) run('ip', 'link', 'set', end, 'up')
  run('ip', 'route', 'add', 'default', 'dev', 'node0')
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
}

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
}
