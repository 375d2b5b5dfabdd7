/**
 * What people read of a gateway besides its state. No decision needs it, so that whoever keeps the reports of a fleet keeps a bounded part. Pure.
 */
import type { SyncReportStatus } from '../schema/report.ts'
import { remarksOf } from './remarks.ts'

export type ToldOfGateway = Pick<SyncReportStatus, 'gateway' | 'profile' | 'finishedAt' | 'history' | 'drift' | 'designers' | 'changes'> & {
  /** Findings, local changes and complaints of the gateway, one sentence each. */
  remarks: string[]
}

/** How many remarks, paths of local changes and names of Designers are kept, how many characters of each, and whether lines that differ are. */
export type ToldBounds = { remarks: number; paths: number; characters: number; changes: boolean }

/** For whoever reads a fleet once. */
export const wholeReport: ToldBounds = {
  remarks: Number.POSITIVE_INFINITY,
  paths: Number.POSITIVE_INFINITY,
  characters: Number.POSITIVE_INFINITY,
  changes: true,
}

/** For whoever keeps the reports of a fleet: less than a kilobyte of a usual report, some three of the longest, which has hundreds. */
export const keptReport: ToldBounds = { remarks: 4, paths: 3, characters: 240, changes: false }

/**
 * What is left out is counted in a last remark, so that nobody takes the rest for all. A text is cut by dots: an ellipsis would make each of
 * its characters take two bytes.
 */
export function toldOf(status: SyncReportStatus, bounds: ToldBounds): ToldOfGateway {
  const { gateway, profile, finishedAt, history, drift, designers = [], changes } = status
  const all = remarksOf(status)
  const more = all.length - bounds.remarks
  const cut = (text: string): string => (text.length > bounds.characters ? `${text.slice(0, bounds.characters)}...` : text)
  const remarks = all.slice(0, bounds.remarks).map(cut)
  return {
    ...(gateway === undefined ? {} : { gateway }),
    ...(profile === undefined ? {} : { profile }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
    ...(history === undefined ? {} : { history }),
    ...(drift === undefined ? {} : { drift: { count: drift.count, paths: drift.paths.slice(0, bounds.paths).map(cut) } }),
    ...(changes === undefined || !bounds.changes ? {} : { changes }),
    // Most of the time there is none.
    ...(designers.length === 0 ? {} : { designers: designers.slice(0, bounds.paths).map(cut) }),
    remarks: more > 0 ? [...remarks, `and ${more} more in its SyncReport`] : remarks,
  }
}
