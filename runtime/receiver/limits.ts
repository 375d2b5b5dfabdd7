/**
 * How much the receiver accepts: calls, failures, sizes of bodies, connections.
 */
import type { BodyLimits } from '../http/body.ts'
import type { LimitSettings } from '../http/limits.ts'

/** 500/s is ten times what the largest installation sends; twenty wrong calls in ten seconds are not a mistake. */
export const defaultLimits: LimitSettings = { perSecond: 500, failuresPerPeer: 20 }

/** Real deliveries stay far below: a megabyte of paths is 30,000 entries. */
export const bodyLimits = {
  maxBytes: 1024 * 1024,
  complexity: { depth: 64, keys: 20_000, containers: 20_000, entries: 100_000 },
} as const satisfies BodyLimits

/**
 * Bounds the memory that unauthenticated callers can occupy: a connection that waits for its turn holds one piece of 64 KiB. A receiver
 * answers 500 calls a second over far fewer connections.
 */
export const connectionBounds = { maxConnections: 512, readAheadBytes: 16 * 1024 } as const
