/**
 * Writes the answers to the kubelet's probes as files, for a pod on the host network: another process may have the port there, and a
 * gateway's start must not depend on a port. The kubelet runs a command that reads the files (injection/container.ts).
 */
import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { probeFiles } from '../settings/agent.ts'
import { type Clock, pause } from '../platform/clock.ts'
import { asFault } from '../platform/fault.ts'
import type { Log } from '../platform/log/log.ts'
import { startTimeOf } from '../sync/disk/lock-holder.ts'
import type { AgentHealth } from './health.ts'

/** The files hold the last result of `health`, which is called at every interval. */
export type ProbeFilesDeps = { clock: Clock; log: Log; health(): AgentHealth }

const pollIntervalMs = 1_000

/** Keeps both files in `folder` current until the signal aborts. Retries each second if the folder is not writable. Never throws. */
export async function keepProbeFiles({ clock, log, health }: ProbeFilesDeps, folder: string, signal: AbortSignal): Promise<void> {
  const written = new Map<string, { text: string; atMs: number }>()
  const writer = `${process.pid} ${startTimeOf('self') ?? ''}`
  let isTold = false
  const write = (name: string, text: string): void => {
    const last = written.get(name)
    const nowMs = clock.monotonicMs()
    if (last?.text === text && nowMs - last.atMs < probeFiles.renewedMs) return
    const file = path.join(folder, name)
    // Replaced atomically, because a probe may read it at any moment.
    writeFileSync(`${file}.new`, `${writer}\n${text}`)
    renameSync(`${file}.new`, file)
    written.set(name, { text, atMs: nowMs })
  }
  while (!signal.aborted) {
    const { started, live, why } = health()
    try {
      write(probeFiles.start, started ? probeFiles.ok : (why ?? 'not started'))
      write(probeFiles.live, live ? probeFiles.ok : (why ?? 'stuck'))
    } catch (error) {
      const { reason, message } = asFault(error)
      if (!isTold) log.error({ reason, message, path: folder }, 'the files for the probes cannot be written')
      isTold = true
    }
    await pause(clock, pollIntervalMs, signal)
  }
}
