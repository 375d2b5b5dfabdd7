/**
 * The files of the release in a registry that the node pulls from.
 */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { ensureProgram } from '../../cluster/binaries.ts'
import { buildahEnvironment } from '../../support/local-base.ts'
import { releaseRegistry } from '../../support/node-images.ts'
import { startRegistry } from '../../support/registry.ts'
import { type Given, imagesFolder } from './given.ts'

const script = path.join(import.meta.dirname, '../../../scripts/release/main.ts')
const { port, repository } = releaseRegistry

/** Starts the registry and publishes the release. */
export async function publishRelease(t: Pick<Test, 'teardown'>, given: Given): Promise<void> {
  const folder = path.join(given.work, 'registry')
  mkdirSync(folder)
  const env = buildahEnvironment(imagesFolder(given.work))
  await startRegistry(t, folder, env, port)
  const helm = await ensureProgram('helm', () => undefined)
  const withHelm = { ...env, PATH: [path.dirname(helm), env['PATH']].join(path.delimiter), HOME: folder, NODE_OPTIONS: '' }
  const words = [script, '--publish', '--folder', given.release, '--repository', repository]
  await promisify(execFile)(process.execPath, words, { env: withHelm })
}
