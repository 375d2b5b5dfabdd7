/**
 * A GatewaySync's spec, its pods and their reports as the pure decisions take them, complete but for what a test is about.
 */
import * as v from 'valibot'
import { type GatewayPod, type GatewayReport, parseReport } from '../../runtime/gatewaysync/decide/gateways.ts'
import { resolveProfile, syncHash } from '../../runtime/gatewaysync/decide/profile.ts'
import type { SyncReportStatus } from '../../runtime/gatewaysync/schema/report.ts'
import { gatewaySyncSpec, type GatewaySyncSpec, type GatewaySyncSpecInput } from '../../runtime/gatewaysync/schema/spec.ts'

/** Follows `main`, with one profile of one mapping. */
export function specWith(changes: Partial<GatewaySyncSpecInput> = {}): GatewaySyncSpec {
  return v.parse(gatewaySyncSpec({ allowLocal: false }), {
    git: { repo: 'https://git.example/plant.git', ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
    ...changes,
  })
}

/** A pod whose agent runs, of the uid `uid-<name>`. */
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

/** What the agent of `podWith(name)` reports, by default that it follows the default profile of `spec`. */
export function reportWith(name: string, status: Partial<SyncReportStatus>, spec = specWith()): [string, GatewayReport] {
  return [name, parseReport(`uid-${name}`, { syncHash: syncHash(resolveProfile(spec.sync, 'default'), spec.gateway), ...status })]
}
