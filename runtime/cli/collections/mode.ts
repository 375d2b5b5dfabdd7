/**
 * `cluster-sync mode`: makes a deployment mode, and shows how two of them differ.
 */
import { type Command, Option } from 'commander'
import { nearestTo } from '../../edit-distance.ts'
import { Fault } from '../../fault.ts'
import { printable } from '../../gatewaysync/values.ts'
import { workSignal } from '../stop.ts'

type NewOptions = { path: string; root?: string; title?: string; from?: string }
type DiffOptions = { path: string; root?: string; ref?: string; format: 'text' | 'json' }

const timeoutMs = 600_000

export function register(program: Command): void {
  const mode = program.command('mode').description('deployment modes of resource collections')
  mode
    .command('new')
    .description('make a deployment mode that a gateway can be started with')
    .argument('<name>', 'name of the mode, which is also that of its folder')
    .option('--path <dir>', 'directory of the repository', '.')
    .option('--root <dir>', 'folder that holds the collections, below the path')
    .option('--title <title>', 'what the gateway shows (default: the name)')
    .option('--from <mode>', 'copy the resources and the parent of this mode')
    .action(async (name: string, options: NewOptions) => {
      const { newMode } = await import('./new-mode.ts')
      process.stdout.write(`${await newMode(name, options, workSignal(timeoutMs))}\n`)
    })
  mode
    .command('diff')
    .description('show what differs between gateways with two modes, down to the keys of JSON files; secrets are hidden')
    .argument('<a>', 'a mode, or core')
    .argument('<b>', 'another one')
    .option('--path <dir>', 'directory of the repository', '.')
    .option('--root <dir>', 'folder that holds the collections, below the path')
    .option('--ref <ref>', 'branch, tag or commit instead of the files of the directory')
    .addOption(new Option('--format <format>', 'how to print').choices(['text', 'json']).default('text'))
    .action(async (a: string, b: string, options: DiffOptions) => {
      const [{ openInput, oneRoot }, { diffModes, diffText }] = await Promise.all([
        import('./collections-input.ts'),
        import('./diff-modes.ts'),
      ])
      const signal = workSignal(timeoutMs)
      const input = await openInput(options.path, options.ref, signal)
      try {
        const root = oneRoot(input, options.root)
        const changes = await diffModes(input, root, [a, b], signal)
        process.stdout.write(`${options.format === 'json' ? JSON.stringify({ a, b, changes }, undefined, 2) : diffText(a, b, changes)}\n`)
      } finally {
        await input.close()
      }
    })
  // Without a subcommand commander would exit as if help had been asked for.
  mode.argument('[words...]').action((args: string[]) => {
    const known = mode.commands.map((command) => command.name())
    const [word] = args
    if (word === undefined) throw new Fault('InvalidConfiguration', `missing subcommand: ${known.join(' or ')}`)
    const meant = nearestTo(word, known)
    const hint = meant === undefined ? `known are ${known.join(' and ')}` : `did you mean "${meant}"?`
    throw new Fault('InvalidConfiguration', `unknown subcommand "${printable(word)}" of mode; ${hint}`)
  })
  for (const command of mode.commands) command.exitOverride().allowExcessArguments(false)
}
