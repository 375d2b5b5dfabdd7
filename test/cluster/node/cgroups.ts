/**
 * The cgroups of a node: one per hierarchy of version 1, with the node's name; the kubelet creates those of its pods below.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const parent = '/sys/fs/cgroup'
/** Controllers that a kubelet and runc use. */
const controllers = ['blkio', 'cpu', 'cpuacct', 'cpuset', 'devices', 'freezer', 'memory', 'pids']

/** The reason why cgroups are unavailable; undefined if they are available. */
export function whyNoCgroups(): string | undefined {
  if (existsSync(path.join(parent, 'cgroup.controllers'))) return 'cgroups are of version 2 here, of which the node was not tried'
  const missing = controllers.filter((name) => !existsSync(path.join(parent, name, 'cgroup.procs')))
  return missing.length === 0 ? undefined : `no cgroup of ${missing.join(', ')}`
}

export function makeCgroups(name: string): void {
  for (const hierarchy of hierarchies()) {
    const folder = path.join(parent, hierarchy, name)
    mkdirSync(folder, { recursive: true })
    // A new cgroup has neither processors nor memory nodes until those of its parent are copied.
    for (const file of ['cpuset.cpus', 'cpuset.mems']) {
      if (existsSync(path.join(folder, file))) writeFileSync(path.join(folder, file), readFileSync(path.join(parent, hierarchy, file)))
    }
  }
}

/** Resolves when all are removed. A process that has just exited stays inside for a moment; throws if one stays for a minute. */
export async function removeCgroups(name: string): Promise<void> {
  const endMs = Date.now() + 60_000
  for (const hierarchy of hierarchies()) {
    const folder = path.join(parent, hierarchy, name)
    while (!isRemoved(folder)) {
      if (Date.now() > endMs) throw new Error(`${folder} is still in use`)
      await wait(50)
    }
  }
}

export function hasCgroups(name: string): boolean {
  return hierarchies().some((hierarchy) => existsSync(path.join(parent, hierarchy, name)))
}

function hierarchies(): string[] {
  return readdirSync(parent).filter((name) => existsSync(path.join(parent, name, 'cgroup.procs')))
}

function isRemoved(folder: string): boolean {
  if (!existsSync(folder)) return true
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true }))
      if (entry.isDirectory() && !isRemoved(path.join(folder, entry.name))) return false
    rmdirSync(folder)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true
    return false
  }
}
