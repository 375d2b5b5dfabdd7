/**
 * The commands that change one GatewaySync: `request`, `pause`, `resume`, `rollback`, and of a staged rollout `approve` and `abort`.
 */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { isRefName } from '../../gatewaysync/values.ts'
import { telling } from './exit.ts'
import { type ApproveOptions, type ChangeOptions, type RequestOptions, type RollbackOptions, withClusterOptions } from './options.ts'
import { durationArgument, examples, formatOption, standardOutput } from './output.ts'

const usualTimeout = '5m'
const exits = 'Exit 0: done, 1: not done, with the reason, 2: it cannot be asked'

export function register(program: Command): void {
  change(program, 'request', 'ask for a branch or tag, as a push does, and tell what became of it')
    .requiredOption('--ref <ref>', 'branch or tag that spec.git.allowedRefs permits', refName)
    .addHelpText('after', examples('request plant --ref v1.4.2 --wait'))
    .action((name: string, options: RequestOptions) =>
      telling(async () => await (await import('./change-command.ts')).requestCommand(name, options, standardOutput())),
    )
  change(program, 'pause', 'stop writing to the gateways of a GatewaySync; commits are fetched and checked all the same').action(
    (name: string, options: ChangeOptions) =>
      telling(async () => await (await import('./change-command.ts')).pauseCommand(name, true, options, standardOutput())),
  )
  change(program, 'resume', 'let the gateways of a paused GatewaySync go on, and a rollout that was stopped or rolled back').action(
    (name: string, options: ChangeOptions) =>
      telling(async () => await (await import('./change-command.ts')).pauseCommand(name, false, options, standardOutput())),
  )
  change(program, 'approve', 'let the stage of a rollout begin that waits for approval')
    .option('--stage <name>', 'another stage of spec.rollout, approved beforehand')
    .addHelpText('after', examples('approve plant', 'approve plant --stage line-2'))
    .action((name: string, options: ApproveOptions) =>
      telling(async () => await (await import('./change-command.ts')).approveCommand(name, options, standardOutput())),
    )
  change(program, 'abort', 'end a rollout: gateways that took its commit go back to the one before').action(
    (name: string, options: ChangeOptions) =>
      telling(async () => await (await import('./change-command.ts')).abortCommand(name, options, standardOutput())),
  )
  change(program, 'rollback', 'follow a commit that was published before, and stay there: sets spec.git.ref')
    .option(
      '--to <commit>',
      'a commit of the history, by 7 digits or more; or a branch or tag to follow (default: the one published before)',
      refName,
    )
    .addHelpText('after', examples('rollback plant --wait', 'rollback plant --to 1a2b3c4', 'rollback plant --to main'))
    .action((name: string, options: RollbackOptions) =>
      telling(async () => await (await import('./change-command.ts')).rollbackCommand(name, options, standardOutput())),
    )
}

function change(program: Command, name: string, description: string): Command {
  const command = program.command(name).description(`${description}. ${exits}`).argument('<name>', 'the GatewaySync')
  return withClusterOptions(command)
    .option('--wait', 'go on until every gateway runs the commit')
    .addOption(
      new Option('--timeout <duration>', 'give up waiting after so long')
        .argParser(durationArgument)
        .default(durationArgument(usualTimeout), usualTimeout),
    )
    .addOption(formatOption())
}

function refName(text: string): string {
  if (isRefName(text)) return text
  throw new InvalidArgumentError('must be the name of a branch, a tag or a commit that git accepts.')
}
