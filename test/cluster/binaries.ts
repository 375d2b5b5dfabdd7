/**
 * Where the real control plane of the tests comes from. Each program is looked for in KUBEBUILDER_ASSETS, on PATH and in a cache
 * folder outside the checkout; what is found nowhere is built from its Go module into that cache, once per version.
 * `node test/cluster/binaries.ts` builds what is missing and prints where each program is.
 */
import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const kubernetesVersion = '1.36.3'
const etcdVersion = '3.6.8'
const helmVersion = '4.3.1'

type Module = { path: string; version: string; replaceStaging?: boolean }

const kubernetes: Module = { path: 'k8s.io/kubernetes', version: `v${kubernetesVersion}`, replaceStaging: true }

/** What can be built: the program's name, its module, and the package that holds its main function. */
const programs = {
  'kube-apiserver': { module: kubernetes, main: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  kubectl: { module: kubernetes, main: 'k8s.io/kubernetes/cmd/kubectl' },
  etcd: { module: { path: 'go.etcd.io/etcd/server/v3', version: `v${etcdVersion}` }, main: 'etcdmain' },
  helm: { module: { path: 'helm.sh/helm/v4', version: `v${helmVersion}` }, main: 'helm.sh/helm/v4/cmd/helm' },
} satisfies Record<string, { module: Module; main: string }>

export type Program = keyof typeof programs

/** The folder that keeps built programs between runs and checkouts. */
export function cacheFolder(): string {
  return process.env['CLUSTER_SYNC_TEST_CACHE'] ?? join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'cluster-sync-operator')
}

/** The path of a program, or undefined when it is nowhere; never builds. */
export function findProgram(name: Program): string | undefined {
  const folders = [process.env['KUBEBUILDER_ASSETS'], cachedFolder(name), ...(process.env['PATH'] ?? '').split(delimiter)]
  // Debian's etcd 3.4 lacks idle bookmarks, so the cache comes before PATH.
  return folders.flatMap((folder) => (folder ? [join(folder, name)] : [])).find(isExecutable)
}

/** The path of a program, built from its Go module when it is nowhere. Takes minutes the first time. */
export async function ensureProgram(name: Program, say: (line: string) => void): Promise<string> {
  const found = findProgram(name)
  if (found !== undefined) return found
  say(`building ${name} ${programs[name].module.version} (once; kept in ${cacheFolder()})`)
  const startedAt = Date.now()
  const built = await build(name)
  say(`built ${name} in ${Math.round((Date.now() - startedAt) / 1000)} s`)
  return built
}

function cachedFolder(name: Program): string {
  return join(cacheFolder(), `${name}-${programs[name].module.version}`)
}

async function build(name: Program): Promise<string> {
  const { module, main } = programs[name]
  const work = await mkdtemp(join(tmpdir(), `build-${name}-`))
  try {
    await writeFile(join(work, 'go.mod'), await moduleFile(module, work))
    const target = main === 'etcdmain' ? '.' : main
    // etcd's own main lives in another module; its server is a library with one entry point.
    const source =
      main === 'etcdmain'
        ? `package main\n\nimport (\n\t"os"\n\n\t"go.etcd.io/etcd/server/v3/etcdmain"\n)\n\nfunc main() { etcdmain.Main(os.Args) }\n`
        : `//go:build tools\n\npackage tools\n\nimport _ "${main}"\n`
    await writeFile(join(work, main === 'etcdmain' ? 'main.go' : 'tools.go'), source)
    await go(work, ['mod', 'tidy', '-e'])
    const folder = cachedFolder(name)
    await mkdir(folder, { recursive: true })
    const aside = join(folder, `.${name}-${process.pid}`)
    const flags = `-s -w -X k8s.io/component-base/version.gitVersion=${module.version}`
    await go(work, ['build', '-trimpath', '-ldflags', flags, '-o', aside, target])
    await rename(aside, join(folder, name))
    return join(folder, name)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** A go.mod that requires the module and, for Kubernetes, maps its staging modules to the released ones. */
async function moduleFile(module: Module, work: string): Promise<string> {
  const lines = ['module build', '', 'go 1.26', '', `require ${module.path} ${module.version}`]
  if (module.replaceStaging !== true) return lines.join('\n') + '\n'
  const download = JSON.parse(await go(work, ['mod', 'download', '-json', `${module.path}@${module.version}`])) as { GoMod: string }
  const staging = [...(await readFile(download.GoMod, 'utf8')).matchAll(/^\s*(k8s\.io\/[a-z0-9-]+) v0\.0\.0$/gm)].map(([, path]) => path)
  const released = module.version.replace(/^v1\./, 'v0.')
  return [...lines, '', ...staging.map((path) => `replace ${path} => ${path} ${released}`)].join('\n') + '\n'
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

if (import.meta.main) {
  for (const name of Object.keys(programs) as Program[]) {
    const path = await ensureProgram(name, (line) => process.stderr.write(`${line}\n`))
    process.stdout.write(`${name} ${path}\n`)
  }
}
