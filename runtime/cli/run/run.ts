/**
 * `cluster-sync run`: the standalone runner on the command line.
 */
import { realpathSync } from 'node:fs'
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { systemClock } from '../../clock.ts'
import { readStateHomes } from '../../config.ts'
import { Fault } from '../../fault.ts'
import type { Target, TargetOptions } from '../../standalone/settings.ts'
import { readManifestFile, readNamedFile, requireFolder } from '../named-files.ts'
import { logLevels } from '../../log-level.ts'
import type { Followed, RunOptions, RunSettings } from './run-settings.ts'

type Options = TargetOptions & RunOptions & { state?: string }

/** A key is one line. */
const maxKeyFileBytes = 64 * 1024

export function register(program: Command): void {
  program
    .command('run')
    .description("keep gateways' data directories on this machine at the commits of one GatewaySync, without Kubernetes")
    .requiredOption('-f, --file <file>', 'YAML file with one GatewaySync; a path or file: repository is allowed')
    .option('--data <dir>', "the gateway's data directory (short form for one target)")
    .option('--gateway <url>', 'URL of the gateway to scan; belongs to --data')
    .option('--profile <name>', 'profile of spec.sync.profiles (default: "default")')
    .option('--target <name=…,data=…>', 'a target; further keys gateway=…, profile=…, mode=…, label=<key>:<value>; repeatable', collect, [])
    .option(
      '--state <dir>',
      'where requests, status, reports and mirrors are kept (default: $STATE_DIRECTORY, ~/.local/state/cluster-sync; of root /var/lib/cluster-sync)',
    )
    .option('--secrets <dir>', 'folder that stands for Secrets: <dir>/<name>/<key>')
    .option('--api-key-file <file>', "file with the gateways' API key, <name>:<secret>")
    .option('--once', 'sync once: exit 0 when everything is in place and scanned, 1 with the reason otherwise')
    .option('--timeout <seconds>', 'with --once: give up after so many seconds', wholeNumber(1, 86_400), 300)
    .option('--receiver-port <port>', 'serve the push receiver on this port', wholeNumber(0, 65_535))
    .option('--hmac-secret-file <file>', 'file with the HMAC secret of the push receiver')
    .option('--token-file <file>', 'file with the bearer token of the push receiver')
    .option('--status-port <port>', 'serve the status page on this port', wholeNumber(0, 65_535))
    .option('--status-host <address>', 'where the status page listens; anybody who reaches it may read it', 'localhost')
    .option('-v, --verbose', 'name the files that change')
    .addOption(
      new Option('--format <format>', 'text for people, json for programs: one event in each line')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addOption(new Option('--log-level <level>', 'write a log to stderr as well, from this level on').choices(logLevels))
    .addHelpText('after', '\nThe file is read again when it changes. Ctrl-C ends the run after what is under way. More: docs/standalone.md')
    .action(async (options: Options) => {
      // Loaded first: a run that goes on as another user may not be able to read every folder that root can.
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
        `${options.file}: spec.capture is of a cluster; on one machine use "cluster-sync capture", and set enabled: false here`,
      )
    const targets = parseTargets(options, sync, cwd)
    for (const { name, dataDir } of targets) requireFolder(dataDir, `target ${name}`)
    return { sync, targets }
  }
  const text = readManifestFile(options.file)
  const followed = follow(text)
  if (options.secrets !== undefined) requireFolder(path.resolve(cwd, options.secrets), '--secrets')
  if (options.receiverPort === undefined && (options.hmacSecretFile ?? options.tokenFile) !== undefined) {
    throw new Fault('InvalidConfiguration', '--hmac-secret-file and --token-file need --receiver-port')
  }
  if (options.once === true && options.statusPort !== undefined) {
    throw new Fault('InvalidConfiguration', '--status-port: a run with --once is over before anybody looks')
  }
  const stateDir = await settleIn(options.state === undefined ? undefined : path.resolve(cwd, options.state), followed.targets)
  requireKeys(options)
  return { ...options, ...followed, stateDir, text, follow }
}

/** Prepares the state folder, and becomes the owner of the data directories where root was asked to work in them; returns the folder. */
async function settleIn(named: string | undefined, targets: readonly Target[]): Promise<string> {
  const { become, requiredOwner } = await import('../../standalone/identity.ts')
  const { defaultStateFolder, prepareStateFolder } = await import('../../standalone/state-folder.ts')
  const dataDirs = targets.map(({ dataDir }) => realpathSync(dataDir))
  const owner = requiredOwner(dataDirs)
  const folder = named ?? defaultStateFolder(dataDirs[0] ?? '', readStateHomes(), process.geteuid?.() === 0)
  const stateDir = prepareStateFolder(folder, owner)
  if (owner !== undefined) become(owner)
  return stateDir
}

/** A key is read anew at each use; one that is not there at the start is a typing error. */
function requireKeys({ hmacSecretFile, tokenFile, apiKeyFile }: Options): void {
  const named = { '--hmac-secret-file': hmacSecretFile, '--token-file': tokenFile, '--api-key-file': apiKeyFile }
  for (const [option, file] of Object.entries(named)) {
    if (file === undefined || readNamedFile(file, `${option}: ${file}`, maxKeyFileBytes).trim() !== '') continue
    throw new Fault('InvalidConfiguration', `${option}: ${file} is empty`)
  }
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^[0-9]{1,9}$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`must be a whole number from ${min} to ${max}.`)
  }
}
