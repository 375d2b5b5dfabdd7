/**
 * `cluster-sync explain`: what a gateway with a mode would hold, and which collection each resource comes from; or what a rule is about.
 */
import { type Command, Option } from 'commander'
import { workSignal } from '../stop.ts'

type Options = { mode?: string; ref?: string; root?: string; format: 'text' | 'json' }

const timeoutMs = 600_000

export function register(program: Command): void {
  program
    .command('explain')
    .description(
      'explain a rule of lint; or, with --mode, show the resources that a gateway with a mode would hold, and which collection wins. Exit 1 when there is no such mode, or a gateway would not read it like that',
    )
    .argument('<rule-or-path>', 'a rule, as in "stale-signature"; or a directory, or the URL of a repository')
    .argument('[resource]', 'only this type, or type/name; the module may stand before it')
    .option('-m, --mode <mode>', 'deployment mode; "" is none')
    .option('--ref <ref>', 'branch, tag or commit instead of the files of the directory')
    .option('--root <dir>', 'folder that holds the collections, below the path')
    .addOption(new Option('--format <format>', 'how to print').choices(['text', 'json']).default('text'))
    .action(async (where: string, resource: string | undefined, options: Options) => {
      const { mode } = options
      if (mode === undefined) {
        const { explainRule } = await import('./explain-rule.ts')
        process.stdout.write(`${explainRule(where, options.format)}\n`)
        return
      }
      const [{ openInput, oneRoot }, { readTree }, { isUserMode }, { foldName }, { asJson, asText, doubtsOf, explain, modesOf }] =
        await Promise.all([
          import('./collections-input.ts'),
          import('../../collections/check/check.ts'),
          import('../../collections/model/inheritance.ts'),
          import('../../gatewaysync/values.ts'),
          import('./explain-mode.ts'),
        ])
      const signal = workSignal(timeoutMs)
      const input = await openInput(where, options.ref, signal)
      try {
        const root = oneRoot(input, options.root)
        const { facts } = await readTree(input.listing, { root, files: input.files }, signal)
        const effective = explain(facts.family, mode, resource)
        process.stdout.write(`${options.format === 'json' ? asJson(mode, facts.family, effective) : asText(effective)}\n`)
        const missing = mode !== '' && isUserMode(mode) && !facts.family.byName.has(foldName(mode))
        if (missing) {
          process.stderr.write(
            `cluster-sync: the mode "${mode}" has no folder in ${root}: nothing is overridden; ${modesOf(facts.family)} (mode-without-folder)\n`,
          )
        }
        const doubts = doubtsOf(facts, mode)
        for (const doubt of doubts) process.stderr.write(`cluster-sync: ${doubt}\n`)
        if (doubts.length > 0) process.stderr.write('  next: correct it; what a gateway makes of it is not what is shown\n')
        process.exitCode = missing || doubts.length > 0 ? 1 : 0
      } finally {
        await input.close()
      }
    })
}
