/**
 * Runs the standalone runner until it is told to stop, or once, and tells what happens. A changed file with the GatewaySync is followed from
 * then on: the runner ends what is under way and begins anew with what the file says, over the same folders and the same state.
 */
import { pino } from 'pino'
import { type Clock, pause } from '../../clock.ts'
import { type Fault, isAbort } from '../../fault.ts'
import { redactUrls } from '../../redact.ts'
import type { SyncReportStatus } from '../../gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../../gatewaysync/schema/status.ts'
import { createLog, type Log } from '../../log.ts'
import { consoleDestination } from '../../log-console.ts'
import type { LogLevel } from '../../log-level.ts'
import { lateOutcome, type Outcome, outcomeOf } from '../../standalone/outcome.ts'
import { type Claim, claimFolders } from '../../standalone/claim.ts'
import { readSecret, readSecretFile } from '../../standalone/secrets.ts'
import { version } from '../../version.ts'
import { standardOutput } from '../fleet/output.ts'
import { readManifestFile } from '../named-files.ts'
import { openRunPage, type RunPage } from './run-page.ts'
import { openRunReceiver, type RunReceiver } from './run-receiver.ts'
import type { Followed, RunSettings } from './run-settings.ts'
import { nextVersion } from './spec-file.ts'
import { createStandalone, type Standalone, type StandaloneWatcher } from './standalone.ts'
import { createNarratingLog } from '../story/narrating-log.ts'
import { createNarrator, type Told } from '../story/narrate.ts'
import { createStory, type Story } from '../story/tell.ts'

/** Returns the exit code. Throws FolderLocked, StateUnreadable and InvalidConfiguration. */
export async function runCommand(settings: RunSettings, clock: Clock): Promise<number> {
  const story = openStory(settings, clock)
  const log = settings.logLevel === undefined ? createNarratingLog(story.tell) : await openLog(settings.logLevel)
  const stop = new AbortController()
  // On a terminal a signal may come twice, from the terminal and from the process that started this one.
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      if (!stop.signal.aborted) story.tell({ event: 'stopping' })
      stop.abort(new Error(name))
    })
  let claim: Claim | undefined
  try {
    claim = await claimFolders(clock, [...settings.targets.map(({ dataDir }) => dataDir), settings.stateDir], stop.signal)
    const deps = { clock, log, story }
    return settings.once === true ? await runOnce(settings, deps, stop) : await runOn(settings, deps, stop)
  } catch (error) {
    // While it waits for another process to leave a folder.
    if (claim === undefined && isAbort(error, stop.signal)) return settings.once === true ? 1 : 0
    throw error
  } finally {
    claim?.release()
    story.end()
  }
}

type RunDeps = { clock: Clock; log: Log; story: Story }

function openStory({ format, once, verbose }: RunSettings, clock: Clock): Story {
  const { style, isTerminal, write } = standardOutput()
  const timeZone = isTerminal ? Intl.DateTimeFormat().resolvedOptions().timeZone : undefined
  return createStory(clock, {
    format,
    style: { ...style, timeZone, verbose: verbose === true },
    // Where nobody wants colour, nobody wants lines that are written over.
    isTerminal: isTerminal && style.colour,
    splits: once === true && format === 'text',
    out: write,
    err: (text) => void process.stderr.write(text),
  })
}

async function openLog(level: LogLevel): Promise<Log> {
  const destination = process.stderr.isTTY ? await consoleDestination(2) : pino.destination({ dest: 2, sync: true })
  return createLog({ level, destination })
}

/** Until it is told to stop. Returns the exit code. */
async function runOn(settings: RunSettings, deps: RunDeps, stop: AbortController): Promise<number> {
  const { clock, story } = deps
  let followed: Followed = settings
  let { text } = settings
  let receiver: RunReceiver | undefined
  let page: RunPage | undefined
  const told: Told = { last: new Map(), remarks: new Map() }
  const changed = (): void => page?.changed()
  const read = (): string => readManifestFile(settings.file)
  while (!stop.signal.aborted) {
    const ended = new AbortController()
    const standalone = begin(settings, followed, deps, { status: changed, failed: changed, report: changed }, told)
    if (receiver !== undefined) receiver.follow(standalone, followed.sync)
    else if (settings.receiverPort !== undefined) {
      const first = { standalone, sync: followed.sync }
      receiver = await openRunReceiver(deps, { port: settings.receiverPort, first }, settings, stop.signal)
    }
    if (page !== undefined) page.follow(standalone)
    else if (settings.statusPort !== undefined) {
      const where = { port: settings.statusPort, host: settings.statusHost }
      page = await openRunPage(deps, { ...where, first: standalone }, stop.signal)
    }
    const signal = AbortSignal.any([stop.signal, ended.signal])
    const work = standalone.run(signal).finally(() => ended.abort(new Error('the run has ended')))
    const watched = { file: settings.file, text, read, follow: settings.follow }
    const next = await nextVersion({ clock, tell: story.tell }, watched, signal).finally(() => ended.abort(new Error('changed')))
    try {
      await work
    } catch (error) {
      // What ends the run ends the receiver too: one that answers pushes and syncs nothing would be worse than none.
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

/** Makes the runner of one version of the file, and tells what is followed. */
function begin(
  settings: RunSettings,
  { sync, targets }: Followed,
  { clock, log, story }: RunDeps,
  also: RunWatcher,
  told: Told = { last: new Map(), remarks: new Map() },
): Standalone {
  const { git } = sync.spec
  story.tell({ event: 'following', repo: redactUrls(git.repo, 2_048), ref: git.ref, targets: targets.map(({ name }) => name) })
  const narrator = createNarrator(story.tell, targets, (commit) => standalone.about(commit), told)
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
      if (commit === published) story.tell({ event: 'unchanged', ref, commit })
    },
    progress: (target, done, total) => story.tell({ event: 'progress', target, done, total }),
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

/** Until everything is in place, or cannot be. Returns the exit code. */
async function runOnce(settings: RunSettings, deps: RunDeps, stop: AbortController): Promise<number> {
  const { clock, story } = deps
  const reports = new Map<string, SyncReportStatus | undefined>(settings.targets.map(({ name }) => [name, undefined]))
  let outcome: Outcome = { kind: 'waiting' }
  let facts: { status: GatewaySyncStatus; fault: Fault | undefined; answered: boolean } = { status: {}, fault: undefined, answered: false }
  const look = (): void => {
    if (outcome.kind !== 'waiting') return
    outcome = outcomeOf({ ...facts, reports })
    if (outcome.kind !== 'waiting') stop.abort(new Error('done'))
  }
  const standalone = begin(settings, settings, deps, {
    status(status, fault, answered) {
      facts = { status, fault, answered }
      look()
    },
    failed(fault) {
      if (outcome.kind !== 'waiting') return
      outcome = { kind: 'failed', reason: fault.reason, message: fault.message }
      stop.abort(fault)
    },
    report(target, status) {
      if (status.finishedAt !== undefined && facts.answered) reports.set(target, status)
      look()
    },
  })
  if (settings.receiverPort !== undefined) {
    const first = { standalone, sync: settings.sync }
    await openRunReceiver(deps, { port: settings.receiverPort, first }, settings, stop.signal)
  }
  const work = standalone.run(stop.signal).finally(() => stop.abort(new Error('the run has ended')))
  const giveUp = async (): Promise<void> => {
    await pause(clock, settings.timeout * 1000, stop.signal)
    if (outcome.kind === 'waiting' && !stop.signal.aborted) outcome = lateOutcome(facts.status, settings.timeout)
    stop.abort(new Error('late'))
  }
  await Promise.all([work, giveUp()])
  return conclude(outcome, story)
}

/** Every failure is told once: one that the story holds already is not repeated. */
function conclude(outcome: Outcome, story: Story): number {
  if (outcome.kind === 'inPlace') return 0
  const { reason, message } =
    outcome.kind === 'failed' ? outcome : { reason: 'Interrupted', message: 'stopped before everything was in place' }
  if (!story.hasFailed()) story.tell({ event: 'gaveUp', reason, message })
  return 1
}

/** The file of the command line, else the Secret that the GatewaySync names, else none. */
function apiKeyOf({ apiKeyFile, secrets }: RunSettings, sync: Followed['sync']): () => Promise<string | undefined> {
  const { api } = sync.spec.gateway
  return async () => {
    if (apiKeyFile !== undefined) return await readSecretFile(apiKeyFile, '--api-key-file')
    if (api === undefined) return undefined
    return await readSecret(secrets, { name: api.secretName, key: api.secretKey }, 'spec.gateway.api')
  }
}
