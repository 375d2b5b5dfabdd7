/**
 * Runs the standalone runner until it is told to stop, or once, and tells on stdout what happened.
 */
import { pino } from 'pino'
import { type Clock, pause } from '../clock.ts'
import type { Fault } from '../fault.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { createLog, type Log } from '../log.ts'
import { consoleDestination } from '../log-console.ts'
import { connectionBounds } from '../receiver/limits.ts'
import { type Served, serve } from '../serve.ts'
import { lateOutcome, type Outcome, outcomeOf } from '../standalone/outcome.ts'
import { claimFolders } from '../standalone/claim.ts'
import { createProgress, type Progress } from '../standalone/progress.ts'
import { readSecret, readSecretFile } from '../standalone/secrets.ts'
import { version } from '../version.ts'
import type { RunSettings } from './run-settings.ts'
import { receiverOf } from './receiver.ts'
import { createStandalone, type Standalone, type StandaloneWatcher } from './standalone.ts'

/** Returns the exit code. Throws FolderLocked, StateUnreadable and InvalidConfiguration. */
export async function runCommand(settings: RunSettings, clock: Clock): Promise<number> {
  const destination = process.stderr.isTTY ? await consoleDestination(2) : pino.destination({ dest: 2, sync: true })
  const log = createLog({ level: settings.logLevel, destination })
  const stop = new AbortController()
  // On a terminal a signal may come twice, from the terminal and from the process that started this one.
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort(new Error(name)))
  const say = (line: string): void => void process.stdout.write(`${line}\n`)
  const narrator = createProgress(say, settings.targets)
  const claim = await claimFolders(clock, [...settings.targets.map(({ dataDir }) => dataDir), settings.stateDir], stop.signal)
  try {
    return await runClaimed(settings, { clock, log, narrator, say }, stop)
  } finally {
    claim.release()
  }
}

type RunDeps = { clock: Clock; log: Log; narrator: Progress; say(line: string): void }

/** One run, over folders that nobody else works in. Returns the exit code. */
async function runClaimed(settings: RunSettings, { clock, log, narrator, say }: RunDeps, stop: AbortController): Promise<number> {
  const reports = new Map<string, SyncReportStatus | undefined>(settings.targets.map(({ name }) => [name, undefined]))
  let outcome: Outcome = { kind: 'waiting' }
  let facts: { status: GatewaySyncStatus; fault: Fault | undefined; answered: boolean } = { status: {}, fault: undefined, answered: false }
  const look = (): void => {
    if (settings.once !== true || outcome.kind !== 'waiting') return
    outcome = outcomeOf({ ...facts, reports })
    if (outcome.kind !== 'waiting') stop.abort(new Error('done'))
  }
  const watcher: StandaloneWatcher = {
    status(status, fault, answered) {
      facts = { status, fault, answered }
      narrator.status(status, answered, fault)
      look()
    },
    failed(fault) {
      narrator.failed(fault)
      if (settings.once !== true || outcome.kind !== 'waiting') return
      outcome = { kind: 'failed', reason: fault.reason, message: fault.message }
      stop.abort(fault)
    },
    report(target, status) {
      if (status.finishedAt !== undefined && facts.answered) reports.set(target, status)
      narrator.report(target, status)
      look()
    },
  }
  const standalone = createStandalone(
    { ...settings, secretsDir: settings.secrets, version, sourceFirst: settings.once === true, apiKey: apiKeyOf(settings) },
    watcher,
    {
      clock,
      log,
    },
  )
  const served =
    settings.receiverPort === undefined
      ? undefined
      : await serveReceiver(standalone, settings, settings.receiverPort, { clock, log }, stop.signal)
  if (served !== undefined) say(`push receiver: POST ${served.url}/webhook/${settings.sync.namespace}/${settings.sync.name}`)
  const work = standalone.run(stop.signal).finally(() => stop.abort(new Error('the run has ended')))
  if (settings.once === true) {
    const giveUp = async (): Promise<void> => {
      await pause(clock, settings.timeout * 1000, stop.signal)
      if (outcome.kind === 'waiting' && !stop.signal.aborted) outcome = lateOutcome(facts.status, settings.timeout)
      stop.abort(new Error('late'))
    }
    await Promise.all([work, giveUp()])
    return tell(outcome)
  }
  await work
  await served?.closed
  return 0
}

async function serveReceiver(
  standalone: Standalone,
  { sync, secrets, hmacSecretFile, tokenFile }: RunSettings,
  port: number,
  deps: { clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<Served> {
  const { hmac, token } = sync.spec.webhook ?? {}
  const fromFile = (file: string, option: string) => () => readSecretFile(file, option)
  const fromSecret = (ref: { name: string; key: string }, path: string) => () => readSecret(secrets, ref, path)
  const own = hmac !== undefined || token !== undefined
  const keys = own
    ? {
        hmac: hmac === undefined ? undefined : fromSecret(hmac.secretRef, 'spec.webhook.hmac'),
        token: token === undefined ? undefined : fromSecret(token.secretRef, 'spec.webhook.token'),
      }
    : {
        hmac: hmacSecretFile === undefined ? undefined : fromFile(hmacSecretFile, '--hmac-secret-file'),
        token: tokenFile === undefined ? undefined : fromFile(tokenFile, '--token-file'),
      }
  if (keys.hmac === undefined && keys.token === undefined)
    deps.log.warn({}, 'the push receiver asks for no proof: anyone who reaches it may push')
  const app = receiverOf(standalone, { sync, ...keys }, deps)
  return await serve({ app, port, host: '::', bounds: connectionBounds, log: deps.log }, signal)
}

function tell(outcome: Outcome): number {
  if (outcome.kind === 'inPlace') return 0
  const text = outcome.kind === 'failed' ? `${outcome.message} (${outcome.reason})` : 'stopped before everything was in place'
  process.stderr.write(`cluster-sync: ${text}\n`)
  return 1
}

/** The file of the command line, else the Secret that the GatewaySync names, else none. */
function apiKeyOf({ apiKeyFile, secrets, sync }: RunSettings): () => Promise<string | undefined> {
  const { api } = sync.spec.gateway
  return async () => {
    if (apiKeyFile !== undefined) return await readSecretFile(apiKeyFile, '--api-key-file')
    if (api === undefined) return undefined
    return await readSecret(secrets, { name: api.secretName, key: api.secretKey }, 'spec.gateway.api')
  }
}
