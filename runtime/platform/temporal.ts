/**
 * Provides Temporal on every supported Node: its own from Node 26 on, the polyfill before. Loaded only if missing, to save memory.
 */
import type { Temporal as Implementation } from 'temporal-polyfill'

const { Temporal: own } = globalThis as { Temporal?: typeof Implementation }

export const Temporal = own ?? (await import('temporal-polyfill')).Temporal

export declare namespace Temporal {
  export type Duration = Implementation.Duration
  export type DurationLike = Implementation.DurationLike
  export type Instant = Implementation.Instant
  export type PlainDate = Implementation.PlainDate
}
