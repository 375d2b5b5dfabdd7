import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import { silentLog } from '../../../runtime/log.ts'
import { requestAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { createStore } from '../../../runtime/reconcile/store.ts'
import { syncKey } from '../../../runtime/reconcile/records.ts'
import { createObjectStore } from '../../../runtime/standalone/object-store.ts'
import { parseStandaloneSync, parseTargets, type StandaloneSync } from '../../../runtime/standalone/settings.ts'
import { openState } from '../../../runtime/standalone/state.ts'

const text = (ref: string) => `
apiVersion: clustersync.io/v1alpha1
kind: GatewaySync
metadata: {name: plant}
spec:
  git: {repo: /srv/plant.git, ref: ${ref}}
  sync: {profiles: {default: {mappings: [{source: a, destination: b}]}}}
`

function start(stateDir: string, sync: StandaloneSync) {
  const changed: string[] = []
  const store = createStore((key) => changed.push(key))
  const targets = parseTargets({ target: ['name=gw,data=/data'], data: undefined, gateway: undefined, profile: undefined }, sync, '/')
  const keeper = createObjectStore({ store, clock: systemClock, log: silentLog }, { sync, targets, stateDir })
  return { keeper, store, changed }
}

const commit = 'a'.repeat(40)

void t.test('a restart forgets neither requests nor status nor reports', async (t) => {
  const stateDir = t.testdir()
  const sync = parseStandaloneSync(text('main'), 'gs.yaml')
  const first = start(stateDir, sync)
  first.keeper.annotate({ [requestAnnotations.ref]: 'v1', [requestAnnotations.id]: 'r-1' })
  first.keeper.setStatus({ published: { commit, ref: 'v1', at: '2026-01-01T00:00:00Z' } })
  first.keeper.setReport('gw', { phase: 'Synced', commit })

  const second = start(stateDir, sync)
  t.equal(second.keeper.record().annotations[requestAnnotations.ref], 'v1')
  t.equal(second.keeper.record().status.published?.commit, commit)
  t.equal(second.store.reportsIn('default').get('gw')?.status?.phase, 'Synced')
  t.equal(second.keeper.record().uid, first.keeper.record().uid)
  t.equal(second.keeper.record().generation, 1)
})

void t.test('a changed spec is another generation', async (t) => {
  const stateDir = t.testdir()
  start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml')).keeper.setStatus({})
  t.equal(start(stateDir, parseStandaloneSync(text('v2'), 'gs.yaml')).keeper.record().generation, 2)
})

void t.test('a request is in the state folder before it counts, and wakes the pass', async (t) => {
  const stateDir = t.testdir()
  const { keeper, changed } = start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml'))
  changed.length = 0
  keeper.annotate({ [requestAnnotations.ref]: 'v1', [requestAnnotations.id]: 'r-1' })
  t.match(readFileSync(path.join(stateDir, 'state.json'), 'utf8'), /"r-1"/)
  t.same(changed, [syncKey('default', 'plant')])
  keeper.annotate({ [requestAnnotations.id]: null, [requestAnnotations.by]: 'push' })
  t.same(keeper.record().annotations, { [requestAnnotations.ref]: 'v1', [requestAnnotations.by]: 'push' }, 'null takes one away')
})

void t.test('a damaged state file is named and left as it is', async (t) => {
  const stateDir = t.testdir({ 'state.json': '{"version":1' })
  try {
    start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml'))
    t.fail('it was taken')
  } catch (error) {
    t.ok(error instanceof Fault && error.reason === 'StateUnreadable' && error.message.includes('state.json'))
  }
  t.equal(readFileSync(path.join(stateDir, 'state.json'), 'utf8'), '{"version":1')
})

void t.test('a state folder that cannot be written loses no earlier state', async (t) => {
  const stateDir = t.testdir({ blocker: 'a file where the folder should be' })
  const { keeper } = start(path.join(stateDir, 'blocker'), parseStandaloneSync(text('main'), 'gs.yaml'))
  t.throws(() => keeper.annotate({ [requestAnnotations.ref]: 'v1' }))
  t.equal(keeper.record().annotations[requestAnnotations.ref], undefined)
})

void t.test('a report that cannot be written counts all the same, and reaches the disk with the next write', async (t) => {
  const stateDir = path.join(t.testdir(), 'state')
  const sync = parseStandaloneSync(text('main'), 'gs.yaml')
  const { keeper, store } = start(stateDir, sync)
  keeper.setReport('gw', { phase: 'Synced', commit })
  rmSync(stateDir, { recursive: true })
  writeFileSync(stateDir, 'a file where the folder was')
  keeper.setReport('gw', { phase: 'Failed', reason: 'DiskFull' })
  t.equal(store.reportsIn('default').get('gw')?.status?.phase, 'Failed')
  rmSync(stateDir)
  keeper.setStatus({})
  t.match(start(stateDir, sync).store.reportsIn('default').get('gw')?.status, { phase: 'Failed' }, 'the folder is made anew')
})

void t.test('the state of another GatewaySync says nothing about this one', async (t) => {
  const stateDir = t.testdir()
  const first = start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml')).keeper
  first.annotate({ [requestAnnotations.ref]: 'v1', [requestAnnotations.id]: 'r-1' })
  first.setStatus({ published: { commit, ref: 'v1', at: '2026-01-01T00:00:00Z' } })
  const other = start(stateDir, parseStandaloneSync(text('main').replace('name: plant', 'name: press'), 'gs.yaml')).keeper
  t.same([other.record().annotations, other.record().status], [{}, {}])
  t.not(other.record().uid, first.record().uid)
})

void t.test('a folder for the state that cannot be made is an error, and never tried for ever', async (t) => {
  for (const folder of ['/proc/plant/state', '/dev/null/state']) {
    t.throws(() => openState(folder), { message: new RegExp(`^"${folder}": `) })
  }
})
