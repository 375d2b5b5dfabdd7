/**
 * Events of a GatewaySync that have a word of their own; all others have the reason of a condition. docs/operations.md prints them. Pure.
 */
export type EventToRecord = { type: 'Normal' | 'Warning'; reason: string; note: string }

export const syncEvents = {
  Published: { type: 'Normal', when: 'a commit was published' },
  RequestRefused: { type: 'Warning', when: 'a request for a ref ended without being followed; the note says why' },
} as const

/** `note`: constant for one commit or request, so that equal events are counted. */
export function syncEvent(reason: keyof typeof syncEvents, note: string): EventToRecord {
  return { type: syncEvents[reason].type, reason, note }
}
