/**
 * Builds the commands of `cluster-sync`. Each is registered by its own file and loads its dependencies only when called.
 */
import { Command } from 'commander'
import { register as registerCapture } from '../folder/capture.ts'
import { register as registerDrift } from '../folder/drift.ts'
import { register as registerExplain } from '../collections/explain.ts'
import { register as registerLint } from '../collections/lint.ts'
import { register as registerMode } from '../collections/mode.ts'
import { register as registerPlan } from '../folder/plan.ts'
import { register as registerRun } from '../run/run.ts'
import { register as registerSign } from '../collections/sign.ts'
import { register as registerCheck } from '../check/check.ts'
import { register as registerChange } from '../fleet/change.ts'
import { register as registerHistory } from '../fleet/history.ts'
import { register as registerStatus } from '../fleet/status.ts'
import { register as registerTrigger } from '../trigger.ts'
import { writeError } from '../output/output.ts'
import { version } from '../../platform/version.ts'

/** In the order of the help text. */
const groups: Readonly<Record<string, readonly ((program: Command) => void)[]>> = {
  'Local (one machine, without Kubernetes):': [registerRun, registerPlan],
  'Cluster:': [registerStatus, registerHistory, registerChange, registerDrift, registerCapture, registerCheck, registerTrigger],
  'Repository:': [registerLint, registerExplain, registerMode, registerSign],
}

export function createProgram(): Command {
  const program = new Command('cluster-sync')
    .description('GitOps for Ignition gateways: validates each commit and applies it atomically.')
    .version(version, '-V, --version', 'print the version')
    .showSuggestionAfterError(true)
    .showHelpAfterError('  next: see --help')
    .configureOutput({ outputError: (text) => writeError(text.replace(/^error: /, 'cluster-sync: ')) })
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpCommand(new Command('help').argument('[command]').description('Show the help of a command').helpGroup('Other:'))
    .helpOption('-h, --help', 'show this help')
  for (const [heading, registers] of Object.entries(groups)) {
    program.commandsGroup(heading)
    for (const register of registers) register(program)
  }
  for (const command of program.commands) command.exitOverride().allowExcessArguments(false)
  return program
}
