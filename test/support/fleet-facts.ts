/**
 * Fleet data for the view model: a ready GatewaySync that each row of a test changes.
 */
import * as v from 'valibot'
import { resolveProfile, syncHash } from '../../runtime/api/schema/profile.ts'
import { type GatewayPod, parseReport } from '../../runtime/reconcile/decide/gateways.ts'
import { wholeReport } from '../../runtime/reconcile/decide/report-details.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import type { FleetFacts, ReportFacts, SyncFacts } from '../../runtime/fleet/facts.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'

export const now = Temporal.Instant.from('2026-03-01T12:00:00Z')
export const commit = '1a2b3c4d'.repeat(5)
export const earlier = '99887766'.repeat(5)

const spec = {
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
}
const parsed = v.parse(gatewaySyncSpec({ allowLocal: true }), spec)
const hash = syncHash(resolveProfile(parsed.sync, 'default'), parsed.gateway)

const synced = {
  phase: 'Synced',
  commit,
  syncHash: hash,
  profile: 'default',
  mode: { name: 'prod', from: 'Gateway' },
  finishedAt: '2026-03-01T11:58:00Z',
  agentVersion: '0.1.0',
}

export function condition(type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string) {
  return { type, status, reason, message, observedGeneration: 1, lastTransitionTime: '2026-03-01T11:00:00Z' }
}

export function counts(of: Partial<NonNullable<GatewaySyncStatus['gateways']>>): NonNullable<GatewaySyncStatus['gateways']> {
  return { total: 0, synced: 0, pending: 0, failed: 0, blocked: 0, drifted: 0, dryRun: 0, paused: 0, missingAgent: 0, waiting: 0, ...of }
}

export function syncFacts(name: string, status: GatewaySyncStatus = {}, more: Partial<SyncFacts> = {}): SyncFacts {
  return {
    namespace: 'plant-a',
    name,
    generation: 1,
    annotations: {},
    spec,
    status: {
      observedGeneration: 1,
      source: { ref: 'main', commit, committedAt: '2026-03-01T09:00:00Z', checkedAt: '2026-03-01T11:59:48Z' },
      published: { commit, ref: 'main', repo: spec.git.repo, at: '2026-03-01T11:57:00Z' },
      gateways: counts({ total: 1, synced: 1 }),
      conditions: [condition('Ready', 'True', 'Synced', `1 of 1 gateways run the published commit`)],
      ...status,
    },
    ...more,
  }
}

export function pod(name: string, gatewaySync: string, more: Partial<GatewayPod> = {}): GatewayPod {
  return {
    namespace: 'plant-a',
    name,
    uid: `uid-${name}`,
    annotations: { 'clustersync.io/inject': 'true', 'clustersync.io/gateway-sync': gatewaySync },
    injected: true,
    terminating: false,
    labels: {},
    agentDown: undefined,
    ...more,
  }
}

export function report(name: string, gatewaySync: string, status: Partial<SyncReportStatus> = {}): ReportFacts {
  return {
    namespace: 'plant-a',
    pod: name,
    gatewaySync,
    ...parseReport(`uid-${name}`, { ...synced, gateway: name, ...status }, wholeReport),
  }
}

export function fleetFacts(facts: Partial<FleetFacts>): FleetFacts {
  return { from: 'cluster', syncs: [], pods: [], reports: [], notes: [], ...facts }
}
