import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { serveProbes, keepProbeFiles } from '../../../runtime/agent/probes.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { createLog, silentLog } from '../../../runtime/platform/log/log.ts'
import { containsText } from '../../support/assertions.ts'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { startTimeOf } from '../../../runtime/sync/disk/lock-holder.ts'
import { env, inject } from '../../support/injected.ts'
import { chartPod } from '../../support/pods.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

void t.test('probes report whether the gateway may start and whether the agent is live, with the reason', async (t) => {
  const stop = new AbortController()
  let health = { started: false, live: true, why: 'the first sync has not ended well yet' as string | undefined }
  const deps = { clock: systemClock, log: silentLog, health: () => health, metrics: () => 'm 1\n' }
  const { opened, closed } = serveProbes(deps, { port: 0, host: '127.0.0.1' }, stop.signal)
  const port = await opened
  const get = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { connection: 'close' } })
    return [response.status, await response.text()]
  }
  t.strictSame(await get('/startz'), [503, 'the first sync has not ended well yet\n'])
  t.strictSame(await get('/livez'), [200, 'ok\n'])
  health = { started: true, live: false, why: 'a sync did not finish in time' }
  t.strictSame(await get('/startz?x=1'), [200, 'ok\n'])
  t.strictSame(await get('/livez'), [503, 'a sync did not finish in time\n'])
  t.strictSame(await get('/metrics'), [200, 'm 1\n'])
  t.equal((await get('/other'))[0], 404)
  t.equal((await get('/livez', 'POST'))[0], 405)
  t.strictSame(await get('/livez', 'HEAD'), [503, ''], 'the status of GET without its body')
  t.strictSame(await get('/metrics', 'HEAD'), [200, ''])
  stop.abort()
  await closed
})

void t.test('a port in use is logged once and retried until it is free', async (t) => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  const stop = new AbortController()
  const lines: string[] = []
  const thirdTry = Promise.withResolvers<void>()
  let waits = 0
  const clock = {
    ...systemClock,
    async wait(_ms: number, signal?: AbortSignal) {
      if ((waits += 1) === 3) thirdTry.resolve()
      await systemClock.wait(5, signal)
    },
  }
  const log = createLog({ level: 'info', destination: { write: (line: string) => void lines.push(line) } })
  const deps = { clock, log, health: () => ({ started: true, live: true, why: undefined }), metrics: () => '' }
  const { opened, closed } = serveProbes(deps, { port, host: '127.0.0.1' }, stop.signal)
  await thirdTry.promise
  await new Promise((resolve) => other.close(resolve))
  t.equal(await opened, port)
  const response = await fetch(`http://127.0.0.1:${port}/startz`, { headers: { connection: 'close' } })
  t.strictSame([response.status, await response.text()], [200, 'ok\n'])
  t.equal(lines.length, 1, 'told once')
  containsText(t, lines[0], String(port))
  stop.abort()
  await closed
})

void t.test('an agent whose port never becomes free still shuts down', async (t) => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void other.close())
  const stop = new AbortController()
  const deps = { clock: systemClock, log: silentLog, health: () => ({ started: true, live: true, why: undefined }), metrics: () => '' }
  const { opened, closed } = serveProbes(deps, { port: (other.address() as AddressInfo).port, host: '127.0.0.1' }, stop.signal)
  stop.abort()
  await closed
  t.equal(await opened, undefined)
})

const program = path.join(import.meta.dirname, '../../support/programs/answer-probes.ts')

type Probe = { exec: { command: string[] } }
type Ask = (probe: 'startupProbe' | 'livenessProbe') => [number | null, string]

/** Runs a probe's command on files in `folder`, as the kubelet does. Returns its exit code and output. */
function askedIn(folder: string): Ask {
  const pod = chartPod()
  Object.assign(pod.spec, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })
  const { agent } = inject(pod)
  const injected = String(env(agent)['CLUSTER_SYNC_PROBE_DIR'])
  return (probe) => {
    const [, ...words] = (agent[probe] as Probe).exec.command
    const { status, stdout } = spawnSync(
      process.execPath,
      words.map((word) => word.replace(injected, folder)),
      { encoding: 'utf8' },
    )
    return [status, stdout.trim()]
  }
}

void t.test("the probe command prints the agent's answer, and fails if the files are missing or stale", async (t) => {
  const folder = temporaryFolder(t, 'probes')
  const ask = askedIn(folder)
  t.strictSame(ask('startupProbe'), [1, 'the agent does not respond'])

  let health = { started: false, live: true, why: 'the data volume has no complete commit yet' as string | undefined }
  const stop = new AbortController()
  const clock = { ...systemClock, wait: async (_ms: number, signal?: AbortSignal) => await systemClock.wait(5, signal) }
  const kept = keepProbeFiles({ clock, log: silentLog, health: () => health }, folder, stop.signal)
  t.strictSame(ask('startupProbe'), [1, 'the data volume has no complete commit yet'])
  t.strictSame(ask('livenessProbe'), [0, 'ok'])
  health = { started: true, live: false, why: 'a sync did not finish in time' }
  await until(() => (ask('startupProbe')[0] === 0 ? true : undefined), 'the gateway may start')
  t.strictSame(ask('livenessProbe'), [1, 'a sync did not finish in time'])
  stop.abort()
  await kept

  const old = Date.now() / 1000 - 130
  utimesSync(path.join(folder, 'start'), old, old)
  t.strictSame(ask('startupProbe'), [1, 'the agent does not respond'], 'as one that hangs')
  const ahead = Date.now() / 1000 + 130
  utimesSync(path.join(folder, 'start'), ahead, ahead)
  t.strictSame(ask('startupProbe'), [1, 'the agent does not respond'], 'also after the clock of the node went back')
})

void t.test('a file of an earlier agent process is not trusted, however recent it is', async (t) => {
  const folder = temporaryFolder(t, 'probes')
  const ask = askedIn(folder)
  const agent = spawn(process.execPath, [program, folder])
  t.teardown(() => agent.kill('SIGKILL'))
  await until(() => (ask('startupProbe')[0] === 0 ? true : undefined), 'its own life believes it')
  const ended = once(agent, 'exit')
  agent.kill('SIGKILL')
  await ended
  t.match(readFileSync(path.join(folder, 'start'), 'utf8'), /\nok$/)
  t.strictSame(ask('startupProbe'), [1, 'the agent does not respond'])
  t.strictSame(ask('livenessProbe'), [1, 'the agent does not respond'])

  // In its container an agent is always process 1, so the process ID alone does not distinguish two runs.
  const file = path.join(folder, 'start')
  const written = (start: string): void => writeFileSync(file, `${process.pid} ${start}\nok`)
  const own = startTimeOf('self') ?? ''
  written(own)
  t.strictSame(ask('startupProbe'), [0, 'ok'])
  written(`${own}0`)
  t.strictSame(ask('startupProbe'), [1, 'the agent does not respond'], 'of another process that had the same pid')
  written('')
  t.strictSame(ask('startupProbe'), [0, 'ok'], 'if the start time is unknown, only the age counts')
  writeFileSync(file, 'ok')
  t.strictSame(ask('startupProbe'), [1, 'the agent does not respond'])
})

void t.test('files are rewritten before they become stale, and a missing folder is waited for', async (t) => {
  const folder = path.join(temporaryFolder(t, 'probes'), 'later')
  const stop = new AbortController()
  const rounds: number[] = []
  let nowMs = 0
  const clock = {
    ...systemClock,
    monotonicMs: () => nowMs,
    async wait(ms: number, signal?: AbortSignal) {
      rounds.push((nowMs += ms))
      if (rounds.length === 3) mkdirSync(folder)
      if (rounds.length === 40) stop.abort()
      await systemClock.wait(1, signal)
    },
  }
  const lines: string[] = []
  const log = createLog({ level: 'info', destination: { write: (line: string) => void lines.push(line) } })
  const times = new Set<number>()
  const health = () => {
    if (existsSync(path.join(folder, 'live'))) times.add(statSync(path.join(folder, 'live')).ino)
    return { started: true, live: true, why: undefined }
  }
  await keepProbeFiles({ clock, log, health }, folder, stop.signal)
  t.strictSame(
    ['start', 'live'].map((name) => readFileSync(path.join(folder, name), 'utf8').split('\n')[1]),
    ['ok', 'ok'],
  )
  t.equal(times.size, 2, 'once at first, and once after twenty seconds')
  t.equal(lines.length, 1)
})
