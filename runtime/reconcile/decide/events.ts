/**
 * Defines the GatewaySync events that have their own reason; all others use a condition's reason. docs/reference/operations.md lists them.
 * Pure.
 */
export type EventToRecord = { type: 'Normal' | 'Warning'; reason: string; note: string }

/** By reason; `when` is printed in docs/reference/operations.md. */
export const syncEvents = {
  Published: { type: 'Normal', when: 'a commit was published' },
  StageBegan: { type: 'Normal', when: 'a stage of a rollout is next' },
  StageApproved: { type: 'Normal', when: 'a stage of a rollout was approved' },
  RolledOut: { type: 'Normal', when: 'every stage of a rollout is done' },
  RolloutStopped: { type: 'Warning', when: 'a rollout failed or was aborted and goes no further' },
  RolledBack: { type: 'Warning', when: 'a rollout failed or was aborted, and gateways go back' },
  Captured: { type: 'Normal', when: 'what was changed on a gateway was pushed as a commit, or has a pull request' },
  CaptureRefused: { type: 'Warning', when: 'what was changed on a gateway was not pushed, or got no pull request; the note says why' },
  RequestRefused: { type: 'Warning', when: 'a request for a ref ended without being followed; the note says why' },
} as const

/** `note` is constant for one commit or request, so that equal events are counted. */
export function syncEvent(reason: keyof typeof syncEvents, note: string): EventToRecord {
  return { type: syncEvents[reason].type, reason, note }
}
