/**
 * Registers `cluster-sync mode`: creates a deployment mode, and compares two of them.
 */
import { type Command, Option } from 'commander'
import { nearestTo } from '../../platform/text/edit-distance.ts'
import { Fault } from '../../platform/fault.ts'
import { printable } from '../../api/values.ts'
import { helpFooter } from '../command.ts'
import { workSignal } from '../stop.ts'
import { print, standardOutput } from '../output/output.ts'

type NewOptions = { path: string; root?: string; title?: string; from?: string }
type DiffOptions = { path: string; root?: string; ref?: string; format: 'text' | 'json' }

const timeoutMs = 600_000

export function register(program: Command): void {
  const mode = program.command('mode').description('Create and compare deployment modes')
  mode
    .command('new')
    .description('Create a deployment mode')
    .argument('<name>', 'name of the mode and of its folder')
    .option('--path <dir>', 'directory of the repository', '.')
    .option('--root <dir>', 'folder that contains the collections, below the path')
    .option('--title <title>', 'title in the gateway (default: the name)')
    .option('--from <mode>', 'copy the resources and the parent of this mode')
    .addHelpText('after', helpFooter({ exits: { 0: 'created', 2: 'nothing was created' } }))
    .action(async (name: string, options: NewOptions) => {
      const { newMode } = await import('./mode-command.ts')
      print(standardOutput(), [await newMode(name, options, workSignal(timeoutMs))])
    })
  mode
    .command('diff')
    .description('Compare two deployment modes, down to the keys of JSON files; secrets are hidden')
    .argument('<a>', 'a mode, or core')
    .argument('<b>', 'another mode, or core')
    .option('--path <dir>', 'directory of the repository', '.')
    .option('--root <dir>', 'folder that contains the collections, below the path')
    .option('--ref <ref>', 'branch, tag or commit instead of the files of the directory')
    .addOption(new Option('--format <format>', 'output format').choices(['text', 'json']).default('text'))
    .addHelpText('after', helpFooter({ exits: { 0: 'compared', 2: 'a mode, the directory or the ref does not exist' } }))
    .action(async (a: string, b: string, options: DiffOptions) => {
      const [{ openInput, oneRoot }, { diffModes, diffText }] = await Promise.all([
        import('./collections-input.ts'),
        import('./mode-command.ts'),
      ])
      const signal = workSignal(timeoutMs)
      const input = await openInput(options.path, options.ref, signal)
      try {
        const root = oneRoot(input, options.root)
        const changes = await diffModes(input, root, [a, b], signal)
        print(standardOutput(), [options.format === 'json' ? JSON.stringify({ a, b, changes }, undefined, 2) : diffText(a, b, changes)])
      } finally {
        await input.close()
      }
    })
  // Without a subcommand commander would exit as for help.
  mode.argument('[words...]').action((args: string[]) => {
    const known = mode.commands.map((command) => command.name())
    const [word] = args
    if (word === undefined) throw new Fault('InvalidConfiguration', `missing subcommand: ${known.join(' or ')}`)
    const meant = nearestTo(word, known)
    const hint = meant === undefined ? `the subcommands are ${known.join(' and ')}` : `did you mean "${meant}"?`
    throw new Fault('InvalidConfiguration', `unknown subcommand "${printable(word)}" of mode; ${hint}`)
  })
  for (const command of mode.commands) command.exitOverride().allowExcessArguments(false)
}
