/**
 * `node test/cluster/node/init.ts <folder>`: sets up a Kubernetes node in the namespaces that the keeper has created: mounts, network,
 * control plane, containerd, kubelet, kube-proxy, DNS and cert-manager. Writes `ready.json` when pods can run, and then serves commands
 * (`orders.ts`).
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { apiServerArguments, caFileOf, etcdArguments, replaced, untilApiServerReady, writeKubeconfig } from '../api-server.ts'
import { ensureProgram, nodePrograms, type Program } from '../binaries.ts'
import { installCertManager, installDns } from './addons.ts'
import {
  apiServerFlags,
  apiServerUrl,
  containerdConfiguration,
  containerdSocket,
  controllerManagerFlags,
  kubeletConfiguration,
  kubeletFlags,
  kubeProxyConfiguration,
  nodeAddress,
  nodeFolder,
  nodeName,
  podNetwork,
  roles,
  schedulerFlags,
  stateFolder,
} from './configuration.ts'
import { archiveOfProgram, imageNameOf } from './images.ts'
import { prepareNamespaces } from './namespaces.ts'
import { serveOrders, type Service } from './orders.ts'
import { type NodeSettings, settingsVariable } from './start.ts'

const [folderOutside = ''] = process.argv.slice(2)
const { names, addons } = JSON.parse(process.env[settingsVariable] ?? '{}') as NodeSettings
const at = (name: string): string => path.join(nodeFolder, name)
const say = (line: string): void => appendFileSync(path.join(folderOutside, 'progress'), `${line}\n`)

try {
  await start()
} catch (error) {
  fail(error instanceof Error ? (error.stack ?? error.message) : String(error))
}

async function start(): Promise<void> {
  // Built one after the other, since each build uses all processors.
  const programs = new Map<Program, string>()
  for (const name of nodePrograms) programs.set(name, await ensureProgram(name, say))
  const pathOf = (name: Program): string => programs.get(name) ?? ''

  prepareNamespaces(folderOutside)
  const services = serveOrders(nodeFolder, fail)
  const tokens = Object.fromEntries(Object.keys(roles).map((role) => [role, randomBytes(16).toString('hex')]))
  const accounts = Object.entries(roles).map(([role, account]) => ({ token: tokens[role] ?? '', ...account }))
  const etcdUrl = 'http://127.0.0.1:2379'
  await services.add('etcd', { program: pathOf('etcd'), args: etcdArguments(stateFolder, etcdUrl, 'http://127.0.0.1:2380') })
  const flags = apiServerArguments({ folder: stateFolder, etcdUrl, address: nodeAddress, port: 6443, accounts })
  await services.add('kube-apiserver', { program: pathOf('kube-apiserver'), args: replaced<string>(flags, apiServerFlags) })
  mkdirSync(at('cni'))
  writeFileSync(at('cni/pods.conflist'), JSON.stringify(podNetwork))
  const containerdFile = at('containerd.toml')
  writeFileSync(containerdFile, containerdConfiguration())
  await services.add('containerd', { program: 'containerd', args: ['--config', containerdFile] })

  const caFile = caFileOf(stateFolder)
  const adminToken = tokens['admin'] ?? ''
  await untilApiServerReady(apiServerUrl, caFile, adminToken)
  const kubeconfigOf = (role: keyof typeof roles): string =>
    writeKubeconfig(at(`${role}.kubeconfig`), { url: apiServerUrl, caFile, token: tokens[role] ?? '' })
  const run = (name: Program, args: string[]): Promise<void> => services.add(name as Service, { program: pathOf(name), args })
  await run('kube-controller-manager', controllerManagerFlags(kubeconfigOf('controllerManager'), caFile))
  await run('kube-scheduler', schedulerFlags(kubeconfigOf('scheduler')))
  await importImages(pathOf)
  writeFileSync(at('resolv.conf'), `nameserver ${nodeAddress}\n`)
  writeFileSync(at('kubelet.json'), JSON.stringify(kubeletConfiguration(path.basename(folderOutside))))
  await run('kubelet', kubeletFlags(kubeconfigOf('kubelet')))
  writeFileSync(at('kube-proxy.json'), JSON.stringify(kubeProxyConfiguration(kubeconfigOf('kubeProxy'))))
  await run('kube-proxy', [`--config=${at('kube-proxy.json')}`])

  const adminKubeconfig = kubeconfigOf('admin')
  const kubectl = (args: readonly string[], input = ''): string =>
    execFileSync(pathOf('kubectl'), ['--kubeconfig', adminKubeconfig, ...args], { input, encoding: 'utf8', timeout: 600_000 })
  await untilDone(() => kubectl(['get', 'node', nodeName]))
  kubectl(['wait', '--for=condition=Ready', `node/${nodeName}`, '--timeout=300s'])
  if (addons) {
    installDns(kubectl, names)
    installCertManager(kubectl, pathOf('helm'), adminKubeconfig)
  }
  const ready = { url: apiServerUrl, caFile, adminToken, adminKubeconfig }
  writeFileSync(at('ready.tmp'), JSON.stringify(ready), { mode: 0o600 })
  renameSync(at('ready.tmp'), at('ready.json'))
}

async function importImages(pathOf: (name: Program) => string): Promise<void> {
  await untilDone(() => existsSync(containerdSocket) && ctr('version'))
  for (const name of ['pause', 'coredns', 'cert-manager-controller', 'cert-manager-cainjector', 'cert-manager-webhook'] as const) {
    const archive = at(`${name}.tar`)
    archiveOfProgram(archive, imageNameOf(name), pathOf(name))
    ctr('images', 'import', archive)
    rmSync(archive)
  }
}

function ctr(...args: string[]): string {
  return execFileSync('ctr', ['--namespace', 'k8s.io', ...args], { encoding: 'utf8', timeout: 300_000, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Retries until it succeeds; rethrows the last error after two minutes. */
async function untilDone(attempt: () => unknown): Promise<void> {
  const endMs = Date.now() + 120_000
  for (;;) {
    try {
      if (attempt() !== false) return
    } catch (error) {
      if (Date.now() > endMs) throw error
    }
    await wait(100)
  }
}

function fail(why: string): never {
  writeFileSync(path.join(folderOutside, 'failed'), why)
  process.exit(1)
}
