/**
 * `cluster-sync completion`: the script by which a shell completes commands and options.
 */
import { Argument, type Command, type Option } from 'commander'
import type { CompletedCommand, CompletedOption, shells as Shells } from './completion-scripts.ts'

export function register(program: Command): void {
  const names = ['bash', 'zsh', 'fish'] satisfies (typeof Shells)[number][]
  program
    .command('completion')
    .description('print the script by which a shell completes commands and options')
    .addArgument(new Argument('<shell>').choices(names))
    .addHelpText('after', '\nTo try it in bash: source <(cluster-sync completion bash). The head of each script says how to keep it.')
    .action(async (shell: (typeof names)[number]) => {
      const { completionScripts } = await import('./completion-scripts.ts')
      process.stdout.write(completionScripts[shell](tableOf(program, '')))
    })
}

/** A command and all below it, as help shows them. */
function tableOf(command: Command, path: string): CompletedCommand[] {
  const help = command.createHelp()
  const below = help.visibleCommands(command)
  const row: CompletedCommand = {
    path,
    description: firstSentence(command.description()),
    commands: [
      ...below.map((one) => ({ name: one.name(), description: firstSentence(one.description()) })),
      ...command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices.map((name) => ({ name, description: '' }))),
    ],
    options: help.visibleOptions(command).map(completed),
  }
  return [row, ...below.flatMap((one) => tableOf(one, `${path}/${one.name()}`))]
}

function completed({ short, long, description, argChoices, required, optional }: Option): CompletedOption {
  const flags = [short, long].filter((flag) => flag !== undefined)
  return { flags, description: firstSentence(description), values: argChoices ?? (required || optional ? 'any' : 'none') }
}

/** Descriptions go on with exit codes, for which a list of choices has no room. */
function firstSentence(text: string): string {
  return text.split(/[.;] /, 1)[0] ?? ''
}
