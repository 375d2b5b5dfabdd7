/**
 * Tests the report of a dry run and a pause, and that neither changes anything in the data directory.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import { syncReportStatus } from '../../../../runtime/api/schema/report.ts'
import { profileOf } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

const projects = { source: 'projects', destination: 'projects' }

/** The complete state of a folder, including all timestamps in nanoseconds. */
function everythingBelow(folder: string): string[] {
  const stat = lstatSync(folder, { bigint: true })
  const own = `${folder} ${stat.mode} ${stat.uid} ${stat.gid} ${stat.ino} ${stat.nlink} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
  if (stat.isSymbolicLink()) return [`${own} ${readlinkSync(folder)}`]
  if (!stat.isDirectory()) return [`${own} ${readFileSync(folder, 'latin1')}`]
  return [
    own,
    ...readdirSync(folder)
      .toSorted()
      .flatMap((name) => everythingBelow(path.join(folder, name))),
  ]
}

void t.test('a dry run reports a line diff, and the API server accepts its report', async (t) => {
  const { sync, dataDir, memory } = syncedFolder(t, 'dry-run')
  const before = { 'projects/keep': 'k', 'projects/a.json': '{\n  "a": 1,\n  "b": 2\n}\n', 'projects/gone': 'g' }
  const first = await sync(before, profileOf([projects]))
  const state = everythingBelow(dataDir)
  const after = {
    'projects/keep': 'k',
    'projects/a.json': '{\n  "a": 1,\n  "b": 3\n}',
    'projects/new/t': 'host={{ vars.host }}\n',
    'projects/image': 'a\0b',
  }
  const profile = profileOf(
    [
      { ...projects, patches: [] },
      { source: 'projects/new', destination: 'projects/new', template: true },
    ],
    {
      dryRun: true,
      vars: { host: 'h1' },
    },
  )
  for (const [name, fresh] of [
    ['while the agent runs', false],
    ['in an agent that has just started', true],
  ] as const) {
    if (fresh) memory.manifest = undefined
    const result = await sync(after, profile)
    t.equal(result.phase, 'DryRun', name)
    t.equal(result.commit, first.commit, 'what is in place is the old commit')
    t.strictSame(result.dryRun, {
      added: 2,
      changed: 1,
      removed: 1,
      paths: ['~ projects/a.json', '- projects/gone', '+ projects/image', '+ projects/new/t'],
      diff: [
        '~ projects/a.json',
        '    -  "b": 2',
        '    +  "b": 3',
        '    +\\ No newline at end of file',
        '- projects/gone',
        '+ projects/image',
        '+ projects/new/t',
        '    +host=h1',
      ].join('\n'),
    })
    t.ok(v.safeParse(syncReportStatus, result).success)
    t.strictSame(everythingBelow(dataDir), state, `nothing changed ${name}, not even a time`)
  }
})

void t.test('the diff of a large plan is cut to fit into a report', async (t) => {
  const { sync, dataDir } = syncedFolder(t, 'dry-run')
  const state = everythingBelow(dataDir)
  const tree = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`projects/f${index}`, `${'line\n'.repeat(20)}${index}\n`]))
  const result = await sync(tree, profileOf([projects], { dryRun: true }))
  t.equal(result.dryRun?.added, 3_000)
  t.equal(result.dryRun?.paths.length, 100)
  t.ok((result.dryRun?.diff?.length ?? 0) <= 16_384)
  t.match(result.dryRun?.diff, /\n… more is not shown$/)
  t.ok(v.safeParse(syncReportStatus, result).success)
  t.strictSame(everythingBelow(dataDir), state, 'not even our own folder is made')
})

void t.test('a dry run and a pause leave an interrupted apply, drift and a foreign lock unchanged', async (t) => {
  const { sync, dataDir, memory } = syncedFolder(t, 'dry-run')
  await sync({ 'projects/a': '1' }, profileOf([projects]))
  writeFileSync(path.join(dataDir, 'projects/a'), 'local')
  const own = path.join(dataDir, '.cluster-sync')
  mkdirSync(path.join(own, 'run-00000000'))
  writeFileSync(path.join(own, 'run-00000000/s0'), 'staged')
  writeFileSync(path.join(own, 'lock'), '{}')
  const state = everythingBelow(dataDir)
  for (const more of [{ paused: true }, { paused: false }]) {
    memory.manifest = undefined
    const result = await sync({ 'projects/a': '2' }, profileOf([projects], { drift: 'Restore', dryRun: !more.paused }), more)
    t.equal(result.phase, more.paused ? 'Paused' : 'DryRun')
    t.strictSame(everythingBelow(dataDir), state, result.phase)
  }
})
