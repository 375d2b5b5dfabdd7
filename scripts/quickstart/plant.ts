/**
 * The steps of the quickstart: a repository, two gateways, a runner with a webhook receiver, and the effect of each push.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { styleText } from 'node:util'
import { parse, stringify } from 'yaml'
import { makePlantRepository } from '../../examples/plant.ts'
import { startSimulator } from '../../examples/simulator/simulator.ts'
import { openRunPage, type RunPage } from '../../runtime/cli/run/run-page.ts'
import { standardOutput } from '../../runtime/cli/output/output.ts'
import { createStandalone, type Standalone } from '../../runtime/cli/run/standalone.ts'
import { Narrator, type RunEvent } from '../../runtime/cli/output/narrate.ts'
import { renderEvent } from '../../runtime/cli/output/render.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import { receiverOf } from '../../runtime/cli/run/run-receiver.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { serve } from '../../runtime/http/serve.ts'
import { parseStandaloneSync, parseTargets } from '../../runtime/standalone/settings.ts'
import { version } from '../../runtime/platform/version.ts'
import { differences, type Placed } from './check.ts'

type Options = { folder: string; once: boolean; say: (color: Parameters<typeof styleText>[0], line: string) => void }

const settingsFile = 'examples/plant/gatewaysync.yaml'
const modes = ['dev', 'prod'] as const
const token = 'quickstart-token'
const preferredPort = 9444
const preferredPagePort = 9445
/** A first sync takes well under a second; a slow machine gets this long. */
const patienceMs = 60_000

/** The plant while it runs. */
type Plant = {
  repository: Awaited<ReturnType<typeof makePlantRepository>>
  gateways: readonly Awaited<ReturnType<typeof startGateway>>[]
  /** The address of the webhook receiver. */
  hook: string
  /** Settles when every gateway holds the commit. */
  inPlace(commit: string): Promise<void>
}

export async function startQuickstart(options: Options, stop: AbortController): Promise<void> {
  const { folder, once, say } = options
  say('bold', 'Cluster Sync Operator: one plant, two gateways, one GatewaySync')
  const repository = await makePlantRepository(path.join(folder, 'repository'))
  const gateways = await Promise.all(modes.map(async (mode) => startGateway(folder, mode)))
  const file = path.join(folder, 'gatewaysync.yaml')
  writeFileSync(file, manifest(repository.url))
  const sync = parseStandaloneSync(readFileSync(file, 'utf8'), file)
  const target = gateways.map(({ mode, dataDir, simulator }) => `name=gw-${mode},data=${dataDir},gateway=${simulator.url},mode=${mode}`)
  const targets = parseTargets({ target, data: undefined, gateway: undefined, profile: undefined }, sync, folder)
  const reports = new Map<string, SyncReportStatus>()
  const { standalone, page } = await openRunner({ folder, sync, targets, reports }, stop.signal)
  const work = standalone.run(stop.signal)
  const app = receiverOf(standalone, { sync, token: async () => token, hmac: undefined }, { clock: systemClock, log: silentLog })
  const server = await listen(app, stop.signal)
  const hook = `${server.url}/webhook/${sync.namespace}/${sync.name}`
  const inPlace = async (commit: string): Promise<void> => {
    await until(
      () => targets.every(({ name }) => isSynced(reports.get(name), commit)),
      stop.signal,
      () => [...reports.entries()],
    )
    for (const { mode, dataDir } of gateways) {
      const wrong = differences({ repository: repository.folder, commit, dataDir, placed: placed(mode) })
      if (wrong.length > 0) throw new Error(`gw-${mode} does not hold commit ${commit}: ${wrong.slice(0, 3).join('; ')}`)
    }
  }
  const plant = { repository, gateways, hook, inPlace }
  try {
    await inPlace(repository.head)
    if (once) return await pushOnce(plant, say)
    explain(plant, say)
    await work
  } finally {
    stop.abort(new Error('done'))
    await Promise.all([work, server.closed, page.closed])
    await Promise.all(gateways.map(async ({ simulator }) => simulator.stop()))
  }
}

type Runner = {
  folder: string
  sync: ReturnType<typeof parseStandaloneSync>
  targets: ReturnType<typeof parseTargets>
  /** Filled with the latest report of each gateway. */
  reports: Map<string, SyncReportStatus>
}

/** Opens the standalone runner, which prints its events, and its status page. */
async function openRunner(
  { folder, sync, targets, reports }: Runner,
  signal: AbortSignal,
): Promise<{ standalone: Standalone; page: RunPage }> {
  const { style, write } = standardOutput()
  const eventStyle = { ...style, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, verbose: false }
  const emit = (event: RunEvent): void =>
    write(
      renderEvent(event, systemClock.now(), eventStyle)
        .map((line) => `  ${line}\n`)
        .join(''),
    )
  const narrator = new Narrator(emit, targets, (commit) => standalone.about(commit))
  let page: RunPage | undefined
  const settings = { sync, targets, stateDir: path.join(folder, 'state'), secretsDir: undefined, version, sourceFirst: false }
  const standalone = createStandalone(
    { ...settings, apiKey: async () => undefined },
    {
      status(status, fault, answered) {
        narrator.status(status, answered, fault)
        page?.changed()
      },
      failed(fault) {
        narrator.failed(fault)
        page?.changed()
      },
      report(name, status, cycle) {
        reports.set(name, status)
        narrator.report(name, status, cycle)
        page?.changed()
      },
    },
    { clock: systemClock, log: silentLog },
  )
  page = await openPage(standalone, emit, signal)
  return { standalone, page }
}

/** Pushes one commit and measures how long it takes. */
async function pushOnce({ repository, gateways, hook, inPlace }: Plant, say: Options['say']): Promise<void> {
  const startedMs = systemClock.monotonicMs()
  const commit = await repository.commit({ 'services/projects/line-1/note.txt': 'pushed by the quickstart\n' }, 'Add a note')
  await push(hook)
  await inPlace(commit)
  const ms = Math.round(systemClock.monotonicMs() - startedMs)
  say('bold', `quickstart: ${gateways.length} gateways hold ${commit.slice(0, 8)}, the push took ${ms} ms from commit to checked files`)
}

function explain({ repository, gateways, hook }: Plant, say: Options['say']): void {
  say('bold', 'Both gateways run the commit. In another terminal, push a valid change, then an invalid commit, then its fix:')
  for (const command of [
    'echo "hello" > services/projects/line-1/note.txt && git add . && git commit -qm "Say hello"',
    `echo '{"title": "Development",}' > services/config/resources/dev/config-mode.json && git commit -qam "Break a mode"`,
    'git revert --no-edit HEAD',
  ])
    say('cyan', `  cd ${repository.folder} && ${command} && git push -q`)
  say('bold', 'To check the files before a push:')
  say('cyan', `  ${path.resolve(import.meta.dirname, '../../bin/cluster-sync.js')} lint ${repository.folder}`)
  say('bold', 'After each push, send the webhook that a git host would send, or wait up to a minute for the next poll:')
  say('cyan', `  curl -X POST ${hook} -H 'Authorization: Bearer ${token}' -H 'Content-Type: application/json' -d '{"ref":"main"}'`)
  say(
    'dim',
    `Settings: ${settingsFile} of this clone, with the repository above as spec.git.repo. Edits to the copy in that repository have no effect.`,
  )
  say(
    'dim',
    `Gateways: ${gateways.map(({ simulator, dataDir }) => `${simulator.url} (${dataDir})`).join(', ')}. Press Ctrl-C to stop everything.`,
  )
}

/** What a gateway of a mode holds, by its place in the repository. */
function placed(mode: string): Placed[] {
  const collections = ['external', 'core', mode].map((collection) => ({
    source: `services/config/resources/${collection}`,
    destination: `config/resources/${collection}`,
  }))
  return [{ source: 'services/projects', destination: 'projects' }, ...collections]
}

async function startGateway(folder: string, mode: string) {
  const dataDir = path.join(folder, `gw-${mode}`, 'data')
  mkdirSync(dataDir, { recursive: true })
  const simulator = await startSimulator({ dataDir, name: `gw-${mode}`, mode })
  return { mode, dataDir, simulator }
}

function manifest(repo: string): string {
  const document = parse(readFileSync(path.resolve(import.meta.dirname, '../..', settingsFile), 'utf8')) as {
    spec: { git: { repo: string } }
  }
  document.spec.git.repo = repo
  return stringify(document)
}

/** The documented port, or any where that one is taken. */
async function listen(app: Parameters<typeof serve>[0]['app'], signal: AbortSignal) {
  const on = (port: number) => serve({ app, port, host: '127.0.0.1', log: silentLog }, signal)
  return await on(preferredPort).catch(async () => on(0))
}

/** The status page of both gateways; its address is printed like that of `cluster-sync run --status-port`. */
async function openPage(first: Standalone, emit: (event: RunEvent) => void, signal: AbortSignal): Promise<RunPage> {
  const deps = { clock: systemClock, log: silentLog, output: { emit } }
  const on = (port: number) => openRunPage(deps, { port, host: 'localhost', receives: true, first }, signal)
  return await on(preferredPagePort).catch(async () => on(0))
}

async function push(hook: string): Promise<void> {
  const answer = await fetch(hook, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ref: 'main' }),
    signal: AbortSignal.timeout(10_000),
  })
  if (answer.status !== 202) throw new Error(`the webhook receiver answered ${answer.status}: ${await answer.text()}`)
}

function isSynced(report: SyncReportStatus | undefined, commit: string): boolean {
  return report?.phase === 'Synced' && report.commit === commit
}

async function until(holds: () => boolean, signal: AbortSignal, explain: () => unknown): Promise<void> {
  const endMs = systemClock.monotonicMs() + patienceMs
  while (!holds()) {
    if (systemClock.monotonicMs() > endMs) throw new Error(`not in place after ${patienceMs / 1000} s: ${JSON.stringify(explain())}`)
    await systemClock.wait(10, signal)
  }
}
