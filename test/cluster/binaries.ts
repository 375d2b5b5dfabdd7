/**
 * Locates the programs of the tests' control plane: in KUBEBUILDER_ASSETS, on PATH and in a cache folder outside the checkout. Missing
 * programs are built from their Go module into that cache, once per version.
 */
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const kubernetesVersion = '1.36.3'
const etcdVersion = '3.6.8'
const helmVersion = '4.3.1'
const corednsVersion = '1.15.0'
/** The last release with these programs in its module; later ones split them into modules that exist only in the repository. */
const certManagerVersion = '1.11.5'

type Module = { path: string; version: string; replaceStaging?: boolean }

/**
 * `main`: the package with the main function. `source`: the text of such a package instead, for a program without a module of its own.
 * `beside`: a folder of the module that is kept beside the program.
 */
type Source = { module: Module; main: string; beside?: string } | { module?: Module; source: string; version?: string }

const kubernetes: Module = { path: 'k8s.io/kubernetes', version: `v${kubernetesVersion}`, replaceStaging: true }
const certManager: Module = { path: 'github.com/cert-manager/cert-manager', version: `v${certManagerVersion}` }

const etcdMain = `package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
`

/** The pause program, which holds the namespaces of a pod and waits for a signal. */
const pauseMain = `package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT, syscall.SIGTERM)
	<-ended
}
`

/** The plugins for cluster DNS; those for cloud providers would take minutes to build. */
const corednsMain = `package main

import (
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"

	"github.com/coredns/coredns/coremain"
)

func main() { coremain.Run() }
`

/** Programs that can be built. */
const programs = {
  'kube-apiserver': { module: kubernetes, main: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  kubectl: { module: kubernetes, main: 'k8s.io/kubernetes/cmd/kubectl' },
  etcd: { module: { path: 'go.etcd.io/etcd/server/v3', version: `v${etcdVersion}` }, source: etcdMain },
  helm: { module: { path: 'helm.sh/helm/v4', version: `v${helmVersion}` }, main: 'helm.sh/helm/v4/cmd/helm' },
  'kube-controller-manager': { module: kubernetes, main: 'k8s.io/kubernetes/cmd/kube-controller-manager' },
  'kube-scheduler': { module: kubernetes, main: 'k8s.io/kubernetes/cmd/kube-scheduler' },
  kubelet: { module: kubernetes, main: 'k8s.io/kubernetes/cmd/kubelet' },
  'kube-proxy': { module: kubernetes, main: 'k8s.io/kubernetes/cmd/kube-proxy' },
  coredns: { module: { path: 'github.com/coredns/coredns', version: `v${corednsVersion}` }, source: corednsMain },
  'cert-manager-controller': { module: certManager, main: `${certManager.path}/cmd/controller`, beside: 'deploy' },
  'cert-manager-cainjector': { module: certManager, main: `${certManager.path}/cmd/cainjector` },
  'cert-manager-webhook': { module: certManager, main: `${certManager.path}/cmd/webhook` },
  pause: { source: pauseMain, version: 'v1' },
} satisfies Record<string, Source>

/** The programs of a control plane, and the additional ones of a node. */
export const controlPlanePrograms = ['kube-apiserver', 'kubectl', 'etcd', 'helm'] as const
export const nodePrograms = [
  ...controlPlanePrograms,
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'pause',
  'coredns',
  'cert-manager-controller',
  'cert-manager-cainjector',
  'cert-manager-webhook',
] as const

export type Program = keyof typeof programs

/** The folder that keeps built programs between runs and checkouts. */
export function cacheFolder(): string {
  return process.env['CLUSTER_SYNC_TEST_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cluster-sync-operator')
}

/** The path of a program, or undefined if it is missing; never builds. */
export function findProgram(name: Program): string | undefined {
  const folders = [process.env['KUBEBUILDER_ASSETS'], cachedFolder(name), ...(process.env['PATH'] ?? '').split(delimiter)]
  // Debian's etcd 3.4 lacks idle bookmarks, so the cache comes before PATH.
  return folders.flatMap((folder) => (folder ? [join(folder, name)] : [])).find(isExecutable)
}

/** The path of a program, built from its Go module if it is missing. Takes minutes the first time. */
export async function ensureProgram(name: Program, say: (line: string) => void): Promise<string> {
  const found = findProgram(name)
  if (found !== undefined) return found
  say(`building ${name} ${versionOf(name)} (once; kept in ${cacheFolder()})`)
  const startedAt = Date.now()
  const built = await build(name)
  say(`built ${name} in ${Math.round((Date.now() - startedAt) / 1000)} s`)
  return built
}

/** A folder of the program's module that was kept when the program was built. */
export function folderBeside(name: 'cert-manager-controller'): string {
  return join(cachedFolder(name), programs[name].beside)
}

function sourceOf(name: Program): Source {
  return programs[name]
}

function versionOf(name: Program): string {
  const source = sourceOf(name)
  return source.module?.version ?? ('version' in source ? (source.version ?? '') : '')
}

function cachedFolder(name: Program): string {
  return join(cacheFolder(), `${name}-${versionOf(name)}`)
}

async function build(name: Program): Promise<string> {
  const source = sourceOf(name)
  const { module } = source
  const work = await mkdtemp(join(tmpdir(), `build-${name}-`))
  try {
    await writeFile(join(work, 'go.mod'), await moduleFile(module, work))
    if ('main' in source) await writeFile(join(work, 'tools.go'), `//go:build tools\n\npackage tools\n\nimport _ "${source.main}"\n`)
    else await writeFile(join(work, 'main.go'), source.source)
    await go(work, ['mod', 'tidy', '-e'])
    const folder = cachedFolder(name)
    await mkdir(folder, { recursive: true })
    if ('beside' in source && source.beside !== undefined) {
      const kept = join(folder, source.beside)
      await cp(join((await downloaded(source.module, work)).Dir, source.beside), kept, { recursive: true })
    }
    const aside = join(folder, `.${name}-${process.pid}`)
    const flags = `-s -w -X k8s.io/component-base/version.gitVersion=${versionOf(name)}`
    await go(work, ['build', '-trimpath', '-ldflags', flags, '-o', aside, 'main' in source ? source.main : '.'])
    await rename(aside, join(folder, name))
    return join(folder, name)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** A go.mod that requires the module and, for Kubernetes, maps its staging modules to the released ones. */
async function moduleFile(module: Module | undefined, work: string): Promise<string> {
  const lines = ['module build', '', 'go 1.26', '', ...(module === undefined ? [] : [`require ${module.path} ${module.version}`])]
  if (module?.replaceStaging !== true) return lines.join('\n') + '\n'
  const staging = [
    ...(await readFile((await downloaded(module, work)).GoMod, 'utf8')).matchAll(/^\s*(k8s\.io\/[a-z0-9-]+) v0\.0\.0$/gm),
  ].map(([, path]) => path)
  const released = module.version.replace(/^v1\./, 'v0.')
  return [...lines, '', ...staging.map((path) => `replace ${path} => ${path} ${released}`)].join('\n') + '\n'
}

async function downloaded({ path, version }: Module, work: string): Promise<{ GoMod: string; Dir: string }> {
  return JSON.parse(await go(work, ['mod', 'download', '-json', `${path}@${version}`])) as { GoMod: string; Dir: string }
}

function go(cwd: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, {
      cwd,
      env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4000)))
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(stdout)
      else reject(new Error(`go ${args.join(' ')} ended with ${code}: ${stderr}`))
    })
  })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
