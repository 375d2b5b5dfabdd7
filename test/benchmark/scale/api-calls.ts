/**
 * The API calls of a program, from the audit log of its own control plane.
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { ControlPlaneOptions } from '../../cluster/control-plane.ts'

export type CallLog = {
  /** Options for the observed control plane. */
  plane: ControlPlaneOptions
  /** A position in the log: later calls come after it. */
  mark(): number
  /** The number of calls by service accounts between two positions, by `verb resource`. */
  between(from: number, to: number): ReadonlyMap<string, number>
}

const policy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  // One line per call; for a watch, when it starts.
  omitStages: ['ResponseStarted', 'ResponseComplete', 'Panic'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
}

type AuditEvent = { verb: string; requestURI: string; objectRef?: { resource?: string; subresource?: string } }

export function logCalls(folder: string): CallLog {
  const [policyFile, log] = [path.join(folder, 'audit-policy.json'), path.join(folder, 'audit.log')]
  writeFileSync(policyFile, JSON.stringify(policy))
  writeFileSync(log, '')
  return {
    plane: {
      shared: false,
      apiServerArgs: [`--audit-policy-file=${policyFile}`, `--audit-log-path=${log}`, '--audit-log-maxsize=1000'],
    },
    mark: () => statSync(log).size,
    between(from, to) {
      const counts = new Map<string, number>()
      for (const line of readFileSync(log).subarray(from, to).toString('utf8').split('\n').filter(Boolean)) {
        const { verb, requestURI, objectRef } = JSON.parse(line) as AuditEvent
        const what = objectRef?.resource === undefined ? requestURI : [objectRef.resource, objectRef.subresource].filter(Boolean).join('/')
        const name = `${verb} ${what}`
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
      return counts
    },
  }
}
