/**
 * Events of a GatewaySync with a reason of their own; all others use the reason of a condition. docs/operations.md prints them. Pure.
 */
export type EventToRecord = { type: 'Normal' | 'Warning'; reason: string; note: string }

/** By reason; `when` is the text in docs/operations.md. */
export const syncEvents = {
  Published: { type: 'Normal', when: 'a commit was published' },
  StageBegan: { type: 'Normal', when: 'a stage of a rollout is next' },
  StageApproved: { type: 'Normal', when: 'somebody approved a stage of a rollout' },
  RolledOut: { type: 'Normal', when: 'every stage of a rollout is done' },
  RolloutStopped: { type: 'Warning', when: 'a rollout failed or was aborted and goes no further' },
  RolledBack: { type: 'Warning', when: 'a rollout failed or was aborted, and gateways go back' },
  Captured: { type: 'Normal', when: 'what was changed on a gateway was pushed as a commit, or has a pull request' },
  CaptureRefused: { type: 'Warning', when: 'what was changed on a gateway was not pushed, or got no pull request; the note says why' },
  RequestRefused: { type: 'Warning', when: 'a request for a ref ended without being followed; the note says why' },
} as const

/** `note`: constant for one commit or request, so that equal events are counted. */
export function syncEvent(reason: keyof typeof syncEvents, note: string): EventToRecord {
  return { type: syncEvents[reason].type, reason, note }
}
