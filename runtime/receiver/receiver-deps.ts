/**
 * Defines the receiver's collaborators. Pure: types.
 */
import type { Clock } from '../platform/clock.ts'
import type { LimitSettings } from '../http/limits.ts'
import type { Log } from '../platform/log/log.ts'
import type { Tracing } from '../telemetry/tracing/trace.ts'
import type { ReceiverOutcome, IgnoredReason } from './answers.ts'
import type { Event } from './payload/parts.ts'
import type { Keys } from './authenticate.ts'
import type { ReceiverTarget } from './request/choose-ref.ts'
import type { SyncIndex } from './request/sync-index.ts'
import type { Budget, RequestToWrite } from './request/write-queue.ts'

/**
 * `RefNotAllowed`: an authenticated call requests a ref that `allowedRefs` does not permit. `Unauthenticated`: a call was accepted without
 * authentication, because no key is configured. `AuthNotReady`: a call was rejected while a configured key cannot be read.
 */
export type ReceiverNotice = 'RefNotAllowed' | 'Unauthenticated' | 'AuthNotReady'

/** Collaborators of the receiver; the controller connects them to the API server. */
export type ReceiverDeps = {
  /** Returns the target; undefined if the GatewaySync does not exist. Throws ApiUnavailable while the cache is not synced. */
  lookup(namespace: string, name: string): ReceiverTarget | undefined
  /** The GatewaySyncs of a namespace. Throws ApiUnavailable while the cache is not synced. */
  syncs(namespace: string): SyncIndex
  /** The keys for a GatewaySync; for one that does not exist, those of the installation. */
  keys(namespace: string, name: string): Promise<Keys>
  /** How many more open requests a GatewaySync may have; absent: unlimited. Never throws. */
  freeSlots?(namespace: string, name: string): number
  /**
   * Writes all annotations in one patch, which also names the requests that it supersedes: open ones on the object, and `superseded`.
   * Throws NotFound, ApiUnavailable.
   */
  request(namespace: string, name: string, annotations: Record<string, string>, superseded: RequestToWrite['superseded']): Promise<void>
  /** Whether a request was refused, so that a redelivery of its call is a new request; absent: never. Never throws. */
  isRefused?(namespace: string, name: string, requestId: string): boolean
  /** Notifies the owner of the GatewaySync by an Event; equal notices are combined. */
  notify?(namespace: string, name: string, notice: ReceiverNotice): void
  /** `source`: the kind of event, if known; `reason`: why the call was ignored. */
  observe(outcome: ReceiverOutcome, source?: Event, reason?: IgnoredReason): void
  /** Called when a request is written: its trace begins here. */
  began?: Tracing['began']
  /** Proxies whose X-Forwarded-For is trusted: addresses or `address/prefix`. */
  trustedProxies?: readonly string[]
  limits?: Partial<LimitSettings>
  /** Bounds the writes to one GatewaySync. */
  budget?: Budget
  clock: Clock
  log: Log
}
