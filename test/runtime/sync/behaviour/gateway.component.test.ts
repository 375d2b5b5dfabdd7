/**
 * The conversation with a gateway around a publish, against the simulator over HTTP.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { type Clock, systemClock } from '../../../../runtime/clock.ts'
import type { Gateway, GatewayStatus } from '../../../../runtime/gateway/gateway.ts'
import { Fault } from '../../../../runtime/fault.ts'
import type { ResolvedProfile } from '../../../../runtime/gatewaysync/decide/profile.ts'
import { profileOf, type Tree } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { base, both, gatewayToSync, project } from '../../../support/gateway-to-sync.ts'

void t.test('the lock of what changes is held before the first rename, and the scan of just that follows the last', async (t) => {
  const { sync, posts, simulator } = await gatewayToSync(t)
  const before: string[] = []
  const boundary = (name: string): void => {
    if (name === 'journal') before.push(...posts())
    if (name === 'run removed') t.same(simulator.requests, [], 'nothing is asked between the renames')
  }
  const withBoundary = { deps: { boundary } }
  t.equal((await sync(base, both, withBoundary)).phase, 'Synced')
  t.same(before.splice(0), ['scan-lock/projects 200', 'scan-lock/config 200'])
  t.same(posts(), ['scan/projects 200', 'scan/config 200'])
  const result = await sync({ ...base, 'config/a': '2' }, both, withBoundary)
  t.same(before.splice(0), ['scan-lock/config 200'])
  t.same(posts(), ['scan/config 200'])
  t.ok(result.scan?.config?.finishedAt !== undefined)
  t.equal((await sync({ ...base, 'config/a': '2' })).phase, 'Synced')
  t.same(posts(), [], 'nothing changed, so nothing is asked')
  t.same(simulator.reading().projects, ['line'])
})

void t.test('an older gateway has no lock, and a sync goes on without it', async (t) => {
  const { sync, posts } = await gatewayToSync(t, { lockRoute: false })
  t.equal((await sync(base)).phase, 'Synced')
  t.same(posts(), ['scan-lock/projects 404', 'scan/projects 200', 'scan/config 200'])
})

void t.test('a publish that fails gives the lock back, so that the next try is not refused', async (t) => {
  const { sync, posts, simulator, read, dataDir } = await gatewayToSync(t)
  await sync(base)
  posts()
  const full = (name: string): void => {
    if (name === 'put config/a') throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  }
  const next = { ...base, 'config/a': '2' }
  t.match(await sync(next, both, { deps: { boundary: full } }), { phase: 'Failed', reason: 'DiskFull' })
  t.same(posts(), ['scan-lock/config 200', 'scan/config 200'])
  t.equal(read('config/a'), '1')
  t.equal((await sync(next)).phase, 'Synced')
  t.same(posts(), ['scan-lock/config 200', 'scan/config 200'])
  // Where the old commit could not be put back either, no gateway is asked to read what is there.
  const other = temporaryFolder(t, 'obstacle')
  const stuck = (name: string): void => {
    if (name !== 'put config/a') return
    renameSync(path.join(dataDir, 'config'), path.join(other, 'config'))
    writeFileSync(path.join(dataDir, 'config'), 'in the way')
    throw Object.assign(new Error('no space'), { code: 'ENOSPC' })
  }
  t.match(await sync(base, both, { deps: { boundary: stuck } }), { phase: 'Failed', message: /holds a mixture/ })
  t.same(posts(), ['scan-lock/config 200'])
  rmSync(path.join(dataDir, 'config'))
  renameSync(path.join(other, 'config'), path.join(dataDir, 'config'))
  simulator.failNext({ path: '/data/api/v1/scan-lock/config', status: 204, times: 1 })
  simulator.setDesigners([{ user: 'ann', project: '' }])
  const ended = await sync(base, { ...both, designerSessionPolicy: 'wait' })
  t.equal(ended.phase, 'Synced', 'the next cycle ends what was left, whoever has a Designer open')
  t.equal(read('config/a'), '1')
})

void t.test('a scan that failed is retried alone, and the report says that files and gateway are two facts', async (t) => {
  const { sync, posts, simulator, asked, memory } = await gatewayToSync(t)
  simulator.failNext({ path: '/data/api/v1/scan/config', status: 500, times: 1 })
  const failed = await sync(base)
  t.match(failed, { phase: 'Failed', reason: 'GatewayNotReady', files: { added: 2 } })
  t.match(failed.commit, /^[0-9a-f]{40}$/, 'the files are in place')
  posts()
  asked.length = 0
  for (const fresh of [false, true]) {
    simulator.failNext({ path: '/data/api/v1/scan/projects', status: 500, times: fresh ? 0 : 1 })
    // The retry must outlive the process too.
    memory.manifest = undefined
    const result = await sync(base)
    t.equal(result.phase, fresh ? 'Synced' : 'Failed', result.message ?? '')
    t.same(result.files, { added: 0, changed: 0, removed: 0, unchanged: 2, bytes: 0 })
    t.same(asked, [], 'no content is fetched again')
    t.notMatch(posts().join(), /scan-lock/)
  }
  await sync(base)
  t.same(posts(), [], 'what was read is not read again')
})

void t.test('what the gateway complains of after a scan stands in the report until the next scan', async (t) => {
  const { sync, simulator, memory } = await gatewayToSync(t)
  simulator.setProblems(['module "x" is faulted', 'second'])
  t.same((await sync(base)).scan?.problems, ['module "x" is faulted', 'second'])
  t.same((await sync(base)).scan?.problems, ['module "x" is faulted', 'second'], 'also after a cycle without a scan')
  memory.manifest = undefined
  t.same((await sync(base)).scan?.problems, ['module "x" is faulted', 'second'], 'also after a restart')
  simulator.setProblems([])
  t.equal((await sync({ ...base, 'config/a': '2' })).scan?.problems, undefined)
})

void t.test('what a gateway complains of since a commit is told apart from what it did before', async (t) => {
  const { sync, simulator, memory } = await gatewayToSync(t)
  await sync(base)
  simulator.setProblems(['connection "db" is faulted since 10 s'])
  const second = { ...base, 'config/a': '2' }
  t.match(await sync(second), { phase: 'Synced', health: { since: String, newProblems: undefined } })
  simulator.setProblems(['connection "db" is faulted since 25 s'])
  t.notOk((await sync(second)).health?.newProblems, 'a number that changes is no new problem')
  simulator.setProblems(['connection "db" is faulted since 30 s', 'module "x" is faulted'])
  t.same((await sync(second)).health?.newProblems, ['module "x" is faulted'], 'it is looked at again without a scan')
  memory.manifest = undefined
  t.same((await sync(second)).health?.newProblems, ['module "x" is faulted'], 'also after a restart')
  const third = { ...base, 'config/a': '3' }
  t.notOk((await sync(third)).health?.newProblems, 'the next commit has nothing to do with it')
  const broken = { ...third, 'projects/line/project.json': '{' }
  t.same((await sync(broken)).health?.newProblems, ['Project line cannot be read'])
  t.notOk((await sync(third)).health?.newProblems, 'and neither has the way back')
  simulator.failNext({ path: '/data/api/v1/overview/problems', status: 403, times: 2 })
  t.match(await sync(broken), { phase: 'Synced', health: { newProblems: undefined } }, 'a key that may not read them keeps nothing back')
})

void t.test('what a commit broke that was stopped is no measure for the next one', async (t) => {
  const { sync } = await gatewayToSync(t)
  const first = await sync(base)
  const rolledOutBefore = first.commit
  const broken = { ...base, 'projects/line/project.json': '{' }
  const harmed = await sync(broken, both, { wanted: { rolledOutBefore } })
  t.same(harmed.health?.newProblems, ['Project line cannot be read'])
  const onTop = { ...broken, 'config/a': '2' }
  t.same((await sync(onTop, both, { wanted: { rolledOutBefore } })).health?.newProblems, ['Project line cannot be read'])
  const elsewhere = { ...onTop, 'other/a': '1' }
  t.same((await sync(elsewhere, both, { wanted: { rolledOutBefore } })).health?.newProblems, ['Project line cannot be read'])
  t.notOk((await sync({ ...elsewhere, 'projects/line/project.json': project }, both, { wanted: { rolledOutBefore } })).health?.newProblems)
  const accepted = await sync(broken, both, { wanted: { rolledOutBefore } })
  t.same(accepted.health?.newProblems, ['Project line cannot be read'])
  const after = await sync({ ...broken, 'config/a': '3' }, both, { wanted: { rolledOutBefore: accepted.commit } })
  t.notOk(after.health?.newProblems, 'unless every gateway took it all the same')
})

void t.test('a scan that ended has ended, whatever the gateway says of its problems', async (t) => {
  const { sync, simulator, gateway } = await gatewayToSync(t)
  simulator.failNext({ path: '/data/api/v1/modules/quarantined', status: 500, times: 2 })
  t.match(await sync(base), { phase: 'Synced', scan: { problems: undefined } })
  const mute: Gateway = {
    ...gateway,
    problems: async () => {
      throw new Error('connection reset')
    },
  }
  t.match(await sync({ ...base, 'config/a': '2' }, both, { deps: { gateway: mute } }), { phase: 'Synced' })
})

void t.test('contents are fetched while the gateway says what it complains of, and nothing is published before it has', async (t) => {
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
  t.match(await sync(second, both, { deps: { gateway: slow } }), { phase: 'Synced' })
  t.equal(read('config/a'), '2')
})

void t.test('a question that hangs ends with its sync, and leaves nothing that was staged', async (t) => {
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
  const lost = async (): Promise<void> => Promise.reject(new Fault('DeliveryFailed', 'the answer ended early'))
  const second = { ...base, 'config/a': '2' }
  const failed = await sync(second, both, { deps: { gateway: hanging, source: { ...source, blobs: lost } } })
  t.match(failed, { phase: 'Failed', reason: 'DeliveryFailed' })
  t.equal(left, 1, 'a sync that cannot stage waits for nobody')
  asked.length = 0
  const halt = new AbortController()
  const halted = sync(second, both, { deps: { gateway: hanging }, wanted: { halt: halt.signal } })
  while (!readdirSync(path.join(dataDir, '.cluster-sync')).some((name) => name.startsWith('run-'))) await new Promise(setImmediate)
  halt.abort(new Error('paused'))
  t.match(await halted, { phase: 'Paused' })
  t.equal(left, 2)
  t.same(
    readdirSync(path.join(dataDir, '.cluster-sync')).filter((name) => name.startsWith('run-')),
    [],
  )
  t.equal(read('config/a'), '1')
})

void t.test('numbers that change in what a gateway complains of are not written down each time', async (t) => {
  const { sync, simulator, dataDir } = await gatewayToSync(t)
  await sync(base)
  const second = { ...base, 'config/a': '2' }
  await sync(second)
  simulator.setProblems(['connection "db" is faulted since 10 s'])
  t.same((await sync(second)).health?.newProblems, ['connection "db" is faulted since 10 s'])
  const record = (): string => readFileSync(path.join(dataDir, '.cluster-sync/manifest'), 'utf8')
  const before = record()
  simulator.setProblems(['connection "db" is faulted since 40 s'])
  t.same((await sync(second)).health?.newProblems, ['connection "db" is faulted since 10 s'])
  t.equal(record(), before)
})

void t.test('a gateway that does not run any more once it has read its files has not read them', async (t) => {
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
  t.match(await sync(base, both, { deps: { gateway: dying } }), { phase: 'Pending', reason: 'GatewayNotReady', message: /faulted/ })
  t.match(await sync(base), { phase: 'Synced' }, 'and reads them again when it runs')
})

void t.test('a gateway that is commissioned has its files, is not ready, and is synced again afterwards', async (t) => {
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
  t.match(await sync(tree, profile), { phase: 'Pending', reason: 'GatewayNotReady', files: { added: 3 } })
  t.same(posts(), [], 'neither locked nor scanned')
  // What the gateway does on its first boot.
  write(`${security}/config.json`, '{"ours":false}')
  t.match(await sync(tree, profile), { phase: 'Pending' })
  simulator.finishCommissioning()
  t.match(await sync(tree, profile), { phase: 'Synced', files: { changed: 1 } })
  t.equal(read(`${security}/config.json`), '{"ours":true}')
  t.same(posts(), ['scan-lock/config 200', 'scan/projects 200', 'scan/config 200'], 'all is read again, not only what was put right')
  write(`${security}/config.json`, '{"ours":false}')
  t.match(await sync(tree, profile), { phase: 'Synced', drift: { count: 0 } }, 'a first-boot rewrite is no drift')
})

void t.test('the API key is read at each use', async (t) => {
  const { sync, simulator, keyFile } = await gatewayToSync(t)
  t.equal((await sync(base)).phase, 'Synced')
  simulator.setApiKey('gw:rotated')
  const refused = await sync({ ...base, 'config/a': '2' })
  t.match(refused, { phase: 'Failed', reason: 'GatewayUnauthorised' })
  t.notMatch(JSON.stringify(refused), /hush|rotated/)
  writeFileSync(keyFile, 'gw:rotated\n')
  t.equal((await sync({ ...base, 'config/a': '2' })).phase, 'Synced', 'without a new process')
})

void t.test('files disappear from no gateway that starts, unless it never comes up', async (t) => {
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
  t.match(await sync(base, both, { deps }), { phase: 'Pending', reason: 'GatewayNotReady' })
  t.equal(read('config/gone'), '1')
  t.match(await sync({ ...base, 'config/gone': '2' }, both, { deps }), { phase: 'Pending', files: { changed: 1 } }, 'a change is no loss')
  status = 'faulted'
  t.match(await sync(base, both, { deps }), { files: { removed: 1 } }, 'a gateway that faulted needs the commit')
  await sync({ ...base, 'config/gone': '3' }, both, { deps })
  status = 'starting'
  t.match(await sync(base, both, { deps }), { phase: 'Pending', reason: 'GatewayNotReady' })
  nowMs = 299_000
  t.equal((await sync(base, both, { deps })).files, undefined)
  nowMs = 301_000
  t.match(await sync(base, both, { deps }), { files: { removed: 1 } }, 'after five minutes')
  t.equal(memory.startingSinceMs, 0)
})
