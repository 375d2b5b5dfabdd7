/**
 * A GatewaySync's spec, its pods and their reports as input of the pure decisions, complete except for the subject of a test.
 */
import * as v from 'valibot'
import { type GatewayPod, type GatewayReport, parseReport } from '../../runtime/reconcile/decide/gateways.ts'
import { resolveProfile, syncHash } from '../../runtime/api/schema/profile.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import { gatewaySyncSpec, type GatewaySyncSpec, type GatewaySyncSpecInput } from '../../runtime/api/schema/spec.ts'

/** Follows `main`, with one profile of one mapping. */
export function specWith(changes: Partial<GatewaySyncSpecInput> = {}): GatewaySyncSpec {
  return v.parse(gatewaySyncSpec({ allowLocal: false }), {
    git: { repo: 'https://git.example/plant.git', ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    ...changes,
  })
}

/** A pod with a running agent and the UID `uid-<name>`. */
export function podWith(name: string, changes: Partial<GatewayPod> = {}): GatewayPod {
  return {
    namespace: 'plant',
    name,
    uid: `uid-${name}`,
    annotations: {},
    injected: true,
    terminating: false,
    labels: {},
    agentDown: undefined,
    ...changes,
  }
}

/** The report of the agent of `podWith(name)`, by default with the default profile of `spec`. */
export function reportWith(name: string, status: Partial<SyncReportStatus>, spec = specWith()): [string, GatewayReport] {
  return [name, parseReport(`uid-${name}`, { syncHash: syncHash(resolveProfile(spec.sync, 'default'), spec.gateway), ...status })]
}
