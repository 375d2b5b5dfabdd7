/**
 * The exit codes of the commands about a fleet: 0 yes, 1 no, 2 it cannot be said.
 */
import { Fault } from '../../fault.ts'
import { printFault } from '../print-fault.ts'

/** All is as it should be, or what was asked for is done. */
export const exitYes = 0
/** Something is not as it should be, or what was asked for was not done. */
export const exitNo = 1
/** Wrong options, no access, no answer: whether it is so, nobody knows. */
export const exitUnknown = 2

/** Sets the exit code that `work` returns; a Fault is one line on standard error. */
export async function telling(work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    printFault(error)
    process.exitCode = exitUnknown
  }
}
