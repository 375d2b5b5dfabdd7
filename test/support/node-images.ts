/**
 * The images of the product and one of the simulated gateway, built from this machine's programs, as archives that a node imports.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { localBase as base, makeLocalBase } from './local-base.ts'
import { unpackPrevious } from './releases.ts'

const root = path.resolve(import.meta.dirname, '../..')
/** The data directory in a gateway's image. */
export const dataFolder = '/usr/local/bin/ignition/data'
export const gatewayImage = 'localhost/cluster-sync/simulated-gateway:1'

/** Where the cases on a node publish the files of the release: a registry in the network of the node. */
export const releaseRegistry = { port: 5000, repository: '127.0.0.1:5000/plants' } as const

/**
 * Makes the files of a release and the image of the gateway below `folder`; returns the folder of the release and the archive of the image.
 * `authorities`: certificates that the base trusts in addition to public ones, PEM.
 */
export async function buildNodeImages(
  folder: string,
  env: NodeJS.ProcessEnv,
  authorities: string,
): Promise<{ release: string; archives: string[] }> {
  makeLocalBase(folder, base, process.execPath, env, { authorities })
  const [archives, release] = [path.join(folder, 'archives'), path.join(folder, 'release')]
  mkdirSync(archives)
  const platform = ['--platform', `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`]
  const words = ['--dry-run', '--folder', release, '--repository', releaseRegistry.repository, '--base', base, ...platform]
  // The loader of the tap command, which every child process inherits, does not support compilers.
  const plain = { env: { ...env, NODE_OPTIONS: '' }, maxBuffer: 64 * 1024 * 1024 }
  execFileSync(process.execPath, [path.join(root, 'scripts/release/main.ts'), ...words], { ...plain, stdio: ['ignore', 'pipe', 'pipe'] })
  const gateway = path.join(archives, 'gateway.tar')
  await buildGateway(path.join(folder, 'gateway'), gateway, env)
  return { release, archives: [gateway] }
}

/** The previous release as a chart and as manifests, with its images under separate names. */
export type PreviousImages = { archives: string[]; chart: string; values: string[]; manifests: string[] }

/**
 * Builds the images of the previous release on the same base, below the same `folder`; undefined if the history lacks it. Its own script
 * bundles its programs, with the packages of this checkout.
 */
export function buildPreviousImages(folder: string, env: NodeJS.ProcessEnv): PreviousImages | undefined {
  const tree = path.join(folder, 'previous')
  if (!unpackPrevious(tree, ['runtime', 'scripts', 'dist', 'package.json', 'Dockerfile'])) return undefined
  const bundles = path.join(tree, 'build')
  execFileSync(process.execPath, [path.join(tree, 'scripts/bundle.ts'), bundles], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const repository = 'localhost/cluster-sync-before'
  const archives = ['controller', 'agent'].map((target) => {
    const stage = stageOf(readFileSync(path.join(tree, 'Dockerfile'), 'utf8'), target)
    const container = buildah(env, 'from', base)
    buildah(env, 'copy', '--quiet', container, bundles, '/app')
    buildah(
      env,
      'config',
      '--user',
      stage.user,
      '--entrypoint',
      stage.entrypoint,
      ...stage.env.flatMap((pair) => ['--env', pair]),
      container,
    )
    const image = `${repository}/${target}:before`
    buildah(env, 'commit', '--quiet', '--rm', container, image)
    const archive = path.join(folder, 'archives', `${target}-before.tar`)
    buildah(env, 'push', '--quiet', image, `docker-archive:${archive}:${image}`)
    return archive
  })
  const values = ['image', 'agentImage'].flatMap((key, index) => [
    `${key}.repository=${repository}/${['controller', 'agent'][index] ?? ''}`,
    `${key}.tag=before`,
  ])
  const manifests = ['crds', 'operator'].map((name) => path.join(tree, `dist/${name}.k8s.yaml`))
  for (const file of manifests)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(/clustersync\/(controller|agent):[\w.]+/g, `${repository}/$1:before`))
  return { archives, chart: path.join(tree, 'dist/chart'), values, manifests }
}

/** The runtime settings of a stage of a Dockerfile. */
function stageOf(dockerfile: string, target: string): { user: string; entrypoint: string; env: string[] } {
  const stage = dockerfile.split(/^FROM /m).find((text) => text.includes(` AS ${target}\n`)) ?? ''
  const said = (instruction: string): string => new RegExp(`^${instruction} (.*)$`, 'm').exec(stage)?.[1] ?? ''
  return { user: said('USER'), entrypoint: said('ENTRYPOINT'), env: said('ENV').split(' ').filter(Boolean) }
}

function buildah(env: NodeJS.ProcessEnv, ...words: string[]): string {
  return execFileSync('buildah', words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
}

async function buildGateway(folder: string, archive: string, env: NodeJS.ProcessEnv): Promise<void> {
  await build({
    entryPoints: [path.join(root, 'examples/simulator/main.ts')],
    outfile: path.join(folder, 'simulator.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  })
  const container = buildah(env, 'from', base)
  buildah(env, 'copy', '--quiet', container, path.join(folder, 'simulator.mjs'), '/app/simulator.mjs')
  const entrypoint = ['node', '/app/simulator.mjs', '--data', dataFolder, '--host', '0.0.0.0']
  buildah(env, 'config', '--user', '2003:2003', '--entrypoint', JSON.stringify(entrypoint), container)
  buildah(env, 'commit', '--quiet', '--rm', container, gatewayImage)
  buildah(env, 'push', '--quiet', gatewayImage, `docker-archive:${archive}:${gatewayImage}`)
}
