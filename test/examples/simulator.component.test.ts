/**
 * Behavior of the simulator that the product's client does not use but its tests rely on: it refuses what a gateway refuses.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { type Simulator, startSimulator } from '../../examples/simulator/simulator.ts'
import { startFaults } from '../../examples/simulator/tree.ts'
import { containsText, matchObject } from '../support/assertions.ts'
import { temporaryFolder } from '../support/repository.ts'

const plant = path.resolve(import.meta.dirname, '../../examples/plant/services')
const apiKey = 'test:secret'

/** The example plant in a data directory. */
function plantData(t: Test): string {
  const dataDir = temporaryFolder(t, 'simulator')
  cpSync(plant, dataDir, { recursive: true })
  return dataDir
}

async function started(t: Test, dataDir: string, options: Partial<Parameters<typeof startSimulator>[0]> = {}): Promise<Simulator> {
  const simulator = await startSimulator({ dataDir, name: 'gw', mode: 'dev', ...options })
  t.teardown(async () => simulator.stop())
  return simulator
}

async function ask(simulator: Simulator, method: string, route: string, body?: string, key = apiKey) {
  const response = await fetch(simulator.url + route, {
    method,
    redirect: 'manual',
    headers: { 'x-ignition-api-token': key },
    ...(body === undefined ? {} : { body }),
  })
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    location: response.headers.get('location'),
    text: await response.text(),
  }
}

void t.test('the last collection overrides whole resources, and other modes do not count', async (t) => {
  const dataDir = plantData(t)
  for (const [mode, from] of [
    ['dev', 'dev'],
    ['prod', 'prod'],
    ['none', 'core'],
  ] as const) {
    const { effective, projects } = (await started(t, dataDir, { mode })).reading()
    t.equal(effective.get('ignition/system-properties'), from, mode)
    t.equal(effective.get('ignition/cobranding'), 'core', mode)
    t.equal(effective.get('ignition/homepage-notes'), 'external', mode)
    t.strictSame(projects, ['line-1', 'maintenance'])
  }
})

void t.test('each documented fault keeps a gateway from starting until it is fixed', async (t) => {
  const rows: Record<keyof typeof startFaults, { spoil: (dataDir: string) => void; where: string; said: RegExp }> = {
    'missing-config-mode': {
      where: 'config/resources/external',
      spoil: (dataDir) => rmSync(path.join(dataDir, 'config/resources/external/config-mode.json')),
      said: /^Resource collection path .*external exists but is not empty$/,
    },
    'singleton-only-in-mode': {
      where: 'config/resources/core',
      spoil: (dataDir) => rmSync(path.join(dataDir, 'config/resources/core/ignition/system-properties'), { recursive: true }),
      said: /^Singleton ignition\/system-properties /,
    },
    'missing-attributes': {
      where: 'projects/line-1',
      spoil: (dataDir) =>
        writeFileSync(path.join(dataDir, 'projects/line-1/ignition/script-python/units/resource.json'), '{"files": ["code.py"]}'),
      said: /^NullPointerException: attributes of .*units\/resource\.json$/,
    },
  }
  for (const [name, { spoil, where, said }] of Object.entries(rows)) {
    const dataDir = plantData(t)
    spoil(dataDir)
    const simulator = await started(t, dataDir)
    t.equal(simulator.state(), 'FAULTED', name)
    t.equal(simulator.faults().length, 1, name)
    containsText(t, simulator.faults()[0], said, name)
    t.equal((await ask(simulator, 'GET', '/data/api/v1/gateway-info')).status, 503, name)
    const right = path.join(plant, where)
    cpSync(right, path.join(dataDir, where), { recursive: true })
    await simulator.restart()
    t.equal(simulator.state(), 'RUNNING', name)
  }
})

void t.test('a singleton only in an inactive mode does not keep a gateway from starting', async (t) => {
  const dataDir = plantData(t)
  const folder = path.join(dataDir, 'config/resources/prod/ignition/quickstart')
  mkdirSync(folder)
  writeFileSync(path.join(folder, 'resource.json'), '{"files": [], "attributes": {}}')
  t.equal((await started(t, dataDir, { mode: 'dev' })).state(), 'RUNNING')
  t.equal((await started(t, dataDir, { mode: 'prod' })).state(), 'FAULTED')
})

void t.test('changed files are loaded by the next scan and not before', async (t) => {
  const dataDir = plantData(t)
  const simulator = await started(t, dataDir, { scanMs: 1 })
  rmSync(path.join(dataDir, 'projects/maintenance'), { recursive: true })
  t.strictSame(simulator.reading().projects, ['line-1', 'maintenance'])
  const before = await ask(simulator, 'GET', '/data/api/v1/scan/projects')
  await ask(simulator, 'POST', '/data/api/v1/scan/projects', '{}')
  const deadlineMs = performance.now() + 60_000
  while ((await ask(simulator, 'GET', '/data/api/v1/scan/projects')).text === before.text || simulator.reading().projects.length > 1)
    if (performance.now() > deadlineMs) throw new Error('the scan did not end')
  t.strictSame(simulator.reading().projects, ['line-1'])
})

void t.test('the complete key is checked, and StatusPing needs none', async (t) => {
  const simulator = await started(t, plantData(t), { apiKey })
  const route = '/data/api/v1/gateway-info'
  t.equal((await ask(simulator, 'GET', route)).status, 200)
  for (const key of ['secret', 'test:', 'test:secret2', '']) {
    const { status, type, text } = await ask(simulator, 'GET', route, undefined, key)
    matchObject(t, { status, type, text }, { status: 401, type: 'text/html', text: /<html>/ }, key)
  }
  t.equal((await ask(simulator, 'GET', '/StatusPing', undefined, '')).text, '{"state":"RUNNING"}')
})

void t.test('a second lock is refused, a lock ends after its hold time, and invalid input gets an error', async (t) => {
  const simulator = await started(t, plantData(t))
  const route = '/data/api/v1/scan-lock/config'
  t.equal((await ask(simulator, 'GET', route)).status, 204)
  t.equal((await ask(simulator, 'POST', route, '{"holdTimeout":"long"}')).status, 400)
  matchObject(t, JSON.parse((await ask(simulator, 'POST', route, '{"acquireTimeout":10,"holdTimeout":60}')).text), { remaining: 60 })
  t.equal((await ask(simulator, 'GET', route)).status, 200)
  t.equal((await ask(simulator, 'POST', route, '{}')).status, 409)
  await ask(simulator, 'POST', '/data/api/v1/scan/config', '{}')
  t.equal((await ask(simulator, 'POST', route, '{"holdTimeout":0.02}')).status, 200)
  const deadlineMs = performance.now() + 60_000
  while ((await ask(simulator, 'GET', route)).status !== 204) if (performance.now() > deadlineMs) throw new Error('the lock did not end')
  t.equal((await ask(await started(t, plantData(t), { lockRoute: false }), 'POST', route, '{}')).status, 404)
})

void t.test('a commissioning gateway redirects and refuses scans', async (t) => {
  const simulator = await started(t, plantData(t), { commissioning: true })
  t.strictSame(JSON.parse((await ask(simulator, 'GET', '/StatusPing')).text), { state: 'RUNNING', details: 'COMMISSIONING' })
  matchObject(t, await ask(simulator, 'GET', '/data/api/v1/gateway-info'), { status: 302, location: '/welcome' })
  t.equal((await ask(simulator, 'POST', '/data/api/v1/scan/config', '{}')).status, 400)
})

void t.test('the command refuses unknown arguments with exit code 2', (t) => {
  const main = path.resolve(import.meta.dirname, '../../examples/simulator/main.ts')
  for (const [args, said] of [
    [['--data', '.', '--colour', 'red'], /--colour/],
    [[], /--data/],
    [['--data', '.', '--port', '70000'], /--port/],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', timeout: 20_000 })
    t.equal(status, 2, args.join(' '))
    containsText(t, stderr, said)
  }
  t.end()
})
