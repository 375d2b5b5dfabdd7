/**
 * Defines the GatewaySync events that have their own reason; all others use a condition's reason. docs/reference/operations.md lists them.
 * Pure.
 */
export type EventToRecord = { type: 'Normal' | 'Warning'; reason: string; note: string }

/** By reason; `when` is printed in docs/reference/operations.md. */
export const syncEvents = {
  Published: { type: 'Normal', when: 'a commit was published' },
  StageBegan: { type: 'Normal', when: 'a rollout reached a stage, which has started or is waiting to start' },
  StageApproved: { type: 'Normal', when: 'a stage of a rollout was approved' },
  RolledOut: { type: 'Normal', when: 'every stage of a rollout is done' },
  RolloutStopped: { type: 'Warning', when: 'a rollout failed or was aborted, and is stopped' },
  RolledBack: { type: 'Warning', when: 'a rollout failed or was aborted, and gateways return to the previous commit' },
  Captured: { type: 'Normal', when: 'local changes of a gateway were pushed as a commit, or have a pull request' },
  CaptureRefused: { type: 'Warning', when: 'local changes of a gateway were not pushed, or got no pull request; the note has the reason' },
  RequestRefused: { type: 'Warning', when: 'a requested ref was not followed; the note has the reason' },
} as const

/** `note` is constant for one commit or request, so that equal events are counted. */
export function syncEvent(reason: keyof typeof syncEvents, note: string): EventToRecord {
  return { type: syncEvents[reason].type, reason, note }
}
