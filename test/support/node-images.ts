/**
 * The images of the product and one of the simulated gateway, built from this machine's programs, as archives that a node imports.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import { makeLocalBase } from './local-base.ts'

const root = path.resolve(import.meta.dirname, '../..')
const base = 'localhost/programs-of-this-machine:1'
/** Where a gateway's image has its data directory. */
export const dataFolder = '/usr/local/bin/ignition/data'
export const gatewayImage = 'localhost/cluster-sync/simulated-gateway:1'

/** Builds all three below `folder`; returns the archives. `authorities`: certificates that the base trusts beside public ones, PEM. */
export async function buildNodeImages(folder: string, env: NodeJS.ProcessEnv, authorities: string): Promise<string[]> {
  makeLocalBase(folder, base, process.execPath, env, { authorities })
  const archives = path.join(folder, 'archives')
  mkdirSync(archives)
  const words = ['--base', base, '--builder', 'buildah', '--save', archives]
  execFileSync(process.execPath, [path.join(root, 'scripts/images/main.ts'), ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  await buildGateway(path.join(folder, 'gateway'), path.join(archives, 'gateway.tar'), env)
  return ['controller', 'agent', 'gateway'].map((name) => path.join(archives, `${name}.tar`))
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
  const buildah = (...words: string[]): string =>
    execFileSync('buildah', words, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  const container = buildah('from', base)
  buildah('copy', '--quiet', container, path.join(folder, 'simulator.mjs'), '/app/simulator.mjs')
  const entrypoint = ['node', '/app/simulator.mjs', '--data', dataFolder, '--host', '0.0.0.0']
  buildah('config', '--user', '2003:2003', '--entrypoint', JSON.stringify(entrypoint), container)
  buildah('commit', '--quiet', '--rm', container, gatewayImage)
  buildah('push', '--quiet', gatewayImage, `docker-archive:${archive}:${gatewayImage}`)
}
