/**
 * The local changes in an agent's report: grouped by folder, without secrets, once per request, and within the size limit of a report.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { createChangesReporter } from '../../../../runtime/capture/detect/report.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { type SyncReportStatus, syncReportStatus } from '../../../../runtime/api/schema/report.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { runCycle } from '../../../../runtime/sync/cycle.ts'
import { matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const signal = AbortSignal.timeout(120_000)
const profile = profileOf([{ source: 'projects', destination: 'projects' }])

async function synced(t: Test, tree: Tree) {
  const dataDir = path.join(temporaryFolder(t, 'tell'), 'data')
  mkdirSync(dataDir)
  const source = memorySource()
  const commit = source.commit(tree)
  const target = desiredOf(dataDir, commit, profile)
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  const tell = createChangesReporter()
  t.equal(
    await tell(source, target, { request: 'before', uid: 'u' }, signal),
    undefined,
    'without a commit in place there is nothing to tell',
  )
  t.equal((await runCycle(deps, target, signal)).phase, 'Synced')
  return {
    commit,
    tell: (request: string, uid = 'u') => tell(source, target, { request, uid }, signal),
    write: (file: string, text: string): void => writeFileSync(path.join(dataDir, file), text),
    remove: (file: string): void => rmSync(path.join(dataDir, file)),
  }
}

void t.test('changed, new and removed files are listed by folder with their differences and without secrets', async (t) => {
  const { commit, tell, write, remove } = await synced(t, {
    'projects/line/a.json': '{"text":"Start","password":"of the day"}',
    'projects/line/b.txt': 'one\ntwo\n',
    'projects/line/c.txt': 'c',
  })
  write('projects/line/a.json', '{"text":"Run","password":"of the night"}')
  write('projects/line/b.txt', 'one\n\u001b[2Jthree\n')
  write('projects/line/new.txt', 'n')
  remove('projects/line/c.txt')
  const told = await tell('first')
  const text = [
    'projects/line',
    '  ~ a.json',
    '      password: (hidden) -> (hidden)',
    '      text: "Start" -> "Run"',
    '  ~ b.txt',
    '      -two',
    '      +\uFFFD[2Jthree',
    '  - c.txt',
    '  + new.txt',
    `2 files changed, 1 added, 1 removed since commit ${commit.slice(0, 8)}`,
  ].join('\n')
  t.strictSame(told, { request: 'first', commit, changed: 2, added: 1, removed: 1, ignored: 0, text })
  write('projects/line/c.txt', 'c')
  t.equal(await tell('first'), told, 'one request has one answer')
  matchObject(t, await tell('first', 'made anew'), { request: 'first', removed: 0 }, 'of one GatewaySync')
  matchObject(t, await tell('second'), { removed: 0 })
})

void t.test('a listing that is too long counts the files it omits, and the API server accepts it', async (t) => {
  const names = Array.from({ length: 300 }, (_, index) => `projects/line/file-${String(index).padStart(3, '0')}.txt`)
  const { tell, write } = await synced(t, Object.fromEntries(names.map((name) => [name, 'before'])))
  for (const name of names) write(name, `${'after '.repeat(200)}\n`.repeat(60))
  const changes = await tell('now')
  const status: SyncReportStatus = { phase: 'Drifted', ...(changes === undefined ? {} : { changes }) }
  t.ok(v.safeParse(syncReportStatus, status).success)
  t.match(changes?.text, /^… [0-9]+ more files\n300 files changed, 0 added, 0 removed since commit [0-9a-f]{8}$/m)
  t.ok((changes?.text.length ?? 0) > 10_000, 'as much as there is room for')
})

void t.test('a change whose differences do not fit is listed by name, and the following ones in full', async (t) => {
  const { tell, write } = await synced(t, { 'projects/a.txt': 'a', 'projects/b.txt': 'b', 'projects/c.txt': 'one\n' })
  for (const name of ['a', 'b']) write(`projects/${name}.txt`, `${'after '.repeat(60)}\n`.repeat(60))
  write('projects/c.txt', 'two\n')
  const changes = await tell('now')
  t.match(changes?.text, /^ {2}~ b\.txt \(differences not shown\)\n {2}~ c\.txt\n {6}-one\n {6}\+two\n3 files changed, /m)
})

void t.test('of a file with more differences than are searched, no number is claimed', async (t) => {
  const list = (count: number, value: number): string =>
    JSON.stringify({ a: Object.fromEntries(Array.from({ length: count }, (_, index) => [index, value])) })
  const [few, many] = await Promise.all(
    [50, 5_000].map(async (count) => {
      const changes = await synced(t, { 'projects/a/list.json': list(count, 1) })
      changes.write('projects/a/list.json', list(count, 2))
      return (await changes.tell('now'))?.text
    }),
  )
  t.match(few, /^ {6}… 10 more$/m)
  t.match(many, /^ {6}… more than 960 more$/m)
})
