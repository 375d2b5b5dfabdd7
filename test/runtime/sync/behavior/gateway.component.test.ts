/**
 * Tests the requests to a gateway around an apply, with the gateway simulator over HTTP.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { type Clock, systemClock } from '../../../../runtime/platform/clock.ts'
import type { Gateway, GatewayStatus } from '../../../../runtime/gateway/gateway.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import { engineFolder } from '../../../../runtime/api/names.ts'
import { matchObject } from '../../../support/assertions.ts'
import { profileOf, type Tree } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { base, both, gatewayToSync, project } from '../../../support/gateway-to-sync.ts'

void t.test('the changed parts are locked before the first rename and scanned after the last', async (t) => {
  const { sync, posts, simulator } = await gatewayToSync(t)
  const before: string[] = []
  const boundary = (name: string): void => {
    if (name === 'journal') before.push(...posts())
    if (name === 'run removed') t.strictSame(simulator.requests, [], 'nothing is asked between the renames')
  }
  const withBoundary = { deps: { boundary } }
  t.equal((await sync(base, both, withBoundary)).phase, 'Synced')
  t.strictSame(before.splice(0), ['scan-lock/projects 200', 'scan-lock/config 200'])
  t.strictSame(posts(), ['scan/projects 200', 'scan/config 200'])
  const result = await sync({ ...base, 'config/a': '2' }, both, withBoundary)
  t.strictSame(before.splice(0), ['scan-lock/config 200'])
  t.strictSame(posts(), ['scan/config 200'])
  t.ok(result.scan?.config?.finishedAt !== undefined)
  t.equal((await sync({ ...base, 'config/a': '2' })).phase, 'Synced')
  t.strictSame(posts(), [], 'nothing changed, so nothing is asked')
  t.strictSame(simulator.reading().projects, ['line'])
})

void t.test('a sync of an older gateway without a lock route proceeds without a lock', async (t) => {
  const { sync, posts } = await gatewayToSync(t, { lockRoute: false })
  t.equal((await sync(base)).phase, 'Synced')
  t.strictSame(posts(), ['scan-lock/projects 404', 'scan/projects 200', 'scan/config 200'])
})

void t.test('a failed apply releases the lock with a scan, so that the next attempt is not refused', async (t) => {
  const { sync, posts, simulator, read, dataDir } = await gatewayToSync(t)
  await sync(base)
  posts()
  const full = (name: string): void => {
    if (name === 'put config/a') throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  }
  const next = { ...base, 'config/a': '2' }
  matchObject(t, await sync(next, both, { deps: { boundary: full } }), { phase: 'Failed', reason: 'DiskFull' })
  t.strictSame(posts(), ['scan-lock/config 200', 'scan/config 200'])
  t.equal(read('config/a'), '1')
  t.equal((await sync(next)).phase, 'Synced')
  t.strictSame(posts(), ['scan-lock/config 200', 'scan/config 200'])
  // If the old commit cannot be restored either, the gateway is not asked to scan.
  const [place, elsewhere] = [path.join(dataDir, 'config/a'), path.join(temporaryFolder(t, 'elsewhere'), 'a')]
  let stage = ''
  const stuck = (name: string): void => {
    if (name !== 'put config/a') return
    const run = readdirSync(path.join(dataDir, engineFolder)).find((each) => each.startsWith('run-'))
    stage = path.join(dataDir, engineFolder, run ?? '', 's0')
    renameSync(place, elsewhere)
    for (const obstacle of [stage, place]) mkdirSync(obstacle)
    throw new Fault('DiskFull', 'no space')
  }
  matchObject(t, await sync(base, both, { deps: { boundary: stuck } }), {
    phase: 'Failed',
    message: /the folder contains files of two commits until the next attempt$/,
  })
  t.strictSame(posts(), ['scan-lock/config 200'])
  for (const obstacle of [stage, place]) rmdirSync(obstacle)
  renameSync(elsewhere, place)
  simulator.failNext({ path: '/data/api/v1/scan-lock/config', status: 204, times: 1 })
  simulator.setDesigners([{ user: 'ann', project: '' }])
  const ended = await sync(base, { ...both, designerSessionPolicy: 'Wait' })
  t.equal(ended.phase, 'Synced', 'the next cycle ends what was left, whoever has a Designer open')
  t.equal(read('config/a'), '1')
})

void t.test('a failed scan is retried alone, and the report separates files from gateway state', async (t) => {
  const { sync, posts, simulator, asked, memory } = await gatewayToSync(t)
  simulator.failNext({ path: '/data/api/v1/scan/config', status: 500, times: 1 })
  const failed = await sync(base)
  matchObject(t, failed, { phase: 'Failed', reason: 'GatewayNotReady', files: { added: 2 } })
  t.match(failed.commit, /^[0-9a-f]{40}$/, 'the files are in place')
  posts()
  asked.length = 0
  for (const fresh of [false, true]) {
    simulator.failNext({ path: '/data/api/v1/scan/projects', status: 500, times: fresh ? 0 : 1 })
    // The retry must also survive a restart of the process.
    memory.manifest = undefined
    const result = await sync(base)
    t.equal(result.phase, fresh ? 'Synced' : 'Failed', result.message ?? '')
    t.strictSame(result.files, { added: 0, changed: 0, removed: 0, unchanged: 2, bytes: 0 })
    t.strictSame(asked, [], 'no content is fetched again')
    t.notMatch(posts().join(), /scan-lock/)
  }
  await sync(base)
  t.strictSame(posts(), [], 'what was read is not read again')
})

void t.test('the problems reported after a scan stay in the report until the next scan', async (t) => {
  const { sync, simulator, memory } = await gatewayToSync(t)
  simulator.setProblems(['module "x" is faulted', 'second'])
  t.strictSame((await sync(base)).scan?.problems, ['module "x" is faulted', 'second'])
  t.strictSame((await sync(base)).scan?.problems, ['module "x" is faulted', 'second'], 'also after a cycle without a scan')
  memory.manifest = undefined
  t.strictSame((await sync(base)).scan?.problems, ['module "x" is faulted', 'second'], 'also after a restart')
  simulator.setProblems([])
  t.equal((await sync({ ...base, 'config/a': '2' })).scan?.problems, undefined)
})

void t.test('new problems since a commit are distinguished from earlier ones', async (t) => {
  const { sync, simulator, memory } = await gatewayToSync(t)
  await sync(base)
  simulator.setProblems(['connection "db" is faulted since 10 s'])
  const second = { ...base, 'config/a': '2' }
  matchObject(t, await sync(second), { phase: 'Synced', health: { since: /^\d{4}-\d\d-\d\dT/, newProblems: undefined } })
  simulator.setProblems(['connection "db" is faulted since 25 s'])
  t.notOk((await sync(second)).health?.newProblems, 'a number that changes is no new problem')
  simulator.setProblems(['connection "db" is faulted since 30 s', 'module "x" is faulted'])
  t.strictSame((await sync(second)).health?.newProblems, ['module "x" is faulted'], 'it is looked at again without a scan')
  memory.manifest = undefined
  t.strictSame((await sync(second)).health?.newProblems, ['module "x" is faulted'], 'also after a restart')
  const third = { ...base, 'config/a': '3' }
  t.notOk((await sync(third)).health?.newProblems, 'the next commit has nothing to do with it')
  const broken = { ...third, 'projects/line/project.json': '{' }
  t.strictSame((await sync(broken)).health?.newProblems, ['Project line cannot be read'])
  t.notOk((await sync(third)).health?.newProblems, 'and neither has the way back')
  simulator.failNext({ path: '/data/api/v1/overview/problems', status: 403, times: 2 })
  matchObject(
    t,
    await sync(broken),
    { phase: 'Synced', health: { newProblems: undefined } },
    'a key that may not read them keeps nothing back',
  )
})

void t.test('problems of a stopped commit are not the baseline of the next one', async (t) => {
  const { sync } = await gatewayToSync(t)
  const first = await sync(base)
  const rolledOutBefore = first.commit
  const broken = { ...base, 'projects/line/project.json': '{' }
  const harmed = await sync(broken, both, { desired: { rolledOutBefore } })
  t.strictSame(harmed.health?.newProblems, ['Project line cannot be read'])
  const onTop = { ...broken, 'config/a': '2' }
  t.strictSame((await sync(onTop, both, { desired: { rolledOutBefore } })).health?.newProblems, ['Project line cannot be read'])
  const elsewhere = { ...onTop, 'other/a': '1' }
  t.strictSame((await sync(elsewhere, both, { desired: { rolledOutBefore } })).health?.newProblems, ['Project line cannot be read'])
  t.notOk((await sync({ ...elsewhere, 'projects/line/project.json': project }, both, { desired: { rolledOutBefore } })).health?.newProblems)
  const accepted = await sync(broken, both, { desired: { rolledOutBefore } })
  t.strictSame(accepted.health?.newProblems, ['Project line cannot be read'])
  const after = await sync({ ...broken, 'config/a': '3' }, both, { desired: { rolledOutBefore: accepted.commit } })
  t.notOk(after.health?.newProblems, 'unless every gateway took it all the same')
})

void t.test('a completed scan counts even if the problems cannot be read', async (t) => {
  const { sync, simulator, gateway } = await gatewayToSync(t)
  simulator.failNext({ path: '/data/api/v1/modules/quarantined', status: 500, times: 2 })
  matchObject(t, await sync(base), { phase: 'Synced', scan: { problems: undefined } })
  const mute: Gateway = {
    ...gateway,
    problems: async () => {
      throw new Error('connection reset')
    },
  }
  matchObject(t, await sync({ ...base, 'config/a': '2' }, both, { deps: { gateway: mute } }), { phase: 'Synced' })
})

void t.test('contents are fetched while the problems are read, and nothing is applied before', async (t) => {
  const { sync, gateway, asked, read } = await gatewayToSync(t)
  await sync(base)
  asked.length = 0
  const second = { ...base, 'config/a': '2' }
  const slow: Gateway = {
    ...gateway,
    problems: async () => {
      while (asked.length === 0) await new Promise(setImmediate)
      t.equal(read('config/a'), '1')
      return ['connection "db" is faulted']
    },
  }
  matchObject(t, await sync(second, both, { deps: { gateway: slow } }), { phase: 'Synced' })
  t.equal(read('config/a'), '2')
})

void t.test('a hanging problems request ends with its sync and leaves nothing staged', async (t) => {
  const { sync, gateway, source, asked, dataDir, read } = await gatewayToSync(t)
  await sync(base)
  let left = 0
  const hanging: Gateway = {
    ...gateway,
    problems: async (within) =>
      await new Promise((_resolve, reject) => {
        within.addEventListener('abort', () => reject(new Error(`left ${(left += 1)}`)), { once: true })
      }),
  }
  const lost = async (): Promise<void> => Promise.reject(new Fault('DeliveryFailed', 'the response ended early'))
  const second = { ...base, 'config/a': '2' }
  const failed = await sync(second, both, { deps: { gateway: hanging, source: { ...source, blobs: lost } } })
  matchObject(t, failed, { phase: 'Failed', reason: 'DeliveryFailed' })
  t.equal(left, 1, 'a sync that cannot stage waits for nobody')
  asked.length = 0
  const halt = new AbortController()
  const halted = sync(second, both, { deps: { gateway: hanging }, desired: { halt: halt.signal } })
  while (!readdirSync(path.join(dataDir, '.cluster-sync')).some((name) => name.startsWith('run-'))) await new Promise(setImmediate)
  halt.abort(new Error('paused'))
  matchObject(t, await halted, { phase: 'Paused' })
  t.equal(left, 2)
  t.strictSame(
    readdirSync(path.join(dataDir, '.cluster-sync')).filter((name) => name.startsWith('run-')),
    [],
  )
  t.equal(read('config/a'), '1')
})

void t.test('changing numbers in a problem do not rewrite the state each time', async (t) => {
  const { sync, simulator, dataDir } = await gatewayToSync(t)
  await sync(base)
  const second = { ...base, 'config/a': '2' }
  await sync(second)
  simulator.setProblems(['connection "db" is faulted since 10 s'])
  t.strictSame((await sync(second)).health?.newProblems, ['connection "db" is faulted since 10 s'])
  const record = (): string => readFileSync(path.join(dataDir, '.cluster-sync/manifest'), 'utf8')
  const before = record()
  simulator.setProblems(['connection "db" is faulted since 40 s'])
  t.strictSame((await sync(second)).health?.newProblems, ['connection "db" is faulted since 10 s'])
  t.equal(record(), before)
})

void t.test('a gateway that stops running after a scan is not synced', async (t) => {
  const { sync, gateway } = await gatewayToSync(t)
  let status: GatewayStatus = 'running'
  const dying: Gateway = {
    ...gateway,
    status: async () => status,
    scan: async (kinds, within) => {
      const scanned = await gateway.scan(kinds, within)
      status = 'faulted'
      return scanned
    },
  }
  matchObject(t, await sync(base, both, { deps: { gateway: dying } }), { phase: 'Pending', reason: 'GatewayNotReady', message: /faulted/ })
  matchObject(t, await sync(base), { phase: 'Synced' }, 'and reads them again when it runs')
})

void t.test('a gateway in commissioning gets its files, is not ready, and is synced again afterwards', async (t) => {
  const { sync, posts, simulator, read, write } = await gatewayToSync(t, { commissioning: true })
  const security = 'config/resources/dev/ignition/security-properties'
  const collections = { root: 'config/resources', mode: 'dev' } as ResolvedProfile['collections']
  const profile = profileOf([], { collections })
  const manifest = (title: string, parent: string) => JSON.stringify({ title, enabled: true, inheritable: true, parent, description: '' })
  const tree: Tree = {
    'config/resources/core/config-mode.json': manifest('Core', 'external'),
    'config/resources/dev/config-mode.json': manifest('Dev', 'core'),
    [`${security}/config.json`]: '{"ours":true}',
  }
  matchObject(t, await sync(tree, profile), { phase: 'Pending', reason: 'GatewayNotReady', files: { added: 3 } })
  t.strictSame(posts(), [], 'neither locked nor scanned')
  // The gateway rewrites this file on its first boot.
  write(`${security}/config.json`, '{"ours":false}')
  matchObject(t, await sync(tree, profile), { phase: 'Pending' })
  simulator.finishCommissioning()
  matchObject(t, await sync(tree, profile), { phase: 'Synced', files: { changed: 1 } })
  t.equal(read(`${security}/config.json`), '{"ours":true}')
  t.strictSame(posts(), ['scan-lock/config 200', 'scan/projects 200', 'scan/config 200'], 'all is read again, not only what was put right')
  write(`${security}/config.json`, '{"ours":false}')
  matchObject(t, await sync(tree, profile), { phase: 'Synced', drift: { count: 0 } }, 'a first-boot rewrite is no drift')
})

void t.test('the API key is read at each use', async (t) => {
  const { sync, simulator, keyFile } = await gatewayToSync(t)
  t.equal((await sync(base)).phase, 'Synced')
  simulator.setApiKey('gw:rotated')
  const refused = await sync({ ...base, 'config/a': '2' })
  matchObject(t, refused, { phase: 'Failed', reason: 'GatewayUnauthorized' })
  t.notMatch(JSON.stringify(refused), /hush|rotated/)
  writeFileSync(keyFile, 'gw:rotated\n')
  t.equal((await sync({ ...base, 'config/a': '2' })).phase, 'Synced', 'without a new process')
})

void t.test('no files are deleted from a starting gateway unless it does not come up', async (t) => {
  const { sync, read, memory } = await gatewayToSync(t)
  t.equal((await sync({ ...base, 'config/gone': '1' })).phase, 'Synced')
  let nowMs = 0
  let status: GatewayStatus = 'starting'
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs }
  const gateway: Gateway = {
    status: async () => status,
    info: async () => ({ name: '', version: '', deploymentMode: '', redundancyRole: '' }),
    designers: async () => [],
    lock: async () => 'held',
    problems: async () => [],
    statusOf: async () => 200,
    scan: async () => ({ problems: [] }),
  }
  const deps = { gateway, clock }
  matchObject(t, await sync(base, both, { deps }), { phase: 'Pending', reason: 'GatewayNotReady' })
  t.equal(read('config/gone'), '1')
  matchObject(
    t,
    await sync({ ...base, 'config/gone': '2' }, both, { deps }),
    { phase: 'Pending', files: { changed: 1 } },
    'a change is no loss',
  )
  status = 'faulted'
  matchObject(t, await sync(base, both, { deps }), { files: { removed: 1 } }, 'a gateway that faulted needs the commit')
  await sync({ ...base, 'config/gone': '3' }, both, { deps })
  status = 'starting'
  matchObject(t, await sync(base, both, { deps }), { phase: 'Pending', reason: 'GatewayNotReady' })
  nowMs = 299_000
  t.equal((await sync(base, both, { deps })).files, undefined)
  nowMs = 301_000
  matchObject(t, await sync(base, both, { deps }), { files: { removed: 1 } }, 'after five minutes')
  t.equal(memory.startingSinceMs, 0)
})
