/**
 * The controller's validation of one commit, with the reports of pods that it trusts.
 */
import * as v from 'valibot'
import { validatedRoots } from '../../runtime/validation/run/coverage.ts'
import { createValidator } from '../../runtime/validation/run/validate-commit.ts'
import type { Verdict } from '../../runtime/reconcile/decide/observation.ts'
import { parseReport } from '../../runtime/reconcile/decide/gateways.ts'
import { podAnnotations } from '../../runtime/api/names.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import { parseCommitHash } from '../../runtime/api/values.ts'
import { createCommitValidation } from '../../runtime/reconcile/commit-validation.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import type { GatewaySyncRecord } from '../../runtime/reconcile/store/records.ts'
import { commitListing, type Files } from './collection-tree.ts'

const signal = new AbortController().signal
const commit = parseCommitHash('a'.repeat(40))

/** Validation in a controller with pod reports, for a commit of `files` that the GatewaySync `line` names. */
export function validatedCommit(files: Files) {
  let elapsedMs = 0
  const store = new Store(() => undefined, { monotonicMs: () => elapsedMs })
  const validator = createValidator()
  const asked: (readonly string[])[] = []
  const validation = createCommitValidation({
    store,
    inMirror: async (_key, _commit, read) => await read({ folder: '', limits: { maxMemoryBytes: 0, maxPackBytes: 0 } }),
    validator: {
      prepare() {},
      async validate(_repository, request, _again, own) {
        asked.push(validatedRoots(request.profiles))
        return await validator.validate(commitListing(new Map([[commit, files]]), request.commit), request, own)
      },
    },
  })
  /** A pod without a report so far. */
  const runs = (name: string, follows: string, { uid = name, injected = true, terminating = false, profile = '' } = {}): void => {
    const annotations = { [podAnnotations.gatewaySync]: follows, ...(profile === '' ? {} : { [podAnnotations.profile]: profile }) }
    const about = { labels: {}, agentDown: undefined, serviceAccount: 'gateway' }
    store.upsertPod({ namespace: 'plant', name, uid, annotations, injected, terminating, ...about })
  }
  /** A live pod that follows `follows`, and its report; another `uid` makes it the report of a deleted pod. */
  const reports = (pod: string, gatewaySync: string, mode: string, { follows = gatewaySync, uid = pod } = {}): void => {
    runs(pod, follows)
    const status: SyncReportStatus = { phase: 'Synced', mode: { name: mode, from: 'Argument' } }
    store.upsertReport({ namespace: 'plant', pod, gatewaySync, ...parseReport(uid, status) })
  }
  const spec = (profile: object, validation: object = {}) =>
    v.parse(gatewaySyncSpec({ allowLocal: true }), {
      git: { repo: 'https://git.example.com/a.git', ref: 'main' },
      sync: { profiles: { default: profile } },
      validation,
    })
  const validate = async (profile: object, settings: object = {}): Promise<Verdict> => {
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
    return await validation.validate(record, spec(profile, settings), commit, signal)
  }
  const passes = (ms: number): void => void (elapsedMs += ms)
  return { validate, reports, runs, passes, store, asked }
}
