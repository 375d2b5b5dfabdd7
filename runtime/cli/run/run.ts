/**
 * Registers `cluster-sync run`: the standalone runner on the command line.
 */
import { realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '../../platform/clock.ts'
import { readStateHomes } from '../../settings/environment.ts'
import { Fault } from '../../platform/fault.ts'
import type { Target, TargetOptions } from '../../standalone/settings.ts'
import { readManifestFile, readNamedFile, requireFolder } from '../named-files.ts'
import type { Followed, RunOptions, RunSettings } from './run-settings.ts'
import { helpFooter, collect } from '../command.ts'
import { durationArgument } from '../output/output.ts'
import { logLevels } from '../../platform/log/level.ts'

type Options = TargetOptions & RunOptions & { state?: string }

/** A key is one line. */
const maxKeyFileBytes = 64 * 1024

const defaultTimeout = '5m'

export function register(program: Command): void {
  program
    .command('run')
    .description('Sync gateways on this machine, without Kubernetes')
    .requiredOption('-f, --file <file>', 'YAML file with one GatewaySync; its repository may be a local path')
    .option('--data <dir>', "the gateway's data directory (short form for one target)")
    .option('--gateway <url>', 'with --data: URL of the gateway')
    .option('--profile <name>', 'profile of spec.sync.profiles (default: "default")')
    .option('--target <name=…,data=…>', 'one gateway; also gateway=…, profile=…, mode=…, label=<key>:<value>; repeatable', collect, [])
    .option(
      '--state <dir>',
      'folder for requests, status, reports and mirrors (default: $STATE_DIRECTORY, for root /var/lib/cluster-sync, else $XDG_STATE_HOME/cluster-sync or ~/.local/state/cluster-sync)',
    )
    .option('--secrets <dir>', 'folder with the Secrets: <dir>/<name>/<key>')
    .option('--api-key-file <file>', "file with the gateways' API key, <name>:<secret>")
    .option('--once', 'sync once and exit')
    .addOption(
      new Option('--timeout <duration>', 'with --once: maximum time')
        .argParser(durationArgument)
        .default(durationArgument(defaultTimeout), defaultTimeout),
    )
    .option('--receiver-port <port>', 'serve the webhook receiver on this port', wholeNumber(0, 65_535))
    .option('--receiver-host <address>', 'address of the webhook receiver (default: all addresses if a key is set, otherwise localhost)')
    .option('--hmac-secret-file <file>', 'file with the HMAC secret of the webhook receiver')
    .option('--token-file <file>', 'file with the bearer token of the webhook receiver')
    .option('--status-port <port>', 'serve the status page on this port', wholeNumber(0, 65_535))
    .option('--status-host <address>', 'address of the status page, which has no login', 'localhost')
    .option('-v, --verbose', 'list changed files')
    .addOption(new Option('--format <format>', 'output format; json prints one event per line').choices(['text', 'json']).default('text'))
    .addOption(new Option('--log-level <level>', 'also write a log of this level and above to stderr').choices(logLevels))
    .addHelpText(
      'after',
      helpFooter({
        exits: {
          0: 'stopped, or with --once synced',
          1: 'with --once: not synced; the output shows the reason',
          2: 'invalid options or file',
        },
        calls: ['run -f gatewaysync.yaml --data /usr/local/bin/ignition/data --gateway http://localhost:8088'],
        note: 'Changes to the file apply immediately. Ctrl-C finishes the current step and exits.',
        page: 'docs/how-to/standalone.md',
      }),
    )
    .action(async (options: Options) => {
      // Loaded first: after a change of user, folders that only root can read may be unreadable.
      const { runCommand } = await import('./run-command.ts')
      process.exitCode = await runCommand(await settingsOf(options), systemClock)
    })
}

async function settingsOf(options: Options): Promise<RunSettings> {
  const { parseStandaloneSync, parseTargets } = await import('../../standalone/settings.ts')
  const cwd = process.cwd()
  const follow = (text: string): Followed => {
    const sync = parseStandaloneSync(text, options.file)
    if (sync.spec.capture?.enabled === true)
      throw new Fault(
        'InvalidConfiguration',
        `${options.file}: spec.capture works in a cluster only; use "cluster-sync capture", and set enabled: false here`,
      )
    const targets = parseTargets(options, sync, cwd)
    for (const { name, dataDir } of targets) requireFolder(dataDir, `target ${name}`)
    requireSeparate(targets)
    return { sync, targets }
  }
  const text = readManifestFile(options.file)
  const followed = follow(text)
  if (options.secrets !== undefined) requireFolder(path.resolve(cwd, options.secrets), '--secrets')
  const { hmacSecretFile, tokenFile, receiverHost } = options
  if (options.receiverPort === undefined && (hmacSecretFile ?? tokenFile ?? receiverHost) !== undefined) {
    throw new Fault('InvalidConfiguration', '--receiver-host, --hmac-secret-file and --token-file need --receiver-port')
  }
  if (options.once === true && options.statusPort !== undefined) {
    throw new Fault('InvalidConfiguration', '--status-port cannot be used with --once')
  }
  const stateDir = await prepareState(options.state === undefined ? undefined : path.resolve(cwd, options.state), followed.targets)
  requireKeys(options)
  return { ...options, ...followed, stateDir, text, follow }
}

/** Refuses two targets that are the same folder by a link or a mount, and a target inside another. Throws InvalidConfiguration. */
function requireSeparate(targets: readonly Target[]): void {
  const identityOf = (folder: string): string => {
    const { dev, ino } = statSync(folder)
    return `${dev} ${ino}`
  }
  const byIdentity = new Map<string, Target>()
  for (const target of targets) {
    const identity = identityOf(target.dataDir)
    const other = byIdentity.get(identity)
    if (other !== undefined)
      throw new Fault(
        'InvalidConfiguration',
        `targets ${other.name} and ${target.name} share a data directory, "${target.dataDir}" and "${other.dataDir}"`,
      )
    byIdentity.set(identity, target)
  }
  for (const { name, dataDir } of targets) {
    const real = realpathSync(dataDir)
    for (let above = path.dirname(real); ; above = path.dirname(above)) {
      const outer = byIdentity.get(identityOf(above))
      if (outer !== undefined)
        throw new Fault('InvalidConfiguration', `the data directory of target ${name} is inside that of target ${outer.name}: "${real}"`)
      if (above === path.dirname(above)) break
    }
  }
}

/** Prepares the state folder, and switches to the owner of the data directories if started as root; returns the folder. */
async function prepareState(named: string | undefined, targets: readonly Target[]): Promise<string> {
  const { become, requiredOwner } = await import('../../standalone/identity.ts')
  const { defaultStateFolder, prepareStateFolder } = await import('../../standalone/run-folders.ts')
  const dataDirs = targets.map(({ dataDir }) => realpathSync(dataDir))
  const owner = requiredOwner(dataDirs)
  const folder = named ?? defaultStateFolder(dataDirs[0] ?? '', readStateHomes(), process.geteuid?.() === 0)
  const stateDir = prepareStateFolder(folder, owner)
  if (owner !== undefined) become(owner)
  return stateDir
}

/** Keys are read again for each use; one that is missing at the start is a configuration error. */
function requireKeys({ hmacSecretFile, tokenFile, apiKeyFile }: Options): void {
  const named = { '--hmac-secret-file': hmacSecretFile, '--token-file': tokenFile, '--api-key-file': apiKeyFile }
  for (const [option, file] of Object.entries(named)) {
    if (file === undefined || readNamedFile(file, `${option}: ${file}`, maxKeyFileBytes).trim() !== '') continue
    throw new Fault('InvalidConfiguration', `${option}: ${file} is empty`)
  }
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^[0-9]{1,9}$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`)
  }
}
