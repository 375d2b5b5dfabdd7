/**
 * How a command tells that it failed: what, why, and what to do next.
 */
import { Fault } from '../fault.ts'
import { nextStep } from './story/next-steps.ts'

/** Lines of standard error. A message about options or a file already says what to correct. */
export function printFault({ message, reason: own, cause }: Fault): void {
  // What was only put into words for its exit code is told by its first name.
  const reason = cause instanceof Fault && cause.message === message ? cause.reason : own
  const step = reason === 'InvalidConfiguration' ? undefined : nextStep(reason)
  const next = step === undefined ? '' : `  next: ${step}\n`
  process.stderr.write(`cluster-sync: ${message} (${reason})\n${next}`)
}
