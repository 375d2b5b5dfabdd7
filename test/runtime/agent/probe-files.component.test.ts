/**
 * What the kubelet learns of an agent without a port: the commands that injection writes, run on the files that the agent keeps.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { keepProbeFiles } from '../../../runtime/agent/probe-files.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { createLog, silentLog } from '../../../runtime/log.ts'
import { env, inject } from '../../support/injected.ts'
import { chartPod } from '../../support/pods.ts'
import { temporaryFolder } from '../../support/repository.ts'
import { until } from '../../support/world.ts'

type Probe = { exec: { command: string[] } }

void t.test('the command of a probe says what the agent says, and nothing good of one that is silent', async (t) => {
  const folder = temporaryFolder(t, 'probes')
  const pod = chartPod()
  Object.assign(pod.spec, { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' })
  const { agent } = inject(pod)
  const injected = String(env(agent)['CLUSTER_SYNC_PROBE_DIR'])
  const ask = (probe: 'startupProbe' | 'livenessProbe'): [number | null, string] => {
    const [, ...words] = (agent[probe] as Probe).exec.command
    const { status, stdout } = spawnSync(
      process.execPath,
      words.map((word) => word.replace(injected, folder)),
      { encoding: 'utf8' },
    )
    return [status, stdout.trim()]
  }
  t.same(ask('startupProbe'), [1, 'the agent says nothing'])

  let health = { started: false, live: true, why: 'the data volume holds no whole commit yet' as string | undefined }
  const stop = new AbortController()
  const clock = { ...systemClock, wait: async (_ms: number, signal?: AbortSignal) => await systemClock.wait(5, signal) }
  const kept = keepProbeFiles({ clock, log: silentLog, health: () => health }, folder, stop.signal)
  t.same(ask('startupProbe'), [1, 'the data volume holds no whole commit yet'])
  t.same(ask('livenessProbe'), [0, 'ok'])
  health = { started: true, live: false, why: 'the last look has not ended' }
  await until(() => (ask('startupProbe')[0] === 0 ? true : undefined), 'the gateway may start')
  t.same(ask('livenessProbe'), [1, 'the last look has not ended'])
  stop.abort()
  await kept

  const old = Date.now() / 1000 - 130
  utimesSync(path.join(folder, 'start'), old, old)
  t.same(ask('startupProbe'), [1, 'the agent says nothing'], 'as one of a container that is gone')
})

void t.test('files are written anew before they seem old, and a folder that is not there yet is waited for', async (t) => {
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
  t.same([readFileSync(path.join(folder, 'start'), 'utf8'), readFileSync(path.join(folder, 'live'), 'utf8')], ['ok', 'ok'])
  t.equal(times.size, 2, 'once at first, and once after twenty seconds')
  t.equal(lines.length, 1)
})
