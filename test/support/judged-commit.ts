/**
 * What the controller decides about one commit, with the reports of pods that it believes.
 */
import * as v from 'valibot'
import { gateRoots } from '../../runtime/collections/gate/coverage.ts'
import { createGate } from '../../runtime/collections/gate/gate.ts'
import type { Verdict } from '../../runtime/gatewaysync/decide/observation.ts'
import { parseReport } from '../../runtime/gatewaysync/decide/gateways.ts'
import { podAnnotations } from '../../runtime/gatewaysync/names.ts'
import type { SyncReportStatus } from '../../runtime/gatewaysync/schema/report.ts'
import { gatewaySyncSpec } from '../../runtime/gatewaysync/schema/spec.ts'
import { parseCommitHash } from '../../runtime/gatewaysync/values.ts'
import { createCommitCheck } from '../../runtime/reconcile/commit-check.ts'
import { createStore } from '../../runtime/reconcile/store.ts'
import type { GatewaySyncRecord } from '../../runtime/reconcile/records.ts'
import { commitListing, type Files } from './collection-tree.ts'

const signal = new AbortController().signal
const commit = parseCommitHash('a'.repeat(40))

/** The gate of a controller with reports of pods, over a commit of `files` that the GatewaySync `line` names. */
export function judgedCommit(files: Files) {
  let elapsedMs = 0
  const store = createStore(() => undefined, { monotonicMs: () => elapsedMs })
  const gate = createGate()
  const asked: (readonly string[])[] = []
  const { check } = createCommitCheck({
    store,
    inMirror: async (_key, _commit, read) => await read({ folder: '', limits: { maxMemoryBytes: 0, maxPackBytes: 0 } }),
    gate: {
      prepare() {},
      async check(_repository, request, _again, own) {
        asked.push(gateRoots(request.profiles))
        return await gate.check(commitListing(new Map([[commit, files]]), request.commit), request, own)
      },
    },
  })
  /** A pod without a report so far. */
  const runs = (name: string, follows: string, { uid = name, injected = true, terminating = false, profile = '' } = {}): void => {
    const annotations = { [podAnnotations.gatewaySync]: follows, ...(profile === '' ? {} : { [podAnnotations.profile]: profile }) }
    const about = { labels: {}, agentDown: undefined, serviceAccount: 'gateway' }
    store.upsertPod({ namespace: 'plant', name, uid, annotations, injected, terminating, ...about })
  }
  /** A live pod that follows `follows`, unless its report is of a pod that is gone, and its report. */
  const reports = (pod: string, gatewaySync: string, mode: string, { follows = gatewaySync, uid = pod } = {}): void => {
    runs(pod, follows)
    const status: SyncReportStatus = { phase: 'Synced', mode: { name: mode, from: 'argument' } }
    store.upsertReport({ namespace: 'plant', pod, gatewaySync, ...parseReport(uid, status) })
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
  const passes = (ms: number): void => void (elapsedMs += ms)
  return { judge, reports, runs, passes, store, asked }
}
