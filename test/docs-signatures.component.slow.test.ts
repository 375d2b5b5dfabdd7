/**
 * docs/how-to/signatures.md as written: a key is created, a signed commit is published, and an unsigned one is not.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { matchObject } from './support/assertions.ts'
import { textsIn } from './support/page.ts'
import { makeRepository } from './support/repository.ts'
import { requires } from './support/requires.ts'
import { runCli } from './support/run-cli.ts'
import { setUpRun, writeGatewaySync } from './support/standalone-run.ts'

const [ssh = '', gpg = ''] = textsIn('docs/how-to/signatures.md', 'sh')

/** Runs the commands in a repository, with an empty passphrase. Returns the folder of the run and a commit there. */
function follow(t: Test, commands: string) {
  const { folder, dataDir } = setUpRun(t, 'signed')
  const repository = makeRepository(path.join(folder, 'plant'))
  const home = path.join(folder, 'gnupg')
  mkdirSync(home, { mode: 0o700 })
  writeFileSync(path.join(home, 'gpg.conf'), "batch\npinentry-mode loopback\npassphrase ''\n")
  const askpass = path.join(folder, 'askpass')
  writeFileSync(askpass, '#!/bin/sh\necho\n')
  chmodSync(askpass, 0o755)
  const identity = {
    GIT_AUTHOR_NAME: 'Jane',
    GIT_AUTHOR_EMAIL: 'jane@example.com',
    GIT_COMMITTER_NAME: 'Jane',
    GIT_COMMITTER_EMAIL: 'j@example.com',
  }
  const env = { ...process.env, ...identity, GNUPGHOME: home, SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force' }
  const sh = (script: string): string =>
    execFileSync('sh', ['-ec', script], { cwd: repository.folder, env, encoding: 'utf8', stdio: 'pipe' })
  t.teardown(() => sh('gpgconf --kill all 2>/dev/null || true'))
  sh(commands)
  const keys = path.join(folder, 'secrets/release-keys')
  mkdirSync(keys, { recursive: true })
  for (const name of ['release.pub', 'release.asc'].filter((each) => existsSync(path.join(repository.folder, each))))
    copyFileSync(path.join(repository.folder, name), path.join(keys, name))
  const commit = (text: string, more = ''): void => {
    mkdirSync(path.join(repository.folder, 'projects'), { recursive: true })
    writeFileSync(path.join(repository.folder, 'projects/a.txt'), text)
    sh(`git add projects && git commit --quiet ${more} --message "Change"`)
  }
  const verify = { mode: 'Commit', secretRef: { name: 'release-keys' } }
  writeGatewaySync(folder, { repo: repository.folder, git: { verify } })
  const run = () =>
    runCli(['run', '-f', 'gatewaysync.yaml', '--data', 'data', '--secrets', 'secrets', '--state', 'state', '--once'], { cwd: folder })
  return { commit, run, placed: () => readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8') }
}

for (const [name, commands, programs] of [
  ['SSH', ssh, ['ssh-keygen']],
  ['GnuPG', gpg, ['gpg', 'gpgconf', 'gpgv']],
] as const) {
  void t.test(`with ${name} a signed commit is published, and one without a signature is not`, { timeout: 600_000 }, async (t) => {
    if (!requires(t, 'git', ...programs)) return
    const { commit, run, placed } = follow(t, commands)
    commit('signed')
    const { code, stdout, stderr } = await run()
    t.equal(code, 0, stdout + stderr)
    t.equal(placed(), 'signed')
    commit('forged', '--no-gpg-sign')
    matchObject(t, await run(), { code: 1, stderr: /\(NotVerified\)/ })
    t.equal(placed(), 'signed')
  })
}
