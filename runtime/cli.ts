/**
 * Entry point of the CLI `cluster-sync`. Exit codes: 0 success, 1 the command's negative result (see its help text), 2 usage or configuration error.
 */
import { CommanderError } from 'commander'
import { Fault } from './platform/fault.ts'
import { createProgram } from './cli/program/program.ts'
import { endAsStopped, isStopped } from './cli/stop.ts'
import { printError, printFault } from './cli/output/output.ts'

const exitUsage = 2
/** 128 + SIGPIPE, as a shell reports it. */
const exitClosedPipe = 141

// Such as in `cluster-sync status --watch | head -1`.
for (const stream of [process.stdout, process.stderr]) if (stream.listenerCount('error') === 0) stream.on('error', endAtClosedPipe)

try {
  await createProgram().parseAsync(process.argv)
} catch (error) {
  if (!isStopped()) process.exitCode = exitCodeOf(error)
}
endAsStopped()

function endAtClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit(exitClosedPipe)
}

/** commander has already printed its own message; a Fault is printed here, never with a stack. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitUsage
  if (error instanceof Fault) {
    printFault(error)
    return error.reason === 'InvalidConfiguration' ? exitUsage : 1
  }
  printError(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
}
