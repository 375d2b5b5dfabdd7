/**
 * Defines the receiver's limits: calls, failures, body sizes, connections.
 */
import type { BodyLimits } from '../http/body.ts'
import type { LimitSettings } from '../http/limits.ts'

/** 500/s is ten times what the largest installation sends; twenty rejected calls in ten seconds are an attack, not a misconfiguration. */
export const defaultLimits: LimitSettings = { perSecond: 500, failuresPerPeer: 20 }

/** GitHub sends up to 25 MB. Without the lists of `isLeftOut` real deliveries stay far below a megabyte. */
export const bodyLimits = {
  maxBytes: 25 * 1024 * 1024,
  complexity: { depth: 64, keys: 20_000, containers: 20_000, entries: 100_000 },
} as const satisfies BodyLimits

/** Maximum bytes of a body in memory, without the lists of `isLeftOut`. */
export const maxHeldOfBody = 1024 * 1024

/**
 * Bounds the hashing cost of unauthenticated callers. `maxKeys`: keys tried per call. If they need more than `maxHashesOfLarge` hashes, the
 * signature of a body above `maxBytes` is invalid.
 */
export const hashLimits = { maxKeys: 64, maxHashesOfLarge: 4, maxBytes: 1024 * 1024 } as const

/** Unused members that make bodies large: the commits of a push, and the files of each commit. */
export function isLeftOut(name: string, level: number): boolean {
  return (level === 1 && (name === 'commits' || name === 'head_commit')) || name === 'added' || name === 'removed' || name === 'modified'
}

/**
 * Bounds the memory that unauthenticated callers can occupy: a waiting connection holds one piece of 64 KiB. A receiver answers 500 calls
 * per second over far fewer connections.
 */
export const connectionBounds = { maxConnections: 512, readAheadBytes: 16 * 1024 } as const

/**
 * Authenticated calls that wait for the API server at the same time. The other connections stay free for calls that are not authenticated
 * yet.
 */
export const maxWaitingCalls = connectionBounds.maxConnections * 0.75
