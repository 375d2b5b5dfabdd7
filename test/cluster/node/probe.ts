/**
 * Checks whether a node can run on this machine. Each requirement is tried in namespaces that end with the attempt, so that tests are
 * skipped with the missing requirement instead of failing.
 */
import { type ExecFileSyncOptions, execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { findProgram, nodePrograms } from '../binaries.ts'
import { makeCgroups, removeCgroups, whyNoCgroups } from './cgroups.ts'
import { programPath } from './start.ts'

const programs = [
  'bash',
  'containerd',
  'containerd-shim-runc-v2',
  'ctr',
  'ip',
  'iptables',
  'iptables-restore',
  'mount',
  'nsenter',
  'runc',
  'setpriv',
  'unshare',
]
const networkPlugins = ['host-local', 'loopback', 'ptp']

/** Rules of the kinds that kube-proxy and the tests write. */
const rules = `*nat
:PROBE - [0:0]
-A PROBE -m comment --comment "probe" -m statistic --mode random --probability 0.5 -j RETURN
-A PROBE -m addrtype --dst-type LOCAL -m mark ! --mark 0x4000/0x4000 -j MARK --or-mark 0x4000
-A PROBE -m recent --name PROBE --rcheck --seconds 10 --reap -j RETURN
-A PROBE -p tcp -m tcp -j DNAT --to-destination 198.18.0.2:80
-A POSTROUTING -j MASQUERADE --random-fully
COMMIT
*filter
-A FORWARD -m conntrack --ctstate INVALID -j DROP
-A FORWARD -s 198.18.0.3 -d 198.18.0.2 -p tcp --dport 80 -j REJECT
-A FORWARD -m mark --mark 0x4000/0x4000 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
COMMIT
`

/** A test run with a separate build step uses what was built; otherwise the tests build and print a note. */
export const testsMayBuild = process.env['CI'] === undefined

/** The reason as text; undefined if a node can run. `mayBuild`: missing programs do not count if Go can build them. */
export async function whyNoNode({ mayBuild }: { mayBuild: boolean }): Promise<string | undefined> {
  const missing = whatIsMissing(mayBuild)
  if (missing !== undefined) return missing
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-probe-'))
  try {
    return whyNoNamespaces(folder) ?? (await whyNoContainer(folder))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function whatIsMissing(mayBuild: boolean): string | undefined {
  if (process.platform !== 'linux') return 'a node needs Linux'
  if (process.getuid?.() !== 0) return 'a node needs root'
  const absent = programs.filter((name) => !isOnPath(name))
  if (absent.length > 0) return `${absent.join(', ')} is not on PATH; install it with: bash scripts/system-packages.sh`
  const plugins = networkPlugins.filter((name) => !existsSync(path.join('/usr/lib/cni', name)))
  if (plugins.length > 0) return `/usr/lib/cni lacks ${plugins.join(', ')}; install it with: bash scripts/system-packages.sh`
  const toBuild = nodePrograms.filter((name) => findProgram(name) === undefined)
  if (toBuild.length > 0 && !mayBuild) return `${toBuild.join(', ')} was not built; build it with: node test/cluster/build.ts`
  if (toBuild.length > 0 && !isOnPath('go')) return `${toBuild.join(', ')} is not there, and without Go it cannot be built`
  return whyNoCgroups()
}

/** New namespaces with the operations of a node in them: mounts, an overlay, a veth pair, network rules. */
function whyNoNamespaces(folder: string): string | undefined {
  for (const name of ['lower', 'upper', 'work', 'merged']) mkdirSync(path.join(folder, name))
  writeFileSync(path.join(folder, 'rules'), rules)
  const layers = `lowerdir=${folder}/lower,upperdir=${folder}/upper,workdir=${folder}/work`
  const steps = [
    'mount -t tmpfs tmpfs /run',
    `mount -t overlay -o ${layers} overlay ${folder}/merged`,
    'mkdir /run/upper /run/work',
    'mount -t overlay -o lowerdir=/var/lib,upperdir=/run/upper,workdir=/run/work overlay /var/lib',
    'ip link set lo up',
    'ip link add node0 type veth peer name node1',
    'ip address add 198.18.0.1/24 dev node0',
    'ip link set node0 up',
    'echo 1 > /proc/sys/net/ipv4/ip_forward',
    `iptables-restore --noflush ${folder}/rules`,
  ]
  for (const count of steps.keys()) {
    const script = steps.slice(0, count + 1).join(' && ')
    const { status, stderr, error } = unshared(['bash', '-c', script])
    if (status !== 0) return `a node cannot do "${steps[count] ?? ''}": ${error?.message ?? stderr.trim()}`
  }
  return undefined
}

/** A container with limits, created by runc below a cgroup of this test. */
async function whyNoContainer(folder: string): Promise<string | undefined> {
  const bundle = path.join(folder, 'bundle')
  const id = `cluster-sync-probe-${path.basename(folder).slice(-6)}`
  mkdirSync(path.join(bundle, 'rootfs'), { recursive: true })
  try {
    makeCgroups(id)
    const options: ExecFileSyncOptions = { cwd: bundle, env: { ...process.env, PATH: programPath() }, stdio: ['ignore', 'pipe', 'pipe'] }
    execFileSync('runc', ['spec'], options)
    const file = path.join(bundle, 'config.json')
    const { default: spec } = (await import(file, { with: { type: 'json' } })) as { default: Spec }
    spec.process.terminal = false
    spec.process.args = ['/bin/sh', '-c', 'exit 0']
    spec.root = { path: 'rootfs', readonly: false }
    for (const shared of ['/usr', '/bin', '/lib', '/lib64'].filter((each) => existsSync(each))) {
      spec.mounts.push({ destination: shared, type: 'bind', source: realpathSync(shared), options: ['rbind', 'ro'] })
    }
    // A process on a small machine may lack the permission to lower this.
    delete spec.process.oomScoreAdj
    spec.linux.cgroupsPath = `/${id}/probe`
    spec.linux.resources = { ...spec.linux.resources, memory: { limit: 64 * 1024 * 1024 }, cpu: { quota: 50_000, period: 100_000 } }
    writeFileSync(file, JSON.stringify(spec))
    const { status, stderr, error } = unshared(['bash', '-c', `cd ${bundle} && mount -t tmpfs tmpfs /run && runc run ${id}`])
    return status === 0 ? undefined : `a container cannot run here: ${error?.message ?? stderr.trim()}`
  } catch (error) {
    return `a container cannot be tried here: ${String(error)}`
  } finally {
    await removeCgroups(id).catch(() => undefined)
  }
}

type Spec = {
  process: { terminal: boolean; args: string[]; oomScoreAdj?: number }
  root: { path: string; readonly: boolean }
  mounts: { destination: string; type: string; source: string; options: string[] }[]
  linux: { cgroupsPath?: string; resources?: object }
}

function unshared(command: readonly string[]): { status: number | null; stderr: string; error?: Error } {
  return spawnSync('unshare', ['--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc', '--', ...command], {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, PATH: programPath() },
  })
}

function isOnPath(program: string): boolean {
  return programPath()
    .split(path.delimiter)
    .some((folder) => {
      try {
        accessSync(path.join(folder, program), constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}
