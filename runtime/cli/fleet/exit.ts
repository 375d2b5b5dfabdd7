/**
 * The exit codes of the fleet commands, 0 yes, 1 no, 2 unknown, and how a command prints why it failed.
 */
import { Fault, type Reason } from '../../platform/fault.ts'
import { nextStep } from '../output/next-steps.ts'

/** Everything is in sync, or the requested change is done. */
export const exitYes = 0
/** Something is not in sync, or the requested change was not made. */
export const exitNo = 1
/** Wrong options, no access, or no answer: the state is unknown. */
export const exitUnknown = 2

/** Sets the exit code that `work` returns; prints a Fault as one line on standard error. */
export async function exitWith(work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    printFault(error)
    process.exitCode = exitUnknown
  }
}

/** Lines on standard error. */
export function printFault(fault: Fault): void {
  const { message, reason, next } = explained(fault)
  process.stderr.write(`cluster-sync: ${message} (${reason})\n${next === undefined ? '' : `  next: ${next}\n`}`)
}

/** A fault with the next step, which a message about options or a file already contains. */
export function explained({ message, reason: own, cause }: Fault): { message: string; reason: Reason; next: string | undefined } {
  // The original reason of a fault that was wrapped only for its exit code.
  const reason = cause instanceof Fault && cause.message === message ? cause.reason : own
  return { message, reason, next: reason === 'InvalidConfiguration' ? undefined : nextStep(reason) }
}
