/**
 * The images of the product and one of the simulated gateway, built from this machine's programs, as archives that a node imports.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { localBase as base, makeLocalBase } from './local-base.ts'
import { unpackPrevious } from './releases.ts'

const root = path.resolve(import.meta.dirname, '../..')
/** The data directory in a gateway's image. */
export const dataFolder = '/usr/local/bin/ignition/data'
export const gatewayImage = 'localhost/cluster-sync/simulated-gateway:1'

/**
 * Builds all three below `folder`; returns the archives. `authorities`: certificates that the base trusts in addition to public ones, PEM.
 */
export async function buildNodeImages(folder: string, env: NodeJS.ProcessEnv, authorities: string): Promise<string[]> {
  makeLocalBase(folder, base, process.execPath, env, { authorities })
  const archives = path.join(folder, 'archives')
  mkdirSync(archives)
  const words = ['--base', base, '--builder', 'buildah', '--save', archives, '--only', 'controller', '--only', 'agent']
  execFileSync(process.execPath, [path.join(root, 'scripts/images/main.ts'), ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  await buildGateway(path.join(folder, 'gateway'), path.join(archives, 'gateway.tar'), env)
  return ['controller', 'agent', 'gateway'].map((name) => path.join(archives, `${name}.tar`))
}

/** The previous release as a chart, with its images under separate names. */
export type PreviousImages = { archives: string[]; chart: string; values: string[] }

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
  return { archives, chart: path.join(tree, 'dist/chart'), values }
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
