/**
 * Which content and which modes the gate judges for a GatewaySync.
 */
import t from 'tap'
import * as v from 'valibot'
import { gateRoots } from '../../../runtime/collections/delivery.ts'
import { createGate } from '../../../runtime/collections/gate.ts'
import type { Verdict } from '../../../runtime/gatewaysync/decide.ts'
import type { SyncReportStatus } from '../../../runtime/gatewaysync/report.ts'
import { gatewaySyncSpec } from '../../../runtime/gatewaysync/spec.ts'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { podAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { createCommitCheck } from '../../../runtime/reconcile/commit-check.ts'
import { createStore, type GatewaySyncRecord } from '../../../runtime/reconcile/store.ts'
import { commitListing, config, type Files, resource, root, validTree } from '../../support/collection-tree.ts'

const signal = new AbortController().signal
const commit = parseCommitHash('a'.repeat(40))
/** A singleton that exists only in dev. */
const broken: Files = { ...validTree(), ...resource('dev/ignition/cobranding', config({})) }

function setUp(files: Files) {
  const store = createStore(() => undefined)
  const gate = createGate()
  const asked: (readonly string[])[] = []
  const check = createCommitCheck({
    store,
    inMirror: async (_key, _commit, read) => await read({ folder: '', limits: { maxMemoryBytes: 0, maxPackBytes: 0 } }),
    gate: {
      async check(_repository, request, _again, own) {
        asked.push(gateRoots(request.profiles))
        return await gate.check(commitListing(new Map([[commit, files]]), request.commit), request, own)
      },
    },
  })
  /** A live pod that follows `follows`, unless its report is of a pod that is gone, and its report. */
  const reports = (pod: string, gatewaySync: string, mode: string, { follows = gatewaySync, uid = pod } = {}): void => {
    store.upsertPod({
      namespace: 'plant',
      name: pod,
      uid: pod,
      annotations: { [podAnnotations.gatewaySync]: follows },
      injected: true,
      terminating: false,
      agentDown: undefined,
      serviceAccount: 'gateway',
    })
    const status: SyncReportStatus = { phase: 'Synced', mode: { name: mode, from: 'argument' } }
    store.upsertReport({ namespace: 'plant', pod, gatewaySync, podUid: uid, status, malformed: false })
  }
  const spec = (profile: object, validation: object = {}) =>
    v.parse(gatewaySyncSpec({ allowLocal: true }), {
      git: { repo: 'https://git.example.com/a.git', ref: 'main' },
      sync: { profiles: { default: profile } },
      validation,
    })
  const judge = async (profile: object, validation: object = {}): Promise<Verdict> => {
    const record: GatewaySyncRecord = {
      namespace: 'plant',
      name: 'line',
      uid: 'u',
      resourceVersion: '1',
      generation: 1,
      annotations: {},
      spec: {},
      status: {},
    }
    return await check(record, spec(profile, validation), commit, signal)
  }
  return { judge, reports, asked }
}

const collections = { collections: { root } }

void t.test('the modes that gateways of this GatewaySync report decide, those of another do not', async (t) => {
  const { judge, reports } = setUp(broken)
  t.match(await judge(collections), { kind: 'checked', errors: 1 }, 'none is known, so every mode counts')
  reports('a-0', 'line', 'prod')
  t.match(await judge(collections), { kind: 'checked', errors: 0 })
  reports('b-0', 'other', 'dev')
  t.match(await judge(collections), { kind: 'checked', errors: 0 })
  reports('a-1', 'line', 'dev')
  t.match(await judge(collections), { kind: 'checked', errors: 1 })
})

void t.test('a report counts only for the live pod that wrote it and for the GatewaySync which that pod follows', async (t) => {
  const { judge, reports } = setUp(broken)
  reports('a-0', 'line', 'prod', { follows: 'other' })
  t.match(await judge(collections), { kind: 'checked', errors: 1 }, 'the pod follows another GatewaySync')
  reports('a-1', 'line', 'prod', { uid: 'a pod that is gone' })
  t.match(await judge(collections), { kind: 'checked', errors: 1 }, 'the report is of an earlier pod of that name')
  reports('a-2', 'line', 'prod')
  t.match(await judge(collections), { kind: 'checked', errors: 0 })
})

void t.test('a gateway that runs without a mode is no mode in use', async (t) => {
  const { judge, reports } = setUp(broken)
  reports('a-0', 'line', '')
  t.match(await judge(collections), { kind: 'checked', errors: 1 })
})

void t.test('a mode in use that the commit does not hold is a finding', async (t) => {
  const { judge, reports } = setUp(validTree())
  reports('a-0', 'line', 'staging')
  t.match(await judge(collections), { kind: 'checked', errors: 0, items: [{ rule: 'mode-without-folder' }] })
})

void t.test('only what profiles deliver is listed, and nothing under the policy Off', async (t) => {
  const { judge, asked } = setUp(broken)
  t.match(await judge({ ...collections, excludePatterns: ['ignition/cobranding'] }), { kind: 'checked', errors: 0 })
  t.same(asked, [[root, '.clustersync.yaml']])
  t.same(await judge(collections, { policy: 'Off' }), { kind: 'notChecked' })
})
