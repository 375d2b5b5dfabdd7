/**
 * Who looks at the page, where that is asked, and what of a fleet they see. Pure.
 */
import type { Context, Hono } from 'hono'
import { fleetViewOf } from '../fleet/fleet-view.ts'
import type { FleetView } from '../fleet/view.ts'
import type { Action } from './actions/action.ts'
import type { PageContext } from './page.ts'
import type { Words } from './words.ts'

/** What middleware knows of a call. */
export type Env = { Variables: { person?: Person } }

/** How pages are made for whoever asks. */
export type PagesOf = { contextOf(words: Words): PageContext; wordsOf(context: Context): Words }

/** As Kubernetes knows somebody. */
export type Person = { name: string; groups: readonly string[] }

export type SyncKey = { namespace: string; name: string }

/** What people may do beside looking. */
export type Doing = {
  /** Whether somebody may change a GatewaySync; an answer holds for a short time. Throws ApiUnavailable where nobody can say. */
  may(person: Person, sync: SyncKey): Promise<boolean>
  /**
   * Asks whether they still may, and writes it in their name. Throws Forbidden, TooManyRequests, NotFound, ApiUnavailable, and
   * InvalidConfiguration where the GatewaySync is in no state for it.
   */
  act(person: Person, sync: SyncKey, action: Action): Promise<void>
  /** Keys that prove our own forms, the same in every replica; the first signs. Empty while there is none: then nothing can be done. */
  formKeys(): Promise<readonly Uint8Array[]>
}

/** How it is known who asks, and what they may see. */
export type People = {
  /** `header`: each value that a header came with, as Node reads it. Undefined: nobody that we believe. Never throws. */
  identify(header: (name: string) => readonly string[]): Promise<Person | undefined>
  /** Which of the namespaces somebody may see. Throws ApiUnavailable where nobody can say. */
  sees(person: Person, namespaces: readonly string[]): Promise<ReadonlySet<string>>
  /** The pages of a login of our own; undefined where a proxy asks people who they are. */
  login?: { addTo(app: Hono<Env>, pages: PagesOf): void } | undefined
  /** Undefined: the page only shows. */
  doing?: Doing | undefined
}

/** The part of a fleet that is in the given namespaces, judged as if there were no other. */
export function visiblePart({ at, syncs, notes, warnings }: FleetView, namespaces: ReadonlySet<string>): FleetView {
  const seen = syncs.filter(({ namespace }) => namespaces.has(namespace))
  return fleetViewOf(seen, { at, notes, warnings, seesNothing: seen.length === 0 && syncs.length > 0 })
}
