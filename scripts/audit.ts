/**
 * `npm run audit`: verifies the registry signatures of the installed packages. A registry without signatures, or an unreachable one, is
 * reported and is not a failure; a wrong signature is one.
 */
import { spawnSync } from 'node:child_process'

type Audited = { invalid?: { name: string; version: string }[] }

const { stdout } = spawnSync('npm', ['audit', 'signatures', '--json'], { encoding: 'utf8', timeout: 120_000 })
const audited = parse(stdout)
if (audited?.invalid === undefined) {
  process.stdout.write('signatures of packages were not checked: the registry has none or cannot be reached\n')
} else {
  for (const { name, version } of audited.invalid) process.stdout.write(`wrong signature: ${name}@${version}\n`)
  process.exitCode = audited.invalid.length === 0 ? 0 : 1
}

function parse(text: string): Audited | undefined {
  try {
    return JSON.parse(text) as Audited
  } catch {
    return undefined
  }
}
