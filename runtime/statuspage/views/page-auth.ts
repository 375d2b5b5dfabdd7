/**
 * The authenticated users of the page, and the part of the fleet that each sees. Pure.
 */
import type { Context, Hono } from 'hono'
import { fleetViewOf } from '../../fleet/fleet-view.ts'
import type { FleetView } from '../../fleet/view.ts'
import type { Action } from '../actions/action.ts'
import type { PageContext } from './page.ts'
import type { Texts } from '../locales/texts.ts'

/** The data that middleware attaches to a request. */
export type Env = { Variables: { person?: Person } }

/** How to render pages for the requesting user. */
export type PageRenderer = { contextOf(texts: Texts): PageContext; textsFor(context: Context): Texts }

/** A user, as Kubernetes identifies it. */
export type Person = { name: string; groups: readonly string[] }

export type SyncName = { namespace: string; name: string }

/** The actions of users. */
export type UserActions = {
  /** Whether the user may change a GatewaySync; the answer is cached for a short time. Throws ApiUnavailable if permissions cannot be read. */
  may(person: Person, sync: SyncName): Promise<boolean>
  /**
   * Checks the permission again, and writes the change in the name of the user. Throws Forbidden, TooManyRequests, NotFound, ApiUnavailable, and
   * InvalidConfiguration if the state of the GatewaySync does not allow the action.
   */
  act(person: Person, sync: SyncName, action: Action): Promise<void>
  /** Keys for form tokens, the same in every replica; the first one signs. Empty while there is none: then no action is possible. */
  formKeys(): Promise<readonly Uint8Array[]>
}

/** Authentication and authorization. */
export type PageAuth = {
  /** `header`: all values of a header, as Node reads it. Undefined: not authenticated. Never throws. */
  identify(header: (name: string) => readonly string[]): Promise<Person | undefined>
  /** The namespaces that the user may see. Throws ApiUnavailable if permissions cannot be read. */
  sees(person: Person, namespaces: readonly string[]): Promise<ReadonlySet<string>>
  /** Whether the user may see every namespace of the cluster, and so the fleets of other clusters. Throws as `sees`. Absent: no user. */
  seesAll?(person: Person): Promise<boolean>
  /** The pages of our login; undefined if a proxy authenticates users. */
  login?: { addTo(app: Hono<Env>, pages: PageRenderer): void } | undefined
  /** Undefined: the page is read-only. */
  actions?: UserActions | undefined
}

/** The part of a fleet in the given namespaces, evaluated as if there were no other. */
export function visiblePart({ at, syncs, notes, warnings }: FleetView, namespaces: ReadonlySet<string>): FleetView {
  const seen = syncs.filter(({ namespace }) => namespaces.has(namespace))
  return fleetViewOf(seen, { at, notes, warnings, seesNothing: seen.length === 0 && syncs.length > 0 })
}
