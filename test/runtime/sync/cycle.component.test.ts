/**
 * Tests the engine on a real folder: which files it writes, which it never touches, and what it reports.
 */
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { listTree } from '../../../scripts/quickstart/check.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import type { Gateway } from '../../../runtime/gateway/gateway.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { runCycle } from '../../../runtime/sync/cycle.ts'
import { matchObject } from '../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { syncedFolder } from '../../support/synced-folder.ts'

const signal = AbortSignal.timeout(60_000)
const projects = { source: 'projects', destination: 'projects' }

function setUp(t: Pick<Test, 'teardown'>) {
  const { dataDir, sync, files: tree, memory } = syncedFolder(t, 'engine')
  const write = (file: string, content: string): void => {
    mkdirSync(path.dirname(path.join(dataDir, file)), { recursive: true })
    writeFileSync(path.join(dataDir, file), content)
  }
  const read = (file: string): string => readFileSync(path.join(dataDir, file), 'utf8')
  return { dataDir, sync, write, read, tree, memory }
}

void t.test('projects, projects/ and ./projects are one destination, and deletion works for each', async (t) => {
  for (const destination of ['projects', 'projects/', './projects', 'projects/./']) {
    const { sync, tree } = setUp(t)
    const profile = profileOf([{ source: destination === 'projects' ? 'projects' : 'projects/', destination }])
    await sync({ 'projects/a': '1', 'projects/b': '1' }, profile)
    t.equal((await sync({ 'projects/a': '1' }, profile)).phase, 'Synced')
    t.strictSame(tree(), ['projects/a'], destination)
  }
})

void t.test('a missing required source blocks, and a missing optional one keeps its files with a finding', async (t) => {
  const { sync, tree } = setUp(t)
  await sync({ 'projects/a': '1', 'extra/x': 'x' }, profileOf([projects, { source: 'extra', destination: 'extra', required: false }]))
  const result = await sync({ 'projects/a': '2' }, profileOf([projects, { source: 'extra', destination: 'extra', required: false }]))
  t.equal(result.phase, 'Synced')
  t.ok(result.findings?.some(({ rule }) => rule === 'source-absent'))
  t.strictSame(tree(), ['extra/x', 'projects/a'])
  const blocked = await sync({ other: '1' }, profileOf([projects]))
  matchObject(t, blocked, { phase: 'Blocked', reason: 'SourcePathMissing' })
  t.strictSame(tree(), ['extra/x', 'projects/a'], 'nothing was touched')
})

void t.test('a later mapping wins for a path, and the earlier one takes over when the file is removed', async (t) => {
  const { sync, read } = setUp(t)
  const profile = profileOf([
    { source: 'base', destination: 'projects' },
    { source: 'over', destination: 'projects' },
  ])
  await sync({ 'base/a': 'base', 'over/a': 'over' }, profile)
  t.equal(read('projects/a'), 'over')
  await sync({ 'base/a': 'base', 'over/b': 'b' }, profile)
  t.equal(read('projects/a'), 'base')
})

void t.test('prune deletes managed files, foreign files as well, or nothing', async (t) => {
  for (const [prune, left] of [
    ['Owned', ['projects/foreign', 'projects/stays']],
    ['All', ['projects/stays']],
    ['None', ['projects/foreign', 'projects/goes', 'projects/stays']],
  ] as const) {
    const { sync, tree, write } = setUp(t)
    write('projects/foreign', 'f')
    const profile = profileOf([{ ...projects, prune }])
    await sync({ 'projects/goes': '1', 'projects/stays': '1' }, profile)
    await sync({ 'projects/stays': '1' }, profile)
    t.strictSame(tree(), left, prune)
  }
})

void t.test('files of the gateway are neither written nor deleted, whatever is mapped', async (t) => {
  const { sync, tree, write } = setUp(t)
  for (const file of [
    'config/local/x',
    'config/resources/local/k',
    'config/db.idb',
    'config/resources/.resources/h',
    'config/ignition/keys/k',
  ])
    write(file, 'gateway')
  const profile = profileOf([{ source: 'config', destination: 'config', prune: 'All' }])
  const result = await sync(
    { 'config/local/x': 'ours', 'config/resources/LOCAL/k': 'ours', 'config/DB.IDB': 'ours', 'config/ok': '1' },
    profile,
  )
  t.equal(result.phase, 'Synced')
  t.strictSame(tree(), [
    'config/db.idb',
    'config/ignition/keys/k',
    'config/local/x',
    'config/ok',
    'config/resources/.resources/h',
    'config/resources/local/k',
  ])

  const other = setUp(t)
  other.write('projects/thing/db.idb', 'gateway')
  const isObstacle = await other.sync({ 'projects/thing': 'a file where the folder is' }, profileOf([{ ...projects, prune: 'All' }]))
  matchObject(t, isObstacle, {
    phase: 'Blocked',
    reason: 'MappingConflict',
    message: /"projects\/thing\/db\.idb", which no sync deletes, is in the way of "projects\/thing"; exclude "projects\/thing"/,
  })
  t.strictSame(other.tree(), ['projects/thing/db.idb'])
  for (const destination of ['config/local', 'config/Resources/Local/x', '.cluster-sync', 'config/ignition/keys']) {
    matchObject(
      t,
      await setUp(t).sync({ 'projects/a': '1' }, profileOf([{ source: 'projects', destination }])),
      { phase: 'Blocked', reason: 'DestinationNotAllowed' },
      destination,
    )
  }
})

void t.test('deletions beyond the limit are blocked until confirmed for that commit', async (t) => {
  const { sync, tree } = setUp(t)
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`projects/${index}`, 'x']))
  const profile = profileOf([projects], { maxDeletions: '50%' })
  await sync(many, profile)
  const few: Tree = { 'projects/0': 'x' }
  const stopped = await sync(few, profile)
  matchObject(t, stopped, { phase: 'Blocked', reason: 'MassDeletion' })
  t.equal(tree().length, 30)
  const commit = memorySource().commit(few)
  t.equal((await sync(few, profile, { confirmDeletions: memorySource().commit(many) })).phase, 'Blocked', 'another commit confirms nothing')
  t.equal((await sync(few, profile, { confirmDeletions: commit })).phase, 'Synced')
  t.strictSame(tree(), ['projects/0'])
})

void t.test('a symbolic link anywhere in a path blocks the sync and is never followed', async (t) => {
  for (const link of ['projects', 'projects/deep', 'projects/deep/a']) {
    const { sync, dataDir } = setUp(t)
    const outside = temporaryFolder(t, 'outside')
    writeFileSync(path.join(outside, 'a'), 'theirs')
    mkdirSync(path.dirname(path.join(dataDir, link)), { recursive: true })
    symlinkSync(link.endsWith('/a') ? path.join(outside, 'a') : outside, path.join(dataDir, link))
    matchObject(t, await sync({ 'projects/deep/a': 'ours' }, profileOf([projects])), { phase: 'Blocked', reason: 'SymbolicLink' }, link)
    t.equal(readFileSync(path.join(outside, 'a'), 'utf8'), 'theirs')
    t.ok(lstatSync(path.join(dataDir, link)).isSymbolicLink())
    t.strictSame(readdirSync(outside), ['a'])
  }
})

void t.test('a local change is reported or restored, and a commit that overwrites it causes a finding', async (t) => {
  const { sync, write, read } = setUp(t)
  await sync({ 'projects/a': '1', 'projects/b': '1' }, profileOf([projects]))
  write('projects/a', 'local')
  matchObject(t, await sync({ 'projects/a': '1', 'projects/b': '1' }, profileOf([projects])), {
    phase: 'Drifted',
    drift: { count: 1, paths: ['projects/a'] },
  })
  t.equal(read('projects/a'), 'local')
  t.equal((await sync({ 'projects/a': '1', 'projects/b': '1' }, profileOf([projects], { drift: 'Restore' }))).phase, 'Synced')
  t.equal(read('projects/a'), '1')
  write('projects/a', 'local again')
  const result = await sync({ 'projects/a': '2', 'projects/b': '1' }, profileOf([projects]))
  t.ok(result.findings?.some(({ rule, path: file }) => rule === 'local-change' && file === 'projects/a'))
  t.equal(read('projects/a'), '2')
})

void t.test('neither a dry run, which reports its plan, nor a paused sync writes anything', async (t) => {
  const { sync, dataDir } = setUp(t)
  const dry = await sync({ 'projects/a': '1' }, profileOf([projects], { dryRun: true }))
  matchObject(t, dry, { phase: 'DryRun', dryRun: { added: 1, changed: 0, removed: 0, paths: ['+ projects/a'] } })
  matchObject(t, await sync({ 'projects/a': '1' }, profileOf([projects]), { paused: true }), { phase: 'Paused' })
  t.strictSame(listTree(dataDir), [])
})

void t.test('templates and patches render on the first sync, over a raw copy, and when a variable changes', async (t) => {
  const { sync, read, write } = setUp(t)
  write('projects/t', 'host={{ vars.host }}')
  const tree: Tree = {
    'projects/t': 'host={{ vars.host }}',
    'projects/c.json': '{ "port" : 1, "url": "x", "big": 12345678901234567890 }',
    'projects/plain': '{{ not a template }}',
  }
  const withVars = (host: string) =>
    profileOf(
      [
        {
          source: 'projects',
          destination: 'projects',
          excludePatterns: ['t'],
          patches: [{ file: '*.json', set: { url: 'jdbc:{{ vars.host }}', '$.port': '2', nope: 'x' } }],
        },
        { source: 'projects/t', destination: 'projects/t', type: 'File', template: true },
      ],
      { vars: { host } },
    )
  const result = await sync(tree, withVars('a'))
  t.equal(result.phase, 'Synced', result.message ?? '')
  t.equal(read('projects/t'), 'host=a')
  t.equal(read('projects/c.json'), '{ "port" : 2, "url": "jdbc:a", "big": 12345678901234567890 }', 'every other byte stays')
  t.equal(read('projects/plain'), '{{ not a template }}')
  t.ok(result.findings?.some(({ rule }) => rule === 'patch-without-match'))
  const again = await sync(tree, withVars('b'))
  matchObject(t, again.files, { changed: 2, added: 0 })
  t.equal(read('projects/t'), 'host=b')
  const raw = setUp(t)
  await raw.sync({ 'projects/t': 'host={{ vars.host }}' }, profileOf([projects], { vars: { host: 'a' } }))
  t.equal(raw.read('projects/t'), 'host={{ vars.host }}')
  await raw.sync({ 'projects/t': 'host={{ vars.host }}' }, profileOf([{ ...projects, template: true }], { vars: { host: 'a' } }))
  t.equal(raw.read('projects/t'), 'host=a', 'a mapping that becomes a template renders what lies there raw')
})

void t.test('a template cannot read files, time or random values', async (t) => {
  for (const text of [
    '{% include "/etc/passwd" %}',
    '{% render "/etc/passwd" %}',
    '{% layout "/etc/passwd" %}',
    '{{ "now" | date: "%s" }}',
    '{{ vars | sample }}',
    '{{ vars.missing }}',
    '{{ vars.constructor }}',
    '{% for i in (1..100000000) %}x{% endfor %}',
  ]) {
    const { sync, tree } = setUp(t)
    matchObject(
      t,
      await sync({ 'projects/a': text }, profileOf([{ ...projects, template: true }], { vars: { host: 'a' } })),
      { phase: 'Blocked', reason: 'TemplateFailed' },
      text,
    )
    t.strictSame(tree(), [])
  }
})

void t.test('if a step of an apply fails, the folder keeps the old commit and the report says so', async (t) => {
  const { sync, tree, read, memory, dataDir } = setUp(t)
  const before: Tree = { 'projects/a': '1', 'projects/b/c': '1' }
  const first = await sync(before, profileOf([projects]))
  const source = memorySource()
  source.commit(before)
  const next = source.commit({ 'projects/a': '2', 'projects/b/c': '2', 'projects/new/x': '1' })
  let puts = 0
  const boundary = (name: string): void => {
    if (name.startsWith('put') && (puts += 1) === 2) throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  }
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory, boundary }
  const target = desiredOf(dataDir, next, profileOf([projects]))
  const result = await runCycle(deps, target, signal)
  matchObject(t, result, { phase: 'Failed', reason: 'DiskFull', commit: first.commit })
  t.strictSame(tree(), ['projects/a', 'projects/b/c'])
  t.equal(read('projects/a'), '1')
})

void t.test('an open Designer holds a write back according to the policy', async (t) => {
  const gateway = (designers: { user: string; project: string }[]): Gateway => ({
    status: async () => 'running',
    info: async () => ({ name: 'gw', version: '', deploymentMode: '', redundancyRole: '' }),
    designers: async () => designers,
    lock: async () => 'held',
    problems: async () => [],
    statusOf: async () => 200,
    scan: async (kinds) => ({ problems: [], ...Object.fromEntries(kinds.map((kind) => [kind, systemClock.now()])) }),
  })
  const open = gateway([{ user: 'ann', project: 'line' }])
  for (const [policy, phase] of [
    ['Wait', 'Pending'],
    ['Fail', 'Blocked'],
    ['Proceed', 'Synced'],
  ] as const) {
    const { sync, tree } = setUp(t)
    const result = await sync({ 'projects/a': '1' }, profileOf([projects], { designerSessionPolicy: policy }), {}, { gateway: open })
    t.equal(result.phase, phase, policy)
    t.strictSame(tree(), policy === 'Proceed' ? ['projects/a'] : [])
    if (policy !== 'Proceed') t.strictSame(result.designers, ['ann in line'])
  }
})

void t.test('an encrypted file is written unchanged, with a finding', async (t) => {
  const { sync, read } = setUp(t)
  const files = {
    'projects/a.key': '\0GITCRYPT\0x',
    'projects/b.yaml': 'password: ENC[AES256_GCM,data:x,type:str]\nsops:\n  version: 3.9.0\n',
    'projects/c.yaml': 'password: ENC[x]\nsops: {}\n',
  }
  const result = await sync(files, profileOf([projects]))
  t.strictSame(
    result.findings?.map(({ rule, path: file, message }) => [rule, file, message]),
    [
      ['encrypted-file', 'projects/a.key', 'is encrypted by git-crypt, and nothing decrypts it; keep it unencrypted, and without secrets'],
      [
        'encrypted-file',
        'projects/b.yaml',
        'contains values encrypted by SOPS, and nothing decrypts it; keep it unencrypted, and without secrets',
      ],
    ],
  )
  t.equal(read('projects/a.key'), files['projects/a.key'])
})

void t.test('a Git LFS pointer is written unchanged, with a finding', async (t) => {
  const { sync, read } = setUp(t)
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12\n`
  const result = await sync({ 'projects/a.png': pointer, 'projects/b': 'version https', 'projects/c': '' }, profileOf([projects]))
  t.strictSame(
    result.findings?.map(({ rule, path: file }) => `${rule} ${file}`),
    ['lfs-pointer projects/a.png'],
  )
  t.equal(read('projects/a.png'), pointer)
})
