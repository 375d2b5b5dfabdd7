/**
 * Compares records before and after a change. Pure.
 */
import type { Annotations } from '../decide/request.ts'
import { type GatewaySyncRecord, type ReportRecord } from './records.ts'

/** The controller's own status writes come back through the watch and trigger no reconcile. */
export function isSameDesired(before: GatewaySyncRecord | undefined, after: GatewaySyncRecord): boolean {
  return before?.uid === after.uid && before.generation === after.generation && sameAnnotations(before.annotations, after.annotations)
}

export function decisive(report: ReportRecord | undefined): Partial<ReportRecord> {
  const { details: _, ...rest } = report ?? {}
  return rest
}

function sameAnnotations(a: Annotations, b: Annotations): boolean {
  const keys = Object.keys(a)
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key])
}

/** Kubernetes 1.35 made resource versions comparable as whole numbers; with etcd they always were. */
export function isNewer(a: string, b: string): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}
