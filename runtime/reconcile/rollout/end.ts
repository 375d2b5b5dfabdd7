/**
 * Ends a rollout: done, stopped, or rolled back. Pure.
 */
import { timestamp } from '../../platform/clock.ts'
import type { RolloutStatus } from '../../api/schema/rollout-status.ts'
import type { RolloutSpec } from '../../api/schema/spec.ts'
import { withCounts } from './counts.ts'
import type { RolloutFacts } from './facts.ts'

/** Every stage is done. */
export function done(rollout: RolloutStatus, facts: RolloutFacts): RolloutStatus {
  return finished(withCounts(rollout, facts), timestamp(facts.now))
}

/** Admits every gateway to the published commit and clears the rollout's restrictions. */
export function finished(rollout: RolloutStatus, at: string): RolloutStatus {
  const { previous: _previous, allowed: _allowed, stage: _stage, waitsFor: _waitsFor, ...others } = rollout
  const { progressAt: _progressAt, healthySince: _healthySince, excused: _excused, failures: _failures, ...kept } = others
  const { reason: _reason, message: _message, ...rest } = kept
  return { ...rest, state: 'Done', finishedAt: at }
}

/** Ends a rollout that failed or was aborted: rolls back if requested and possible, otherwise stops. */
export function stop(
  rollout: RolloutStatus,
  { reason, message }: { reason: 'RolloutFailed' | 'RolloutAborted'; message: string },
  { now, target }: RolloutFacts,
  how: RolloutSpec['onFailure'],
): RolloutStatus {
  const { waitsFor: _waitsFor, ...others } = rollout
  const { previous, commit } = rollout
  const ended = { ...others, reason, message: message.slice(0, 1024), finishedAt: timestamp(now) }
  // A configuration has no commit to go back to, and a commit of another repository can no longer be fetched.
  const canGoBack = previous !== undefined && previous.commit !== commit && previous.repo === target.version.repo
  if (how === 'Stop' || !canGoBack) return { ...ended, state: 'Stopped' }
  return { ...ended, state: 'RolledBack', commit: previous.commit, refused: target.version }
}
