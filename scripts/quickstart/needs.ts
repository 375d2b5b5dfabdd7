/**
 * Whether the machine has the git that the quickstart runs.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/** The first git with what a mirror needs. */
const oldestGit = [2, 30] as const

/** How packages are installed, by the ID and ID_LIKE of /etc/os-release. */
const installers = { debian: 'sudo apt-get install', alpine: 'sudo apk add', fedora: 'sudo dnf install', arch: 'sudo pacman -S' }

/** Throws an error that names the missing program and the command that installs it. */
export function requireGit(osRelease = readOsRelease()): void {
  const { stdout, error } = spawnSync('git', ['--version'], { encoding: 'utf8' })
  const [, version = '', major = '0', minor = '0'] = /((\d+)\.(\d+)\S*)/.exec(stdout ?? '') ?? []
  const isNewEnough = Number(major) > oldestGit[0] || (Number(major) === oldestGit[0] && Number(minor) >= oldestGit[1])
  if (isNewEnough) return
  const found = error === undefined ? `this is ${version === '' ? 'unknown' : version}` : 'it is not installed'
  throw new Error(`git ${oldestGit.join('.')} or newer is needed, and ${found}; install it with: ${installCommand(osRelease)} git`)
}

function installCommand(osRelease: string): string {
  const ids = [...osRelease.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap(([, names = '']) => names.split(' '))
  const known = Object.entries(installers).find(([id]) => ids.includes(id))
  return known?.[1] ?? (process.platform === 'darwin' ? 'brew install' : 'the package manager of this system, package')
}

function readOsRelease(): string {
  const file = '/etc/os-release'
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
