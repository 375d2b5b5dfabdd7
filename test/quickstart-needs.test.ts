import { chmodSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { requireGit } from '../scripts/quickstart/needs.ts'
import { temporaryFolder } from './support/repository.ts'
import { throwsError } from './support/assertions.ts'

/** Reduces PATH to a git that prints `version`, or to nothing. */
function onlyGit(t: Test, version?: string): void {
  const folder = temporaryFolder(t, 'programs')
  if (version !== undefined) {
    writeFileSync(path.join(folder, 'git'), `#!/bin/sh\necho '${version}'\n`)
    chmodSync(path.join(folder, 'git'), 0o755)
  }
  const before = process.env['PATH']
  process.env['PATH'] = folder
  t.teardown(() => {
    process.env['PATH'] = before
  })
}

void t.test('a recent git is accepted, whatever suffix its vendor adds', async (t) => {
  for (const version of ['git version 2.30.0', 'git version 2.39.5 (Apple Git-154)', 'git version 3.0.1.windows.1'])
    await t.test(version, async (t) => {
      onlyGit(t, version)
      t.doesNotThrow(() => requireGit())
    })
})

void t.test('a missing git is reported with the command that installs it', async (t) => {
  for (const [osRelease, command] of [
    ['PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n', 'sudo apt-get install git'],
    ['ID=ubuntu\nID_LIKE=debian\n', 'sudo apt-get install git'],
    ['ID=alpine\n', 'sudo apk add git'],
    ['ID="rocky"\nID_LIKE="rhel centos fedora"\n', 'sudo dnf install git'],
  ] as const) {
    await t.test(command, async (t) => {
      onlyGit(t)
      throwsError(t, () => requireGit(osRelease), {
        message: `git 2.30 or newer is needed, and it is not installed; install it with: ${command}`,
      })
    })
  }
  await t.test('an old git is reported with its version', async (t) => {
    onlyGit(t, 'git version 2.29.2')
    throwsError(t, () => requireGit('ID=debian\n'), {
      message: 'git 2.30 or newer is needed, and this is 2.29.2; install it with: sudo apt-get install git',
    })
  })
})
