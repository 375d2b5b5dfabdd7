/**
 * Runs the standalone runner until it is stopped, or once, and prints its events. When the GatewaySync file changes, the runner stops the work in
 * progress and restarts with the new file, on the same folders and state.
 */
import { pino } from 'pino'
import { type Clock, pause } from '../../platform/clock.ts'
import { asFault, type Fault, isAbort } from '../../platform/fault.ts'
import { redactUrls } from '../../platform/log/redact.ts'
import { followedRef } from '../../api/followed-ref.ts'
import type { SyncReportStatus } from '../../api/schema/report.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import type { LogLevel } from '../../platform/log/level.ts'
import { createLog, type Log, type LogFields } from '../../platform/log/log.ts'
import { consoleDestination } from '../../platform/log/console.ts'
import { lateOutcome, type Outcome, outcomeOf } from '../../standalone/outcome.ts'
import { readSecret, readSecretFile } from '../../standalone/secrets.ts'
import { version } from '../../platform/version.ts'
import { standardOutput, writeError } from '../output/output.ts'
import { readManifestFile } from '../named-files.ts'
import type { RunPage } from './run-page.ts'
import type { RunReceiver } from './run-receiver.ts'
import type { Followed, RunSettings } from './run-settings.ts'
import { nextVersion } from './spec-file.ts'
import { createStandalone, type Standalone, type StandaloneWatcher } from './standalone.ts'
import { Narrator, type Emitted, type RunEvent } from '../output/narrate.ts'
import { createRunOutput, type RunOutput } from '../output/print.ts'
import { type Claim, claimFolders } from '../../standalone/run-folders.ts'

/** Returns the exit code. Throws FolderLocked, StateUnreadable and InvalidConfiguration. */
export async function runCommand(settings: RunSettings, clock: Clock): Promise<number> {
  const output = openOutput(settings, clock)
  const log = settings.logLevel === undefined ? createNarratingLog(output.emit) : await openLog(settings.logLevel)
  const stop = new AbortController()
  // A signal may arrive twice, from the terminal and from the parent process.
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      if (!stop.signal.aborted) output.emit({ event: 'stopping' })
      stop.abort(new Error(name))
    })
  let claim: Claim | undefined
  try {
    claim = await claimFolders(clock, [...settings.targets.map(({ dataDir }) => dataDir), settings.stateDir], stop.signal)
    const deps = { clock, log, output }
    return settings.once === true ? await runOnce(settings, deps, stop) : await runOn(settings, deps, stop)
  } catch (error) {
    // Stopped while it waited for another process to release a folder.
    if (claim === undefined && isAbort(error, stop.signal)) return settings.once === true ? 1 : 0
    throw error
  } finally {
    claim?.release()
    output.end()
  }
}

type RunDeps = { clock: Clock; log: Log; output: RunOutput }

function openOutput({ format, once, verbose }: RunSettings, clock: Clock): RunOutput {
  const { style, isTerminal, write } = standardOutput()
  const timeZone = isTerminal ? Intl.DateTimeFormat().resolvedOptions().timeZone : undefined
  return createRunOutput(clock, {
    format,
    style: { ...style, timeZone, verbose: verbose === true },
    // Without color, lines are not overwritten either.
    isTerminal: isTerminal && style.color,
    splits: once === true && format === 'text',
    out: write,
    err: (text) => writeError(text, style),
  })
}

async function openLog(level: LogLevel): Promise<Log> {
  const destination = process.stderr.isTTY ? await consoleDestination(2) : pino.destination({ dest: 2, sync: true })
  return createLog({ level, destination })
}

/** Runs until it is stopped. Returns the exit code. */
async function runOn(settings: RunSettings, deps: RunDeps, stop: AbortController): Promise<number> {
  const { clock, output } = deps
  let followed: Followed = settings
  let { text } = settings
  let receiver: RunReceiver | undefined
  let page: RunPage | undefined
  const emitted: Emitted = { last: new Map(), remarks: new Map() }
  const changed = (): void => page?.changed()
  const read = (): string => readManifestFile(settings.file)
  while (!stop.signal.aborted) {
    const ended = new AbortController()
    const standalone = begin(settings, followed, deps, { status: changed, failed: changed, report: changed }, emitted)
    if (receiver !== undefined) receiver.follow(standalone, followed.sync)
    else if (settings.receiverPort !== undefined) {
      const { openRunReceiver } = await import('./run-receiver.ts')
      const first = { standalone, sync: followed.sync }
      receiver = await openRunReceiver(deps, { port: settings.receiverPort, first }, settings, stop.signal)
    }
    if (page !== undefined) page.follow(standalone)
    else if (settings.statusPort !== undefined) {
      const { openRunPage } = await import('./run-page.ts')
      const where = { port: settings.statusPort, host: settings.statusHost, receives: receiver !== undefined }
      page = await openRunPage(deps, { ...where, first: standalone }, stop.signal)
    }
    const signal = AbortSignal.any([stop.signal, ended.signal])
    const work = standalone.run(signal).finally(() => ended.abort(new Error('the run has ended')))
    const watched = { file: settings.file, text, read, follow: settings.follow }
    const next = await nextVersion({ clock, emit: output.emit }, watched, signal).finally(() => ended.abort(new Error('changed')))
    try {
      await work
    } catch (error) {
      // A failed run also stops the receiver: accepting pushes without syncing would be worse than none.
      stop.abort(error)
      throw error
    }
    if (next === undefined) break
    ;({ followed, text } = next)
  }
  stop.abort(new Error('the run has ended'))
  await Promise.all([receiver?.closed, page?.closed])
  return 0
}

/** Starts the runner for one version of the file, and prints what it follows. */
function begin(
  settings: RunSettings,
  { sync, targets }: Followed,
  { clock, log, output }: RunDeps,
  also: RunWatcher,
  emitted: Emitted = { last: new Map(), remarks: new Map() },
): Standalone {
  const { git } = sync.spec
  output.emit({ event: 'following', repo: redactUrls(git.repo, 2_048), ref: followedRef(git), targets: targets.map(({ name }) => name) })
  const narrator = new Narrator(output.emit, targets, (commit) => standalone.about(commit), emitted)
  let published: string | undefined
  const watcher: StandaloneWatcher = {
    status(status, fault, answered) {
      published = fault === undefined && answered ? status.published?.commit : undefined
      narrator.status(status, answered, fault)
      also.status(status, fault, answered)
    },
    failed(fault) {
      narrator.failed(fault)
      also.failed(fault)
    },
    report(target, status, cycle) {
      narrator.report(target, status, cycle)
      also.report(target, status)
    },
    named(ref, commit) {
      if (commit === published) output.emit({ event: 'unchanged', ref, commit })
    },
    progress: (target, done, total) => output.emit({ event: 'progress', target, done, total }),
  }
  const { stateDir, secrets, once } = settings
  const standalone = createStandalone(
    { sync, targets, stateDir, secretsDir: secrets, version, sourceFirst: once === true, apiKey: apiKeyOf(settings, sync) },
    watcher,
    { clock, log },
  )
  return standalone
}

type RunWatcher = {
  status(status: GatewaySyncStatus, fault: Fault | undefined, answered: boolean): void
  failed(fault: Fault): void
  report(target: string, status: SyncReportStatus): void
}

/** Runs until everything is applied, or failed. Returns the exit code. */
async function runOnce(settings: RunSettings, deps: RunDeps, stop: AbortController): Promise<number> {
  const { clock, output } = deps
  const reports = new Map<string, SyncReportStatus | undefined>(settings.targets.map(({ name }) => [name, undefined]))
  let outcome: Outcome = { kind: 'waiting' }
  let facts: { status: GatewaySyncStatus; fault: Fault | undefined; answered: boolean } = { status: {}, fault: undefined, answered: false }
  const poll = (): void => {
    if (outcome.kind !== 'waiting') return
    outcome = outcomeOf({ ...facts, reports })
    if (outcome.kind !== 'waiting') stop.abort(new Error('done'))
  }
  const standalone = begin(settings, settings, deps, {
    status(status, fault, answered) {
      facts = { status, fault, answered }
      poll()
    },
    failed(fault) {
      if (outcome.kind !== 'waiting') return
      outcome = { kind: 'failed', reason: fault.reason, message: fault.message }
      stop.abort(fault)
    },
    report(target, status) {
      if (status.finishedAt !== undefined && facts.answered) reports.set(target, status)
      poll()
    },
  })
  if (settings.receiverPort !== undefined) {
    const { openRunReceiver } = await import('./run-receiver.ts')
    const first = { standalone, sync: settings.sync }
    await openRunReceiver(deps, { port: settings.receiverPort, first }, settings, stop.signal)
  }
  const work = standalone.run(stop.signal).finally(() => stop.abort(new Error('the run has ended')))
  const giveUp = async (): Promise<void> => {
    await pause(clock, settings.timeout, stop.signal)
    if (outcome.kind === 'waiting' && !stop.signal.aborted) outcome = lateOutcome(facts.status, settings.timeout)
    stop.abort(new Error('late'))
  }
  await Promise.all([work, giveUp()])
  return conclude(outcome, output)
}

/** Prints each failure once: one that is in the output already is not repeated. */
function conclude(outcome: Outcome, output: RunOutput): number {
  if (outcome.kind === 'inPlace') return 0
  const { reason, message } =
    outcome.kind === 'failed' ? outcome : { reason: 'Interrupted', message: 'stopped before everything was in place' }
  if (!output.hasFailed()) output.emit({ event: 'gaveUp', reason, message })
  return 1
}

/** The API key file of the command line, otherwise the Secret of the GatewaySync, otherwise none. */
function apiKeyOf({ apiKeyFile, secrets }: RunSettings, sync: Followed['sync']): () => Promise<string | undefined> {
  const { api } = sync.spec.gateway
  return async () => {
    if (apiKeyFile !== undefined) return await readSecretFile(apiKeyFile, '--api-key-file')
    if (api === undefined) return undefined
    return await readSecret(secrets, { name: api.secretName, key: api.secretKey }, 'spec.gateway.api')
  }
}

/** Creates a log whose entries become events; entries that do not concern users are dropped. `narrate.ts` reports those with an event. */
function createNarratingLog(emit: (event: RunEvent) => void): Log {
  const note = (fields: LogFields, message: string): void => {
    if (fields.hasEvent === true) return
    const detail = fields.message ?? (fields.err === undefined ? undefined : asFault(fields.err).message)
    const about = fields.gateway === undefined ? '' : `${fields.gateway}: `
    const why = detail === undefined ? '' : `: ${detail}`
    emit({ event: 'note', message: `${about}${message}${why}${fields.reason === undefined ? '' : ` (${fields.reason})`}` })
  }
  const log: Log = {
    debug() {},
    info() {},
    warn: note,
    error: note,
    child: (fields) => ({
      debug() {},
      info() {},
      warn: (more, message) => note({ ...fields, ...more }, message),
      error: (more, message) => note({ ...fields, ...more }, message),
      child: (more) => log.child({ ...fields, ...more }),
    }),
  }
  return log
}
