/**
 * A company with three plants on the status page: most of it healthy, one problem of each kind, and details of its commits.
 */
import { parseReport } from '../../runtime/reconcile/decide/gateways.ts'
import { wholeReport } from '../../runtime/reconcile/decide/report-details.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import type { FleetFacts } from '../../runtime/fleet/facts.ts'
import type { Commits } from '../../runtime/statuspage/views/commits.ts'
import { version } from '../../runtime/platform/version.ts'
import { condition, counts, fleetFacts, pod, report, syncFacts } from './fleet-facts.ts'

const hashOf = (digit: string): string => `${digit}4e1b7f2`.repeat(5)
const [now, before, first, refused] = ['a', 'b', 'c', 'd'].map(hashOf) as [string, string, string, string]
/** Longer than one line of any card. */
const longPath =
  'services/config/resources/core/com.example.plantwide.historian/database-connection/mes-of-the-packaging-lines/resource.json'
const repo = 'https://git.example.com/automation/gateways.git'

const signedBy = 'SHA256:Qk9yR0p2d0xIV0xkT2pXb2FqS3E'

type Line = { namespace: string; name: string; status: GatewaySyncStatus; gateways: Record<string, Partial<SyncReportStatus>> }

const usual = (total: number): GatewaySyncStatus => ({
  source: { ref: 'main', commit: now, committedAt: '2026-03-01T11:52:00Z', checkedAt: '2026-03-01T11:59:48Z' },
  published: { commit: now, ref: 'main', repo, at: '2026-03-01T11:53:00Z' },
  gateways: counts({ total, synced: total }),
  conditions: [condition('Ready', 'True', 'Synced', `${total} of ${total} gateways run the published commit`)],
})

const history: NonNullable<GatewaySyncStatus['history']> = [
  { commit: now, ref: 'main', by: 'spec', at: '2026-03-01T11:53:00Z', outcome: 'Published', duration: '1.3s', signedBy },
  {
    commit: refused,
    ref: 'main',
    by: 'spec',
    at: '2026-03-01T10:20:00Z',
    outcome: 'Refused',
    reason: 'CollectionsInvalid',
    message: `${longPath}: is no JSON`,
    duration: '2.0s',
  },
  { commit: before, ref: 'v4.2', by: 'release pipeline', at: '2026-02-27T09:00:00Z', outcome: 'Published', duration: '1.9s' },
  { commit: first, ref: 'main', by: 'spec', at: '2026-02-20T14:30:00Z', outcome: 'Published', duration: '6.4s' },
]

const lines: Line[] = [
  {
    namespace: 'plant-north',
    name: 'packaging',
    status: {
      ...usual(6),
      gateways: counts({ total: 6, synced: 3, drifted: 1, failed: 1, pending: 1 }),
      conditions: [
        condition(
          'Ready',
          'False',
          'GatewaysFailed',
          '1 of 6 gateways: north-press-2: ScanFailed, the gateway answered the scan of projects with 500',
        ),
      ],
      history,
      rollout: {
        state: 'Stopped',
        id: 'r-7',
        commit: now,
        configurations: {},
        startedAt: '2026-03-01T11:53:00Z',
        finishedAt: '2026-03-01T11:55:00Z',
        stage: 'others',
        message: 'north-press-2 failed: ScanFailed',
        stages: [
          {
            name: 'fillers',
            gateways: 2,
            updated: 2,
            failed: 0,
            startedAt: '2026-03-01T11:53:00Z',
            finishedAt: '2026-03-01T11:54:00Z',
            approvedBy: 'shift lead',
          },
          { name: 'others', gateways: 4, updated: 2, failed: 1, held: 1, startedAt: '2026-03-01T11:54:00Z' },
        ],
      },
      findings: {
        errors: 0,
        warnings: 2,
        items: [
          {
            severity: 'warning',
            rule: 'unlisted-file',
            path: 'services/config/resources/core/com.inductiveautomation.perspective/themes/plant/notes.txt',
            message: 'the files of resource.json do not name notes.txt',
          },
          {
            severity: 'warning',
            rule: 'plain-credential',
            path: 'services/config/resources/core/database-connection/mes/config.json',
            message: 'a password stands here as it is',
          },
        ],
      },
      requests: [
        { id: '1', ref: 'v4.2', outcome: 'Handled', at: '2026-02-27T09:00:00Z' },
        {
          id: '2',
          ref: 'feature/x',
          outcome: 'Refused',
          reason: 'RefNotAllowed',
          message: 'spec.git.allowedRefs does not permit feature/x',
          at: '2026-03-01T08:10:00Z',
        },
      ],
    },
    gateways: {
      'north-filler-1': {},
      'north-filler-2': { designers: ['maintenance-pc-3'] },
      'north-labeler': { agentVersion: '0.0.1' },
      'north-palletizer': {
        phase: 'Drifted',
        drift: {
          count: 2,
          paths: ['projects/palletizer/com.inductiveautomation.perspective/views/Main/view.json', 'projects/palletizer/project.json'],
        },
      },
      'north-press-1': { phase: 'Syncing', commit: before },
      'north-press-2': {
        phase: 'Failed',
        reason: 'ScanFailed',
        message: `the gateway answered the scan of ${longPath} with 500`,
        scan: { problems: ['Project "press" cannot be read: project.json is no JSON'] },
        history: [
          { commit: now, phase: 'Failed', reason: 'ScanFailed', finishedAt: '2026-03-01T11:54:00Z' },
          { commit: before, phase: 'Synced', finishedAt: '2026-02-27T09:00:04Z' },
        ],
        findings: [{ rule: 'template-value', path: 'projects/press/tags.json', message: 'a value was empty and kept its default' }],
        files: { added: 1, changed: 3, removed: 0, unchanged: 412, bytes: 18_233 },
        projects: ['press', 'shared'],
      },
    },
  },
  {
    namespace: 'plant-north',
    name: 'utilities',
    status: usual(4),
    gateways: { 'north-boiler': {}, 'north-chiller': {}, 'north-compressor': {}, 'north-water': {} },
  },
  {
    namespace: 'plant-south',
    name: 'assembly',
    status: {
      ...usual(8),
      source: {
        ref: 'main',
        commit: refused,
        committedAt: '2026-03-01T11:40:00Z',
        checkedAt: '2026-03-01T11:59:50Z',
        held: 'CollectionsInvalid',
      },
      conditions: [condition('Ready', 'False', 'CollectionsInvalid', `commit d4e1b7f2 is not published: ${longPath}: is no JSON`)],
    },
    gateways: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`south-cell-${index + 1}`, {}])),
  },
  {
    namespace: 'plant-south',
    name: 'test-bench',
    status: {
      ...usual(2),
      gateways: counts({ total: 2, paused: 1, dryRun: 1 }),
      conditions: [condition('Ready', 'False', 'Paused', 'spec.paused is true')],
    },
    gateways: {
      'south-bench-1': { phase: 'Paused' },
      'south-bench-2': {
        phase: 'DryRun',
        dryRun: { added: 1, changed: 2, removed: 0, paths: ['projects/bench/code.py'], diff: '-TRIES = 1\n+TRIES = 3' },
      },
    },
  },
  {
    namespace: 'plant-west',
    name: 'warehouse',
    status: usual(5),
    gateways: Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`west-aisle-${index + 1}`, {}])),
  },
]

export const plantFacts: FleetFacts = fleetFacts({
  syncs: lines.map(({ namespace, name, status }) => ({ ...syncFacts(name, status), namespace })),
  pods: lines.flatMap(({ namespace, name, gateways }) => Object.keys(gateways).map((gateway) => ({ ...pod(gateway, name), namespace }))),
  reports: lines.flatMap(({ namespace, name, gateways }) =>
    Object.entries(gateways).map(([gateway, status]) => ({
      ...report(gateway, name, { commit: now, agentVersion: version, ...status }),
      namespace,
    })),
  ),
})

/** The GatewaySync whose page has content in every section. */
export const richSync = '/gatewaysyncs/plant-north/packaging'
export const richGateway = `${richSync}/gateways/north-press-2`
export const dryGateway = '/gatewaysyncs/plant-south/test-bench/gateways/south-bench-2'
export const richCommit = `${richSync}/commits/${now}`

/** The hosts' answers for these commits. */
export const plantCommits: Commits = {
  async summary(_sync, commit) {
    return {
      subject:
        { [now]: 'Raise the press timeout to 12 s', [before]: 'Release 4.2', [first]: 'Add the palletizer' }[commit] ??
        'Rename the MES connection',
      author: 'Line engineering',
    }
  },
  async changes() {
    return {
      total: 3,
      files: [
        {
          op: 'change',
          path: 'services/projects/press/ignition/script-python/timeouts/code.py',
          diff: '-PRESS_TIMEOUT = 8\n+PRESS_TIMEOUT = 12\n+PRESS_RETRIES = 2',
        },
        {
          op: 'change',
          path: 'services/config/resources/core/database-connection/mes/config.json',
          diff: '-  "connectTimeout": 5,\n-  "password": "(hidden)"\n+  "connectTimeout": 10,\n+  "password": "(hidden, changed)"',
        },
        { op: 'add', path: 'services/projects/press/images/press.png' },
      ],
    }
  },
}

/** The complete report of a gateway's agent. */
export function wholeOf(facts: FleetFacts, name: string): SyncReportStatus | undefined {
  const status = lines.flatMap(({ gateways }) => Object.entries(gateways)).find(([gateway]) => gateway === name)?.[1]
  const kept = facts.reports.find(({ pod: own }) => own === name)
  return status === undefined || kept === undefined || parseReport('', { phase: 'Synced', ...status }, wholeReport).malformed
    ? undefined
    : { phase: 'Synced', commit: now, ref: 'main', ...status }
}
