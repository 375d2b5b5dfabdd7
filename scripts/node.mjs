// Finds a Node that runs the sources. Plain JavaScript that Node 18 understands, because it may be all there is.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [major, minor] = process.versions.node.split('.').map(Number)
const isNewEnough = major >= 24 || (major === 22 && minor >= 18)

/**
 * The path of the Node that runs this file if it is recent enough, otherwise of the one in .node-version, which is installed from the npm
 * registry on first use and kept below ~/.cache. Throws an Error whose message contains the fix.
 */
export function findNode(say) {
  if (isNewEnough) return process.execPath
  const version = readFileSync(join(root, '.node-version'), 'utf8').trim()
  const program = join(cacheFolder(), `node-v${version}`, 'node')
  if (!existsSync(program)) {
    say(`Node 22.18 or newer is needed and this is ${process.version}: installing Node ${version} in ${dirname(program)}`)
    install(version, program)
  }
  return program
}

function cacheFolder() {
  return process.env.CLUSTER_SYNC_TEST_CACHE ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'cluster-sync-operator')
}

/** Renames the finished program into place, so that two installations at the same time do no harm. */
function install(version, program) {
  const name = `node-${process.platform}-${process.arch}`
  mkdirSync(dirname(program), { recursive: true })
  const work = mkdtempSync(join(dirname(program), '.install-'))
  try {
    writeFileSync(join(work, 'package.json'), '{}')
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`]
    const { status, stdout, stderr, error } = spawnSync('npm', args, { cwd: work, encoding: 'utf8', timeout: 300_000 })
    if (status !== 0)
      fail(`"npm ${args.join(' ')}" failed: ${error?.message ?? (`${stdout}${stderr}`.trim() || `it ended with ${status}`)}`)
    const fetched = join(work, 'node_modules', name, 'bin/node')
    const { stdout: answer, error: refused } = spawnSync(fetched, ['--version'], { encoding: 'utf8' })
    if (answer?.trim() !== `v${version}`)
      fail(`Node ${version} of the npm registry does not run on this system: ${refused?.message ?? answer}`)
    renameSync(fetched, program)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function fail(why) {
  throw new Error(`${why}\nInstall Node 22.18 or newer yourself, from your distribution or https://nodejs.org.`)
}
