/**
 * The oldest Node that the packed command line supports: one package of the npm registry, fetched once into the folder that keeps test
 * programs between runs and checkouts.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { cacheFolder } from '../cluster/binaries.ts'

export const oldestNode = '22.18.0'

/** npm errors when the registry or a mirror of it does not answer as expected. */
const registryIsAway =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|EPIPE|ENOTCACHED|socket|E5\d\d|E404|timeout/i

/** The path of its program, or the reason why the registry is unavailable. Throws the output of npm for any other error. */
export function findOldestNode(): { program: string } | { away: string } {
  const kept = path.join(cacheFolder(), `node-v${oldestNode}`)
  const program = path.join(kept, 'node')
  if (existsSync(program)) return { program }
  mkdirSync(kept, { recursive: true })
  const work = mkdtempSync(path.join(kept, '.fetched-'))
  try {
    writeFileSync(path.join(work, 'package.json'), '{}')
    const name = `node-${process.platform}-${process.arch}`
    const npm = ['npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1', '--fetch-timeout=40000']
    const options = { cwd: work, encoding: 'utf8', timeout: 120_000 } as const
    const { status, stdout, stderr } = spawnSync('env', ['NODE_OPTIONS=', ...npm, `${name}@${oldestNode}`], options)
    const said = `${stdout}${stderr}`.trim()
    // Null: killed at the timeout.
    if (status === null || (status !== 0 && registryIsAway.test(said))) return { away: said.split('\n').at(-1) ?? '' }
    if (status !== 0) throw new Error(`npm ended with ${status}: ${said}`)
    renameSync(path.join(work, 'node_modules', name, 'bin/node'), program)
    return { program }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
