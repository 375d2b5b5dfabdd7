/**
 * Registers the commands that change one GatewaySync: `request`, `pause`, `resume`, `rollback`, and for staged rollouts `approve` and `abort`.
 */
import { type Command, InvalidArgumentError, Option } from 'commander'
import { helpFooter } from '../command.ts'
import { isRefName } from '../../api/values.ts'
import { type ApproveOptions, type ChangeOptions, type RequestOptions, type RollbackOptions, withClusterOptions } from './options.ts'
import { durationArgument, formatOption, standardOutput, exitWith } from '../output/output.ts'

const defaultTimeout = '5m'
const exits = { 0: 'done', 1: 'not done; the output shows the reason', 2: 'the cluster does not answer, or invalid options' }
const pages: Readonly<Record<string, string>> = {
  approve: 'docs/how-to/rollout.md',
  abort: 'docs/how-to/rollout.md',
  rollback: 'docs/how-to/rollback.md',
}
/** Commands after which there is no commit to wait for. */
const withoutCommit: ReadonlySet<string> = new Set(['pause', 'abort'])

export function register(program: Command): void {
  change(program, 'request', 'Request a branch or tag, as a push does', ['request plant --ref v1.4.2 --wait'])
    .requiredOption('--ref <ref>', 'branch or tag that spec.git.allowedRefs permits', refName)
    .action((name: string, options: RequestOptions) =>
      exitWith(async () => await (await import('./change-command.ts')).requestCommand(name, options, standardOutput())),
    )
  change(program, 'pause', 'Stop writing to the gateways of a GatewaySync; fetching and validation continue', ['pause plant']).action(
    (name: string, options: ChangeOptions) =>
      exitWith(async () => await (await import('./change-command.ts')).pauseCommand(name, true, options, standardOutput())),
  )
  change(program, 'resume', 'Resume a paused GatewaySync, or a rollout that was stopped or rolled back', ['resume plant --wait']).action(
    (name: string, options: ChangeOptions) =>
      exitWith(async () => await (await import('./change-command.ts')).pauseCommand(name, false, options, standardOutput())),
  )
  change(program, 'approve', 'Approve the next stage of a rollout', ['approve plant', 'approve plant --stage line-2'])
    .option('--stage <name>', 'approve a later stage of spec.rollout in advance')
    .action((name: string, options: ApproveOptions) =>
      exitWith(async () => await (await import('./change-command.ts')).approveCommand(name, options, standardOutput())),
    )
  change(program, 'abort', 'Abort a rollout and return its gateways to the previous commit', ['abort plant']).action(
    (name: string, options: ChangeOptions) =>
      exitWith(async () => await (await import('./change-command.ts')).abortCommand(name, options, standardOutput())),
  )
  change(program, 'rollback', 'Return to a previously published commit and stay there (sets spec.git.ref, or spec.oci.digest)', [
    'rollback plant --wait',
    'rollback plant --to 1a2b3c4',
    'rollback plant --to main',
  ])
    .option(
      '--to <commit>',
      'a commit of the history (7 digits or more), or a branch or tag to follow (default: the previously published commit)',
      refName,
    )
    .action((name: string, options: RollbackOptions) =>
      exitWith(async () => await (await import('./change-command.ts')).rollbackCommand(name, options, standardOutput())),
    )
}

function change(program: Command, name: string, description: string, calls: readonly string[]): Command {
  const command = withClusterOptions(program.command(name).description(description).argument('<name>', 'the GatewaySync'))
  if (!withoutCommit.has(name)) command.option('--wait', 'wait until every gateway runs the commit')
  return command
    .addOption(
      new Option('--timeout <duration>', 'maximum time to wait')
        .argParser(durationArgument)
        .default(durationArgument(defaultTimeout), defaultTimeout),
    )
    .addOption(formatOption())
    .addHelpText('after', helpFooter({ exits, calls, page: pages[name] ?? 'docs/how-to/fleet.md' }))
}

function refName(text: string): string {
  if (isRefName(text)) return text
  throw new InvalidArgumentError('must be the name of a branch, a tag or a commit that git accepts.')
}
