/**
 * Commits whose message is as large as a message can be do not take the memory of the controller.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t from 'tap'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import type { Fault } from '../../runtime/platform/fault.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { openContainer } from '../support/contained-fetch.ts'
import { startGitHost } from '../support/git-host.ts'
import { gitEnvironment, makeRepository, type Repository, temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'

const mebibyte = 1024 * 1024
/** Of the container's 128 MiB; the controller uses 64 of them. */
const limitMiB = 124

/** Makes a commit the head of the branch main; it takes some KiB in a pack. Returns its hash. */
function commitMessage({ folder, git, commit }: Repository, messageBytes: number): string {
  const args = ['-C', folder, 'commit-tree', `${commit({ a: 'a' })}^{tree}`, '-F', '-']
  const made = execFileSync('git', args, { env: gitEnvironment, input: Buffer.alloc(messageBytes, 'a') })
    .toString('utf8')
    .trim()
  git('update-ref', 'refs/heads/main', made)
  return made
}

/** Creates an annotated tag and returns its hash. */
function tagMessage({ folder, git }: Repository, name: string, target: string, messageBytes: number): string {
  const input = Buffer.alloc(messageBytes, 'a')
  execFileSync('git', ['-C', folder, '-c', 'advice.nestedTag=false', 'tag', '-a', '-F', '-', name, target], { env: gitEnvironment, input })
  return git('rev-parse', `refs/tags/${name}`).toString('utf8').trim()
}

void t.test('a commit or tag over 1 MiB is refused by any name, and a small one after it is fetched', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'huge-commits')
  const repository = makeRepository(path.join(folder, 'repository'))
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(() => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  const resolve = async (ref: string): Promise<string> =>
    await mirror.resolve(ref, { fresh: true }, AbortSignal.timeout(100_000)).then(
      ({ commit }) => commit,
      (error: Fault) => `${error.reason}: ${error.message}`,
    )
  const large = commitMessage(repository, 20 * mebibyte)
  const small = repository.commit({ b: 'b' })
  repository.git('branch', '-f', 'large', large)
  repository.git('tag', 'lightweight', large)
  tagMessage(repository, 'tag-of-large', large, 1)
  const tag = tagMessage(repository, 'large-tag', small, 2 * mebibyte)
  tagMessage(repository, 'small-tag', small, 1)
  tagMessage(repository, 'tag-of-tag', 'small-tag', 1)
  const refusal = `RepositoryTooLarge: commit ${large} takes 20.0 MiB; a commit with its message may take 1 MiB`
  t.equal(await resolve('large'), refusal)
  t.equal(await resolve('lightweight'), refusal)
  t.equal(await resolve(large), refusal)
  t.equal(await resolve('tag-of-large'), refusal)
  t.equal(await resolve('large-tag'), `RepositoryTooLarge: tag ${tag} takes 2.0 MiB; a tag with its message may take 1 MiB`)
  t.equal(await resolve('main'), small)
  t.equal(await resolve('tag-of-tag'), small)
})

void t.test('commits with messages of 36 MiB are refused within the memory of the container', { timeout: 300_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-huge-commits-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const container = await openContainer(folder)
  if (container === undefined) return t.plan(0, 'this user may set no limit on memory; run as root with cgroups')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const names = ['a', 'b', 'c', 'd']
  for (const [index, name] of names.entries()) commitMessage(host.repository(name), (36 + index) * mebibyte)
  const ordinary = host.repository('ordinary').commit({ a: 'a' })
  const found = await container.fetch({ repos: [...names, 'ordinary'].map((name) => host.url(`${name}/.git`)) })
  t.strictSame(found.commits, [...names.map(() => 'RepositoryTooLarge'), ordinary])
  t.equal(found.killed, 0)
  t.ok(found.anonymousMiB < limitMiB, `${found.anonymousMiB.toFixed(1)} MiB of ${limitMiB}`)
})
