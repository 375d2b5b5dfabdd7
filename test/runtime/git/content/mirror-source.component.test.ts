/**
 * How a mirror serves the contents of a change. The contract of all sources covers that they equal those of the content server
 * (test/contract/source.ts).
 */
import { readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { Change } from '../../../../runtime/content/protocol/protocol.ts'
import { type CommitHash, parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { createMirrors } from '../../../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const signal = AbortSignal.timeout(60_000)

async function mirrorOf(t: Test, before: Record<string, string>, after: Record<string, string>) {
  const folder = temporaryFolder(t, 'source')
  const repository = makeRepository(path.join(folder, 'repository'))
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  const fetched = async (files: Record<string, string>): Promise<CommitHash> => {
    const commit = parseCommitHash(repository.commit(files))
    await mirror.resolve('main', { fresh: true }, signal)
    return commit
  }
  const [from, commit] = [await fetched(before), await fetched(after)]
  const source = mirror.source(() => [parseRelativePath('projects')])
  const changes: Change[] = []
  for await (const batch of source.changes({ commit, from, profile: 'default' }, signal)) changes.push(...batch)
  return {
    changes,
    async contents(): Promise<string> {
      const ids = changes.flatMap((change) => (change.op === 'put' ? [change.id] : []))
      const chunks: Uint8Array[] = []
      for await (const chunk of source.frames({ commit, profile: 'default', ids }, signal)) chunks.push(chunk)
      return Buffer.concat(chunks).toString('latin1')
    },
    /** From now on git finds no objects in the mirror or at its host. */
    breakMirror() {
      rmSync(repository.folder, { recursive: true, force: true })
      for (const name of readdirSync(path.join(folder, 'mirrors'))) {
        rmSync(path.join(folder, 'mirrors', name, 'objects'), { recursive: true, force: true })
      }
    },
  }
}

void t.test('the contents of a small change are read with its sizes, so that git is not started again for them', async (t) => {
  if (!requires(t, 'git')) return
  const after = { 'projects/a.json': '[1, 2]', 'projects/b.json': '' }
  const { changes, contents, breakMirror } = await mirrorOf(t, { 'projects/a.json': '[1]' }, after)
  const sizes = Object.fromEntries(changes.map((change) => [change.path, change.op === 'put' ? change.size : -1]))
  t.strictSame(sizes, { 'projects/a.json': 6, 'projects/b.json': 0 })
  breakMirror()
  const frames = changes.map((change) => {
    const text = after[change.path as keyof typeof after]
    return `${change.op === 'put' ? change.id : ''} blob ${text.length}\n${text}\n`
  })
  t.equal(await contents(), frames.join(''))
})

void t.test('large contents and the contents of many changes are not kept', async (t) => {
  if (!requires(t, 'git')) return
  const large = 'x'.repeat(2_000_000)
  const cases: Record<string, Record<string, string>> = {
    'one large file': { 'projects/a.json': '[]', 'projects/large.bin': large },
    'many files': Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`projects/${index}.json`, `[${index}]`])),
  }
  for (const [name, after] of Object.entries(cases)) {
    const { changes, contents, breakMirror } = await mirrorOf(t, { 'projects/a.json': '[1]' }, after)
    const sizes = Object.fromEntries(changes.map((change) => [change.path, change.op === 'put' ? change.size : -1]))
    t.strictSame(sizes, Object.fromEntries(Object.entries(after).map(([file, text]) => [file, text.length])), name)
    t.match(await contents(), new RegExp(`blob ${Object.values(after)[0]?.length ?? 0}\n`), name)
    breakMirror()
    await t.rejects(contents(), `${name}: what is not held is read`)
  }
})

void t.test('for a missing path the nearest existing path is suggested', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'near')
  const repository = makeRepository(path.join(folder, 'repository'))
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  const files = {
    'services/config/resources/core/config-mode.json': '{}',
    'services/projects/line/project.json': '{}',
    'services/config.json': '{}',
  }
  const commit = parseCommitHash(repository.commit(files))
  await mirror.resolve('main', { fresh: true }, signal)
  const source = mirror.source(() => [parseRelativePath('nothing')])
  const rows: [string, boolean, string | undefined][] = [
    ['services/project', false, 'services/projects'],
    ['Services/Projects', false, 'services/projects'],
    ['service/projects', false, 'services/projects'],
    ['services/config.jsn', false, 'services/config.json'],
    ['views', false, undefined],
    ['services/config/resource', true, 'services/config/resources'],
    ['resources', true, 'services/config/resources'],
  ]
  for (const [missing, isRoot, meant] of rows) t.equal(await source.near?.({ commit, missing, isRoot }, signal), meant, missing)
})
