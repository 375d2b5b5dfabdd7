import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { requestAnnotations } from '../../../runtime/api/names.ts'
import { Store } from '../../../runtime/reconcile/store/store.ts'
import { syncKey } from '../../../runtime/reconcile/store/records.ts'
import { ObjectStore } from '../../../runtime/standalone/object-store.ts'
import { parseStandaloneSync, parseTargets, type StandaloneSync } from '../../../runtime/standalone/settings.ts'
import { openState } from '../../../runtime/standalone/state.ts'
import { matchObject, throwsError } from '../../support/assertions.ts'
import { fill, mounted } from '../../support/small-volume.ts'

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
  const store = new Store((key) => changed.push(key))
  const targets = parseTargets({ target: ['name=gw,data=/data'], data: undefined, gateway: undefined, profile: undefined }, sync, '/')
  const objects = new ObjectStore({ store, clock: systemClock, log: silentLog }, { sync, targets, stateDir })
  return { objects, store, changed }
}

const commit = 'a'.repeat(40)

void t.test('a restart keeps requests, status and reports', async (t) => {
  const stateDir = t.testdir()
  const sync = parseStandaloneSync(text('main'), 'gs.yaml')
  const first = start(stateDir, sync)
  first.objects.annotate({ [requestAnnotations.ref]: 'v1', [requestAnnotations.id]: 'r-1' })
  first.objects.setStatus({ published: { commit, ref: 'v1', at: '2026-01-01T00:00:00Z' } })
  first.objects.setReport('gw', { phase: 'Synced', commit })

  const second = start(stateDir, sync)
  t.equal(second.objects.record().annotations[requestAnnotations.ref], 'v1')
  t.equal(second.objects.record().status.published?.commit, commit)
  t.equal(second.store.reportsIn('default').get('gw')?.status?.phase, 'Synced')
  t.equal(second.objects.record().uid, first.objects.record().uid)
  t.equal(second.objects.record().generation, 1)
})

void t.test('a changed spec increments the generation', async (t) => {
  const stateDir = t.testdir()
  start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml')).objects.setStatus({})
  t.equal(start(stateDir, parseStandaloneSync(text('v2'), 'gs.yaml')).objects.record().generation, 2)
})

void t.test('a request is saved before it takes effect, and triggers a reconcile', async (t) => {
  const stateDir = t.testdir()
  const { objects, changed } = start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml'))
  changed.length = 0
  objects.annotate({ [requestAnnotations.ref]: 'v1', [requestAnnotations.id]: 'r-1' })
  t.match(readFileSync(path.join(stateDir, 'state.json'), 'utf8'), /"r-1"/)
  t.strictSame(changed, [syncKey('default', 'plant')])
  objects.annotate({ [requestAnnotations.id]: null, [requestAnnotations.by]: 'push' })
  t.strictSame(objects.record().annotations, { [requestAnnotations.ref]: 'v1', [requestAnnotations.by]: 'push' }, 'null takes one away')
})

void t.test('a damaged state file is named and left unchanged', async (t) => {
  const stateDir = t.testdir({ 'state.json': '{"version":1' })
  try {
    start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml'))
    t.fail('it was taken')
  } catch (error) {
    t.ok(error instanceof Fault && error.reason === 'StateUnreadable' && error.message.includes('state.json'))
  }
  t.equal(readFileSync(path.join(stateDir, 'state.json'), 'utf8'), '{"version":1')
})

void t.test('a state file of another version is reported as such, not as damaged', async (t) => {
  const stateDir = t.testdir({ 'state.json': '{"version":2}' })
  throwsError(t, () => openState(stateDir), {
    reason: 'StateUnreadable',
    message: `${path.join(stateDir, 'state.json')} was written by another version of this program; remove it to start without it (open requests are lost)`,
  })
})

void t.test('a full state folder is named with its own path', async (t) => {
  const stateDir = mounted(t, 'size=64k')
  if (stateDir === undefined) return
  const { objects } = start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml'))
  fill(stateDir, 0)
  const message = `"${path.join(stateDir, 'state.json')}": no space is left on the volume; free some space, or enlarge the volume (ENOSPC)`
  throwsError(t, () => objects.annotate({ [requestAnnotations.ref]: 'v2' }), { reason: 'DiskFull', message })
})

void t.test('a state folder that cannot be written keeps the earlier state', async (t) => {
  const stateDir = path.join(t.testdir(), 'state')
  const { objects } = start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml'))
  objects.annotate({ [requestAnnotations.ref]: 'v1' })
  rmSync(stateDir, { recursive: true })
  writeFileSync(stateDir, 'a file where the folder was')
  t.throws(() => objects.annotate({ [requestAnnotations.ref]: 'v2' }))
  t.equal(objects.record().annotations[requestAnnotations.ref], 'v1')
})

void t.test('a report that cannot be written takes effect and is saved with the next write', async (t) => {
  const stateDir = path.join(t.testdir(), 'state')
  const sync = parseStandaloneSync(text('main'), 'gs.yaml')
  const { objects, store } = start(stateDir, sync)
  objects.setReport('gw', { phase: 'Synced', commit })
  rmSync(stateDir, { recursive: true })
  writeFileSync(stateDir, 'a file where the folder was')
  objects.setReport('gw', { phase: 'Failed', reason: 'DiskFull' })
  t.equal(store.reportsIn('default').get('gw')?.status?.phase, 'Failed')
  rmSync(stateDir)
  objects.setStatus({})
  matchObject(t, start(stateDir, sync).store.reportsIn('default').get('gw')?.status, { phase: 'Failed' }, 'the folder is made anew')
})

void t.test('the state of another GatewaySync is ignored', async (t) => {
  const stateDir = t.testdir()
  const first = start(stateDir, parseStandaloneSync(text('main'), 'gs.yaml')).objects
  first.annotate({ [requestAnnotations.ref]: 'v1', [requestAnnotations.id]: 'r-1' })
  first.setStatus({ published: { commit, ref: 'v1', at: '2026-01-01T00:00:00Z' } })
  const other = start(stateDir, parseStandaloneSync(text('main').replace('name: plant', 'name: press'), 'gs.yaml')).objects
  t.strictSame([other.record().annotations, other.record().status], [{}, {}])
  t.not(other.record().uid, first.record().uid)
})

void t.test('a state folder that cannot be created is an error and is not retried endlessly', async (t) => {
  for (const folder of ['/proc/plant/state', '/dev/null/state']) {
    throwsError(t, () => openState(folder), { message: new RegExp(`^"${folder}": `) })
  }
})
