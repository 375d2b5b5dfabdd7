/**
 * Concurrent fetches of 100 MB packs fit in the memory of the controller's container, beside the memory of the controller itself.
 */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t from 'tap'
import { openContainer } from '../../../support/contained-fetch.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { commitRandom, packs } from '../../../support/large-packs.ts'
import { requires } from '../../../support/requires.ts'

/** The controller itself uses 64 MiB of this, and the memory shares of git are 56 MiB in total. */
const limitMiB = 120
/** Repositories with the same contents under other names: more than there are memory shares. */
const copies = 4

void t.test("packs of 100 MB that are requested at once are fetched within the container's memory", { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  // The folder is on a disk, because pages of files in a memory file system cannot be reclaimed.
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-fetch-memory-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const container = await openContainer(folder)
  if (container === undefined) return t.plan(0, 'this user may set no limit on memory; run as root with cgroups')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const large = await commitRandom(host.repository('one-file'), packs['one file'])
  const small = await commitRandom(host.repository('many-small-files'), packs['many small files'])
  const names = Array.from({ length: copies }, (_, index) => `copy-${index}`)
  for (const name of names) symlinkSync(path.join(folder, 'git/many-small-files'), path.join(folder, 'git', name))
  const found = await container.fetch({ repos: ['one-file', ...names].map((name) => host.url(`${name}/.git`)) })
  t.strictSame(found.commits, [large, ...names.map(() => small)])
  t.equal(found.killed, 0)
  t.ok(found.anonymousMiB < limitMiB, `${found.anonymousMiB.toFixed(1)} MiB of ${limitMiB}`)
})
