/**
 * The command line `cluster-sync`. Each command is registered by its own file and loads what it needs only when it is called.
 * Exit codes: 0 done, 1 the command's own "no" (each help text says which), 2 usage or configuration.
 */
import { Command, CommanderError } from 'commander'
import { Fault } from './fault.ts'
import { register as registerCapture } from './cli/folder/capture.ts'
import { register as registerCompletion } from './cli/completion.ts'
import { register as registerDrift } from './cli/folder/drift.ts'
import { register as registerExplain } from './cli/collections/explain.ts'
import { register as registerLint } from './cli/collections/lint.ts'
import { register as registerMode } from './cli/collections/mode.ts'
import { register as registerPlan } from './cli/folder/plan.ts'
import { printFault } from './cli/print-fault.ts'
import { register as registerRun } from './cli/run/run.ts'
import { register as registerSign } from './cli/collections/sign.ts'
import { register as registerCheck } from './cli/check/check.ts'
import { register as registerChange } from './cli/fleet/change.ts'
import { register as registerHistory } from './cli/fleet/history.ts'
import { register as registerStatus } from './cli/fleet/status.ts'
import { endAsStopped, isStopped } from './cli/stop.ts'
import { register as registerTrigger } from './cli/trigger.ts'
import { version } from './version.ts'

const exitUsage = 2

const program = new Command('cluster-sync')
  .description("Brings each commit of a gateway configuration repository into each gateway's data directory, checked and crash-safe.")
  .version(version)
  .showSuggestionAfterError(true)
  .showHelpAfterError('  next: --help shows what can be given')
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'cluster-sync: ')) })
  .exitOverride()
  .configureHelp({ showGlobalOptions: true })

for (const register of [
  registerRun,
  registerPlan,
  registerDrift,
  registerCapture,
  registerLint,
  registerExplain,
  registerMode,
  registerSign,
  registerTrigger,
  registerStatus,
  registerHistory,
  registerChange,
  registerCheck,
  registerCompletion,
])
  register(program)
for (const command of program.commands) command.exitOverride().allowExcessArguments(false)

try {
  await program.parseAsync(process.argv)
} catch (error) {
  if (!isStopped()) process.exitCode = exitCodeOf(error)
}
endAsStopped()

/** commander has already printed its own message; a Fault is printed here, never with a stack. */
function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : exitUsage
  if (error instanceof Fault) {
    printFault(error)
    return error.reason === 'InvalidConfiguration' ? exitUsage : 1
  }
  process.stderr.write(`cluster-sync: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`)
  return 1
}
