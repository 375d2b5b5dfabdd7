/**
 * Tests the plan for one desired file by what is at its path, and the plan for one file that is no longer desired.
 */
import t from 'tap'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import type { BlobId } from '../../../../runtime/content/protocol/protocol.ts'
import type { DesiredFile } from '../../../../runtime/sync/desired/desired-tree.ts'
import type { Owned } from '../../../../runtime/sync/model/manifest.ts'
import type { Observed } from '../../../../runtime/sync/plan/observed.ts'
import { isEmptyPlan, plan, type Plan, type PlanInput } from '../../../../runtime/sync/plan/plan.ts'
import { noAliases } from '../../../../runtime/sync/plan/path-collisions.ts'

const idOf = (digit: string): BlobId => digit.repeat(40) as BlobId
const stat = { size: 1, mtimeMs: 0, ino: 5, mode: 0o644 }
const desired = (path: string, mapping = 0): DesiredFile => ({ path, id: idOf('1'), size: 7, exec: false, mapping })
const owned = (digit: string, rendered?: string): Owned => ({
  id: idOf(digit),
  exec: false,
  mapping: 0,
  stat,
  rendered: rendered === undefined ? undefined : { id: idOf(rendered), key: '', uses: [] },
  driftVerdict: undefined,
})
const found = (digit: string, exec = false): Observed => ({ kind: 'file', stat, exec, id: idOf(digit) })
const observed = (seen: Record<string, Observed>) => new Map(Object.entries(seen))

const path = 'projects/a/b'
const nothing: Plan = {
  puts: [],
  adopts: [],
  deletes: [],
  released: [],
  problems: [],
  findings: [],
  respelled: [],
  counts: { added: 0, changed: 0, removed: 0, unchanged: 0, bytes: 0 },
  scan: [],
}

function planOf(more: Partial<PlanInput>): Plan {
  return plan({
    rootBytes: 20,
    puts: new Map(),
    removed: new Map(),
    foreign: [],
    owned: new Map(),
    observed: new Map(),
    aliases: noAliases,
    repairing: new Set(),
    prunesAll: () => false,
    isRendered: () => false,
    maxDeletions: '100%',
    commit: parseCommitHash('f'.repeat(40)),
    confirmedDeletions: undefined,
    withheld: new Set(),
    mode: undefined,
    ...more,
  })
}

/** The plan for one file, desired with content 1 at `path`. */
const planFor = (seen: Observed | undefined, more: Partial<PlanInput> = {}): Plan =>
  planOf({ puts: new Map([[path, desired(path)]]), observed: observed(seen === undefined ? {} : { [path]: seen }), ...more })

const change = (rule: 'local-change', at: string, message: string) => ({ rule, path: at, message })
const put = (before: 'absent' | 'file' | 'folder', topmost = path) => ({ ...desired(path), before, topmost })
const added = { ...nothing.counts, added: 1, bytes: 7 }
const changed = { ...nothing.counts, changed: 1, bytes: 7 }

void t.test('a file is written where nothing is, and adopted where it is already', async (t) => {
  t.strictSame(planFor({ kind: 'absent', topmost: 'projects/a' }), {
    ...nothing,
    puts: [put('absent', 'projects/a')],
    counts: added,
    scan: ['projects'],
  })
  t.strictSame(
    planFor(undefined),
    { ...nothing, puts: [put('absent')], counts: added, scan: ['projects'] },
    'a path that was not inspected',
  )
  const adopted = { ...nothing, adopts: [{ ...desired(path), stat }] }
  t.strictSame(planFor(found('1')), { ...adopted, counts: { ...nothing.counts, unchanged: 1 } })
  const ours = (digit: string) => ({ owned: new Map([[path, owned(digit)]]) })
  t.strictSame(planFor(found('1'), ours('1')), { ...adopted, counts: { ...nothing.counts, unchanged: 1 } }, 'owned with this content')
  t.strictSame(planFor(found('1'), ours('2')), { ...adopted, counts: { ...nothing.counts, changed: 1 } }, 'owned with other content')
  t.strictSame(planFor({ kind: 'absent', topmost: path }, ours('1')).counts, changed, 'an owned file that is missing counts as changed')
})

void t.test('other content is overwritten, and reported unless a sync wrote it or a repair is due', async (t) => {
  const written = { ...nothing, puts: [put('file')], counts: changed, scan: ['projects'] }
  const foreign = change('local-change', path, `was not written by a sync (content hash ${idOf('2')}); the commit overwrites it`)
  const local = change('local-change', path, `was changed locally (content hash ${idOf('2')}); the commit overwrites it`)
  t.strictSame(planFor(found('2')), { ...written, findings: [foreign] })
  t.strictSame(planFor(found('2'), { owned: new Map([[path, owned('2')]]) }), written, 'as the last sync wrote it')
  t.strictSame(planFor(found('2'), { owned: new Map([[path, owned('3', '2')]]) }), written, 'as the last sync rendered it')
  t.strictSame(planFor(found('2'), { owned: new Map([[path, owned('2', '3')]]) }), { ...written, findings: [local] }, 'the template itself')
  t.strictSame(planFor(found('2'), { owned: new Map([[path, owned('1')]]) }), { ...written, findings: [local] })
  t.strictSame(planFor(found('2'), { repairing: new Set([path]) }), written, 'a repair')
  t.strictSame(planFor(found('1'), { repairing: new Set([path]) }), written, 'a repair of the same content')
  t.strictSame(planFor({ kind: 'file', stat, exec: false, id: undefined }), written, 'content that did not have to be read')
  t.strictSame(planFor({ kind: 'file', stat, exec: false, id: null }).findings, [
    change('local-change', path, 'was not written by a sync (content unreadable); the commit overwrites it'),
  ])
  t.strictSame(planFor(found('1'), { isRendered: () => true }).puts, [put('file')], 'the template of a rendered file')
  t.strictSame(planFor(found('1', true)).puts, [put('file')], 'another executable bit')
})

const conflict = (message: string) => ({ ...nothing, problems: [{ reason: 'MappingConflict', message }] })
const remove = 'remove it, or set prune: All on the mapping'

void t.test('a file in the way of a folder is a problem, unless it goes or the mapping prunes it', async (t) => {
  const seen: Observed = { kind: 'under-file', file: 'projects/a' }
  const file = 'projects/a'
  t.strictSame(planFor(seen), conflict(`the file "${file}", which no commit delivered, is in the way of "${path}"; ${remove}`))
  const competing = conflict(`the file "${file}", which another mapping delivers, is in the way of "${path}"; exclude one of the two`)
  const unchanged = { ...nothing.counts, unchanged: 1 }
  const collision = { reason: 'MappingConflict', message: `"${file}" would be a file and a folder at once` }
  t.strictSame(planFor(seen, { owned: new Map([[file, owned('1')]]) }), {
    ...competing,
    problems: [...competing.problems, collision],
    counts: unchanged,
  })
  const replaced = { ...nothing, puts: [put('absent', file)], scan: ['projects'] }
  const counts = { ...added, removed: 1 }
  t.strictSame(planFor(seen, { prunesAll: (mapping) => mapping === 0 }), {
    ...replaced,
    deletes: [{ path: file, why: 'foreign', isObstacle: true }],
    counts,
  })
  t.strictSame(planFor(seen, { prunesAll: (mapping) => mapping === 1 }).puts, [], 'another mapping prunes')
  const two = [path, 'projects/a/c']
  const below = planOf({
    puts: new Map(two.map((one) => [one, desired(one)])),
    observed: observed(Object.fromEntries(two.map((one) => [one, seen]))),
    prunesAll: () => true,
  })
  t.strictSame(below.deletes, [{ path: file, why: 'foreign', isObstacle: true }], 'once for two files')
  const going = {
    removed: new Map([
      [file, 'Owned'],
      ['projects/c', 'Owned'],
    ] as const),
    owned: new Map([
      [file, owned('1')],
      ['projects/c', owned('1')],
    ]),
  }
  const deletes = [
    { path: file, why: 'gone', isObstacle: true },
    { path: 'projects/c', why: 'gone', isObstacle: false },
  ]
  const present = { [file]: found('1'), 'projects/c': found('1') }
  t.strictSame(planFor(seen, { ...going, observed: observed({ [path]: seen, ...present }) }), {
    ...replaced,
    deletes,
    counts: { ...counts, removed: 2 },
  })
  const spelled: Observed = { kind: 'under-file', file: 'projects/A', spelled: file }
  t.strictSame(planFor(seen, { ...going, observed: observed({ [path]: spelled, ...present }) }).puts, [put('absent', 'projects/A')])
})

void t.test('a folder in the way of a file is a problem, unless all of its files go or the mapping prunes them', async (t) => {
  const seen: Observed = { kind: 'folder', files: [`${path}/x`, `${path}/y`] }
  t.strictSame(planFor(seen), conflict(`a folder with "${path}/x", which no commit delivered, is in the way of "${path}"; ${remove}`))
  const replaced = { ...nothing, puts: [put('folder')], scan: ['projects'] }
  t.strictSame(planFor({ kind: 'folder', files: [] }), { ...replaced, counts: changed }, 'an empty folder')
  const deleted = (why: 'gone' | 'foreign', isObstacle: boolean, ...names: string[]) =>
    names.map((name) => ({ path: `${path}/${name}`, why, isObstacle }))
  t.strictSame(planFor(seen, { prunesAll: () => true }), {
    ...replaced,
    deletes: deleted('foreign', true, 'x', 'y'),
    counts: { ...changed, removed: 2 },
  })
  const going = { removed: new Map([[`${path}/x`, 'Owned' as const]]), owned: new Map([[`${path}/x`, owned('1')]]) }
  const all = observed({ [path]: seen, [`${path}/x`]: found('1') })
  t.strictSame(planFor(seen, { ...going, observed: all }).problems, [
    { reason: 'MappingConflict', message: `a folder with "${path}/y", which no commit delivered, is in the way of "${path}"; ${remove}` },
  ])
  const only: Observed = { kind: 'folder', files: [`${path}/x`] }
  t.strictSame(planFor(only, { ...going, observed: observed({ [path]: only, [`${path}/x`]: found('1') }) }), {
    ...replaced,
    deletes: deleted('gone', false, 'x'),
    counts: { ...changed, removed: 1 },
  })
})

void t.test(
  'files of the gateway itself are never deleted for a desired file, and no setting that would not help is advised',
  async (t) => {
    const file = 'config/resources/core/ignition/api-token'
    const inside = `${file}/x`
    const puts = new Map([[inside, desired(inside)]])
    const under: Observed = { kind: 'under-file', file }
    const blocked = (what: string, at: string, name: string) =>
      conflict(`${what} "${name}", which no sync deletes, is in the way of "${at}"; exclude "${at}", or delete "${name}" on the gateway`)
    for (const prunesAll of [() => true, () => false]) {
      t.strictSame(planOf({ puts, observed: observed({ [inside]: under }), prunesAll }), blocked('the file', inside, file), 'its identity')
      for (const name of [`${file}/token`, 'config/local/x']) {
        const seen: Observed = { kind: 'folder', files: ['config/y', name] }
        const made = planOf({ puts: new Map([['config', desired('config')]]), observed: observed({ config: seen }), prunesAll })
        t.strictSame(made, blocked('a folder with', 'config', name), name)
      }
    }
  },
)

void t.test('a folder that is too deep to list must be deleted on the gateway, whatever the mapping prunes', async (t) => {
  const seen: Observed = { kind: 'folder', files: [`${path}/x`, `${path}/${'a/'.repeat(2_048)}a`] }
  const message = `a folder with a path that is too long to list is in the way of "${path}"; delete "${path}" on the gateway`
  for (const prunesAll of [() => true, () => false]) t.strictSame(planFor(seen, { prunesAll }), conflict(message))
})

void t.test('a link or a special file in the way is named', async (t) => {
  for (const [what, name] of [
    ['link', 'the symbolic link'],
    ['special', 'the special file'],
  ] as const) {
    const message = `${name} "projects/a" is in the way of "${path}"; remove it`
    t.strictSame(planFor({ kind: 'special', at: 'projects/a', what }), { ...nothing, problems: [{ reason: 'SymbolicLink', message }] })
  }
})

void t.test('a path that is too long is named with its limit, and nothing else is planned for it', async (t) => {
  const long = `projects/${'x'.repeat(256)}`
  const message = `a path is too long: one of its names has 256 bytes, and a file system allows 255; shorten or exclude "${long}"`
  const made = planOf({ puts: new Map([[long, desired(long)]]), owned: new Map([[long, owned('1')]]) })
  t.strictSame(made, {
    ...nothing,
    problems: [{ reason: 'PathTooLong', message, path: long }],
    counts: { ...nothing.counts, unchanged: 1 },
  })
})

void t.test('an owned file that is no longer desired is deleted, and reported if it was changed', async (t) => {
  const removing = (seen: Observed | undefined, prune: 'Owned' | 'None' | 'All' = 'Owned', more: Partial<PlanInput> = {}): Plan =>
    planOf({
      removed: new Map([[path, prune]]),
      owned: new Map([[path, owned('1')]]),
      observed: observed(seen === undefined ? {} : { [path]: seen }),
      ...more,
    })
  const deleted = {
    ...nothing,
    deletes: [{ path, why: 'gone', isObstacle: false }],
    counts: { ...nothing.counts, removed: 1 },
    scan: ['projects'],
  }
  t.strictSame(removing(found('1')), deleted)
  t.strictSame(removing(found('1'), 'All'), deleted)
  const local = change('local-change', path, `was changed locally (content hash ${idOf('2')}); the commit deletes it`)
  t.strictSame(removing(found('2')), { ...deleted, findings: [local] })
  const released = { ...nothing, released: [path] }
  t.strictSame(removing(found('2'), 'None'), released, 'prune: None')
  t.strictSame(removing({ kind: 'absent', topmost: path }), released, 'already gone')
  t.strictSame(removing(undefined), released, 'not inspected')
  for (const what of ['link', 'special'] as const) {
    const message = `is no longer a managed file (${what}) and is left unchanged`
    t.strictSame(removing({ kind: 'special', at: path, what }), { ...released, findings: [{ rule: 'left-in-place', path, message }] })
  }
})

void t.test('a hard link to a file that stays, under another name, is deleted', async (t) => {
  const removed = new Map([['projects/B', 'Owned' as const]])
  const all = observed({ 'projects/B': found('1') })
  const deletes = (input: Partial<PlanInput>) => planOf({ removed, observed: all, ...input }).deletes.map((one) => one.path)
  const both = (other: string) =>
    new Map([
      [other, owned('1')],
      ['projects/B', owned('1')],
    ])
  t.strictSame(deletes({ owned: both('projects/a') }), ['projects/B'])
  t.strictSame(deletes({ owned: both('projects/b') }), [], 'another spelling of it is the same file')
  const written = new Map([['projects/b', desired('projects/b')]])
  t.strictSame(deletes({ owned: both('projects/b'), puts: written }), ['projects/B'], 'a file that is replaced does not stay')
})

void t.test('lists are in the order of their paths, and foreign files are deleted', async (t) => {
  const names = ['config/c', 'projects/b', 'a']
  const made = planOf({
    puts: new Map(names.map((name) => [`${name}/put`, desired(`${name}/put`)])),
    removed: new Map(names.map((name) => [`${name}/gone`, 'Owned'])),
    foreign: names.map((name) => `${name}/foreign`),
    owned: new Map(names.map((name) => [`${name}/gone`, owned('1')])),
    observed: observed(Object.fromEntries(names.map((name) => [`${name}/gone`, found('1')]))),
  })
  const sorted = names.toSorted()
  t.strictSame(
    made.puts.map((one) => one.path),
    sorted.map((name) => `${name}/put`),
  )
  t.strictSame(made.deletes, [
    ...sorted.map((name) => ({ path: `${name}/gone`, why: 'gone', isObstacle: false })),
    ...sorted.map((name) => ({ path: `${name}/foreign`, why: 'foreign', isObstacle: false })),
  ])
  t.strictSame([made.scan, made.counts], [['projects', 'config'], { added: 3, changed: 0, removed: 6, unchanged: 0, bytes: 21 }])
  t.strictSame(planOf({ foreign: ['config/x'] }).scan, ['config'])
})

void t.test('a file or a folder that changes its spelling is written over the old one', async (t) => {
  const old = { removed: new Map([['projects/A/b', 'Owned' as const]]), owned: new Map([['projects/A/b', owned('1')]]) }
  const seen = observed({ 'projects/A/b': found('1'), [path]: found('1') })
  const folder = { files: new Map([[path, 'projects/A/b']]), folders: [{ from: 'projects/A', to: 'projects/a' }] }
  const deletes = [{ path: 'projects/A/b', why: 'gone', isObstacle: true }]
  const inFolder = planFor(undefined, { ...old, observed: seen, aliases: folder })
  t.strictSame([inFolder.puts, inFolder.deletes, inFolder.respelled], [[put('absent', 'projects/a')], deletes, ['projects/A']])
  const file = planFor(undefined, { ...old, observed: seen, aliases: { ...folder, folders: [] } })
  t.strictSame([file.puts, file.deletes, file.respelled], [[put('file')], deletes, []])
})

void t.test('new paths that cannot coexist are problems, and so are refusals', async (t) => {
  const problem = (message: string) => [{ reason: 'MappingConflict', message }]
  const both = (...paths: string[]) => new Map(paths.map((one) => [one, desired(one)]))
  const text = '"projects/b" and "projects/B" differ in case only; rename one, because the gateway and some volumes treat them as one'
  t.strictSame(planOf({ puts: both('projects/B', 'projects/b') }).problems, problem(text))
  const ours = new Map([['projects/B', owned('1')]])
  t.strictSame(planOf({ puts: both('projects/b'), owned: ours }).problems, problem(text), 'with an owned file')
  const going = { removed: new Map([['projects/B', 'Owned' as const]]) }
  t.strictSame(planOf({ puts: both('projects/b'), owned: ours, ...going }).problems, [], 'with an owned file that goes')
  const existing = new Map([...ours, ['projects/b', owned('1')]])
  t.strictSame(planOf({ puts: both('projects/b'), owned: existing }).problems, [], 'both are there already')
  t.strictSame(
    planFor(undefined, { withheld: new Set([path]) }).problems.map(({ reason }) => reason),
    ['LocalChanges'],
  )
})

void t.test('a plan is empty if it changes not even the records', async (t) => {
  t.equal(isEmptyPlan(nothing), true)
  const file = desired(path)
  for (const part of [
    { puts: [put('absent')] },
    { adopts: [{ ...file, stat }] },
    { deletes: [{ path, why: 'gone' as const, isObstacle: false }] },
    { released: [path] },
  ])
    t.equal(isEmptyPlan({ ...nothing, ...part }), false, Object.keys(part).join(''))
})
