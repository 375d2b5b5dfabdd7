/**
 * Probes of an agent without a port: the exec commands that injection writes, run on the files that the agent keeps.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { keepProbeFiles } from '../../../runtime/agent/probe-files.ts'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { createLog, silentLog } from '../../../runtime/platform/log/log.ts'
import { startTimeOf } from '../../../runtime/sync/disk/lock-holder.ts'
import { env, inject } from '../../support/injected.ts'
import { chartPod } from '../../support/pods.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

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
  health = { started: true, live: false, why: 'a sync has not ended in time' }
  await until(() => (ask('startupProbe')[0] === 0 ? true : undefined), 'the gateway may start')
  t.strictSame(ask('livenessProbe'), [1, 'a sync has not ended in time'])
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
  t.strictSame(ask('startupProbe'), [0, 'ok'], 'where nobody can tell when a process started, age has to do')
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
