/**
 * Large packs do not end the controller: as many of 100 MB as are asked for at once, in the memory of its container and beside all that it
 * holds itself.
 */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import t from 'tap'
import { openContainer } from '../../../support/contained-fetch.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { commitRandom, packs } from '../../../support/large-packs.ts'
import { requires } from '../../../support/requires.ts'

/** The process itself holds 64 of it, and the shares of git are 56 together. */
const limitMiB = 120
/** Of the same contents under other names: more than there are shares for. */
const copies = 4

void t.test('packs of 100 MB that are asked for at once are fetched within the container', { timeout: 300_000 }, async (t) => {
  if (!requires(t, 'git')) return
  // On a disk: the pages of files in memory are not taken back.
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
  t.same(found.commits, [large, ...names.map(() => small)])
  t.equal(found.killed, 0)
  t.ok(found.anonymousMiB < limitMiB, `${found.anonymousMiB.toFixed(1)} MiB of ${limitMiB}`)
})
