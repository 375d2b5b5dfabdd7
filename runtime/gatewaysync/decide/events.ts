/**
 * Events of a GatewaySync with a reason of their own; all others use the reason of a condition. docs/operations.md prints them. Pure.
 */
export type EventToRecord = { type: 'Normal' | 'Warning'; reason: string; note: string }

/** By reason; `when` is the text in docs/operations.md. */
export const syncEvents = {
  Published: { type: 'Normal', when: 'a commit was published' },
  RequestRefused: { type: 'Warning', when: 'a request for a ref ended without being followed; the note says why' },
} as const

/** `note`: constant for one commit or request, so that equal events are counted. */
export function syncEvent(reason: keyof typeof syncEvents, note: string): EventToRecord {
  return { type: syncEvents[reason].type, reason, note }
}
