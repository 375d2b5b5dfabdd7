/**
 * What the commands about a fleet are told.
 */
import type { ClusterOptions } from './cluster.ts'
import type { Format } from './output.ts'

export type StatusOptions = ClusterOptions & { allNamespaces?: true; state?: string; watch?: true; format: Format }

export type HistoryOptions = ClusterOptions & { state?: string; format: Format }

export type ChangeOptions = ClusterOptions & {
  /** Also until every gateway runs it. */
  wait?: true
  /** In ms. */
  timeout: number
  format: Format
}
export type RequestOptions = ChangeOptions & { ref: string }
export type RollbackOptions = ChangeOptions & { to?: string }
