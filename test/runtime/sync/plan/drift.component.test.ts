/**
 * Tests what counts as a local change, the cost of drift detection, and which files a changed variable affects.
 */
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { type CycleResult, type EngineMemory, runCycle, type SyncTarget } from '../../../../runtime/sync/cycle.ts'
import { differsInModificationOnly } from '../../../../runtime/sync/plan/drift.ts'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const signal = AbortSignal.timeout(60_000)

function setUp(t: Pick<Test, 'teardown'>) {
  const dataDir = temporaryFolder(t, 'drift')
  const source = memorySource()
  const asked: string[] = []
  const counting: typeof source = {
    ...source,
    async *changes(request, own) {
      asked.push(`changes ${request.from === null ? 'everything' : 'difference'}`)
      yield* source.changes(request, own)
    },
    async blobs(request, sink, own) {
      asked.push(`blobs ${new Set(request.ids).size}`)
      await source.blobs(request, sink, own)
    },
  }
  const memory: EngineMemory = { manifest: undefined }
  const sync = async (tree: Tree, profile: ResolvedProfile, more: Partial<SyncTarget> = {}): Promise<CycleResult> => {
    asked.length = 0
    const deps = { source: counting, gateway: undefined, clock: systemClock, log: silentLog, memory }
    return await runCycle(deps, desiredOf(dataDir, source.commit(tree), profile, more), signal)
  }
  const at = (file: string): string => path.join(dataDir, file)
  return { dataDir, sync, asked, at, memory }
}

const resource = (attributes: object, more: object = {}): string =>
  JSON.stringify(
    { scope: 'A', version: 1, restricted: false, overridable: true, files: ['config.json'], attributes, ...more },
    undefined,
    2,
  )
const committed = resource({
  lastModification: { actor: 'git', timestamp: '2026-01-01T00:00:00Z' },
  lastModificationSignature: 'aa',
  enabled: true,
})
const saved = { lastModification: { actor: 'gateway', timestamp: '2026-02-02T00:00:00Z' }, lastModificationSignature: 'bb' }
const config = profileOf([{ source: 'config', destination: 'config' }])
const folder = 'config/resources/core/ignition/schedule/a'
const tree: Tree = {
  [`${folder}/resource.json`]: committed,
  [`${folder}/config.json`]: '{"a":1}',
  [`${folder}/unary-resource.json`]: committed,
}

void t.test('a resource saved by the gateway without a change is not drift, a changed one is', async (t) => {
  const rows: [string, string, string, number][] = [
    ['who and when', 'resource.json', resource({ ...saved, enabled: true }), 0],
    ['the same in a unary manifest', 'unary-resource.json', resource({ ...saved, enabled: true }), 0],
    ['another order and form', 'resource.json', JSON.stringify(JSON.parse(resource({ enabled: true, ...saved }))), 0],
    ['without any modification', 'resource.json', resource({ enabled: true }), 0],
    ['another attribute', 'resource.json', resource({ ...saved, enabled: false }), 1],
    ['another top-level key', 'resource.json', resource({ ...saved, enabled: true }, { lastModification: {} }), 1],
    ['another list of files', 'resource.json', resource({ ...saved, enabled: true }, { files: [] }), 1],
    ['no JSON', 'resource.json', 'x', 1],
    ['another file', 'config.json', '{"a":1 }', 1],
  ]
  for (const [name, file, content, count] of rows) {
    const { sync, at, memory } = setUp(t)
    await sync(tree, config)
    writeFileSync(at(`${folder}/${file}`), content)
    matchObject(t, await sync(tree, config), { phase: count === 0 ? 'Synced' : 'Drifted', drift: { count } }, name)
    memory.manifest = undefined
    matchObject(t, await sync(tree, config), { drift: { count } }, `${name}, remembered`)
    const restored = await sync(tree, { ...config, drift: 'Restore' })
    t.equal(restored.phase, 'Synced')
    t.equal(
      readFileSync(at(`${folder}/${file}`), 'utf8'),
      count === 0 ? content : (tree[`${folder}/${file}`] ?? ''),
      'and only drift is put right',
    )
  }
})

void t.test('the comparison of manifests ignores only the modification, and is symmetric', async () => {
  const attributes = fc.dictionary(fc.string(), fc.jsonValue())
  const manifest = fc.record({ attributes, files: fc.array(fc.string()), description: fc.jsonValue() })
  const stamp = fc.record({ lastModification: fc.jsonValue(), lastModificationSignature: fc.string() }, { requiredKeys: [] })
  fc.assert(
    fc.property(manifest, stamp, fc.string(), (value, other, key) => {
      const one = JSON.stringify(value)
      const stamped = JSON.stringify({ ...value, attributes: { ...value.attributes, ...other } }, undefined, 1)
      const changed = JSON.stringify({ ...value, attributes: { ...value.attributes, [`x${key}`]: 'changed beyond doubt' } })
      return differsInModificationOnly(one, stamped) && differsInModificationOnly(stamped, one) && !differsInModificationOnly(one, changed)
    }),
  )
})

void t.test('a modification field elsewhere is content', async (t) => {
  const nested = (value: string): string =>
    JSON.stringify({ attributes: { config: { lastModification: value } }, x: { attributes: { lastModification: value } } })
  t.notOk(differsInModificationOnly(nested('1'), nested('2')))
  t.notOk(differsInModificationOnly('{"x":{"attributes":{"lastModification":1}}}', '{"x":{"attributes":{"lastModification":2}}}'))
})

void t.test('drift detection sends no requests and reads only files with changed metadata, once', async (t) => {
  const { sync, asked, at } = setUp(t)
  const files: Tree = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`config/f${index}`, `${index}`]))
  await sync(files, config)
  matchObject(t, await sync(files, config), { phase: 'Synced', drift: { count: 0 } })
  t.strictSame(asked, [])
  // Touched but not changed: the content is read, found equal, and the new time is recorded.
  utimesSync(at('config/f1'), 1, 1)
  matchObject(t, await sync(files, config), { phase: 'Synced', drift: { count: 0 } })
  t.strictSame(asked, [])
  writeFileSync(at('config/f2'), 'local')
  matchObject(t, await sync(files, config), { phase: 'Drifted', drift: { count: 1, paths: ['config/f2'] } })
  matchObject(t, await sync(files, { ...config, drift: 'Restore' }), { phase: 'Synced', files: { changed: 1 } })
  t.strictSame(asked, ['blobs 1'], 'a repair fetches what it repairs')
})

void t.test('a changed variable renders only the files that use it', async (t) => {
  const { sync, asked, at } = setUp(t)
  const templates: Tree = {
    'config/host': '{{ vars.host }}',
    'config/both': '{{ vars.host }}:{{ vars.port }}',
    'config/port.json': '{"port":1,"other":{"port":2}}',
    'config/none': 'nothing to render',
    'config/label': '{{ pod.labels.site }}',
    'config/all': '{% for v in vars %}{{ v[0] }}={{ v[1] }};{% endfor %}',
    'config/commit': '{{ commit }}',
  }
  const withVars = (vars: Record<string, string>): ResolvedProfile =>
    profileOf(
      [{ source: 'config', destination: 'config', template: true, patches: [{ file: '*.json', set: { '$..port': '{{ vars.port }}' } }] }],
      { vars },
    )
  const facts = { ...desiredOf('/', memorySource().commit({}), config).facts, podLabels: { site: 'north' } }
  await sync(templates, withVars({ host: 'a', port: '1' }), { facts })
  const inodes = (): Map<string, number> => new Map(Object.keys(templates).map((file) => [file, statSync(at(file)).ino]))
  const touchedBy = async (profile: ResolvedProfile, more: Partial<SyncTarget> = {}): Promise<string[]> => {
    const before = inodes()
    const result = await sync(templates, profile, { facts, ...more })
    t.equal(result.phase, 'Synced', result.message ?? '')
    return [...inodes()].filter(([file, ino]) => before.get(file) !== ino).map(([file]) => file.slice('config/'.length))
  }
  t.strictSame(await touchedBy(withVars({ host: 'b', port: '1' })), ['host', 'both', 'all'])
  t.strictSame(asked, ['blobs 3'], 'no listing, and the contents of those files alone')
  t.strictSame(await touchedBy(withVars({ host: 'b', port: '2' })), ['both', 'port.json', 'all'])
  t.equal(readFileSync(at('config/port.json'), 'utf8'), '{"port":2,"other":{"port":2}}')
  t.strictSame(await touchedBy(withVars({ host: 'b', port: '2', unused: 'x' })), ['all'])
  t.strictSame(
    await touchedBy(withVars({ host: 'b', port: '2', unused: 'x' }), { facts: { ...facts, podLabels: { site: 'south', more: 'x' } } }),
    ['label'],
  )
  const other = { ...templates, 'config/new': 'n' }
  const before = inodes()
  t.equal(
    (await sync(other, withVars({ host: 'b', port: '2', unused: 'x' }), { facts: { ...facts, podLabels: { site: 'south', more: 'x' } } }))
      .phase,
    'Synced',
  )
  t.strictSame(
    [...inodes()].filter(([file, ino]) => before.get(file) !== ino).map(([file]) => file),
    ['config/commit'],
    'another commit renders what names it',
  )
})

void t.test('a file too large for a template is refused with both sizes, and so is binary content', async (t) => {
  const profile = profileOf([{ source: 'config', destination: 'config', template: true }])
  for (const [content, message] of [
    ['x'.repeat(8 * 1024 * 1024 + 1), /"config\/f" is 8388609 bytes; .* at most 8388608/],
    ['a\0b', /"config\/f" is not text in UTF-8/],
  ] as const) {
    const { sync } = setUp(t)
    const result = await sync({ 'config/f': content }, profile)
    matchObject(t, result, { phase: 'Blocked', reason: 'TemplateFailed' })
    containsText(t, result.message, message)
    t.equal((await sync({ 'config/f': content }, config)).phase, 'Synced', 'as it is, it is delivered')
  }
})
