/**
 * The files of the release in a registry that the node pulls from.
 */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { version } from '../../../runtime/platform/version.ts'
import { ensureProgram } from '../../cluster/binaries.ts'
import { buildahEnvironment } from '../../support/local-base.ts'
import { releaseRegistry } from '../../support/node-images.ts'
import { startRegistry } from '../../support/registry.ts'
import { type Given, imagesFolder } from './given.ts'

const script = path.join(import.meta.dirname, '../../../scripts/release/main.ts')
const { port, repository } = releaseRegistry

/** Starts the registry, publishes the release, and pulls its images under their default names, which no registry serves. */
export async function publishRelease(t: Pick<Test, 'teardown'>, given: Given): Promise<void> {
  const folder = path.join(given.work, 'registry')
  mkdirSync(folder)
  const env = buildahEnvironment(imagesFolder(given.work))
  await startRegistry(t, folder, env, port)
  const helm = await ensureProgram('helm', () => undefined)
  const withHelm = { ...env, PATH: [path.dirname(helm), env['PATH']].join(path.delimiter), HOME: folder, NODE_OPTIONS: '' }
  const words = [script, '--publish', '--folder', given.release, '--repository', repository]
  const { stdout } = await promisify(execFile)(process.execPath, words, { env: withHelm })
  const ctr = (...args: string[]) => promisify(execFile)('ctr', ['--namespace', 'k8s.io', 'images', ...args])
  for (const [, program, digest] of stdout.matchAll(/^(controller|agent)=(\S+)$/gm)) {
    const image = `${repository}/${program}@${digest}`
    await ctr('pull', '--plain-http', image)
    await ctr('tag', image, `docker.io/clustersync/${program}:${version}`)
  }
}
