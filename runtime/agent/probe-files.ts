/**
 * The answers to the kubelet's probes as files, for a pod in its node's network: a port there may belong to anybody, and a gateway that waits
 * for its agent must not wait for a port. The kubelet runs a command that reads them (injection/container.ts).
 */
import { renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { probeFiles } from '../agent-settings.ts'
import { type Clock, pause } from '../clock.ts'
import { asFault } from '../fault.ts'
import type { Log } from '../log.ts'
import { startTimeOf } from '../sync/disk/process-start.ts'
import type { AgentHealth } from './health.ts'

/** The files say what `health` said last; it is asked at every look. */
export type ProbeFilesDeps = { clock: Clock; log: Log; health(): AgentHealth }

const lookMs = 1_000

/** Keeps both files in `folder` current until the signal. A folder that cannot be written is tried again each second. Never throws. */
export async function keepProbeFiles({ clock, log, health }: ProbeFilesDeps, folder: string, signal: AbortSignal): Promise<void> {
  const written = new Map<string, { text: string; atMs: number }>()
  const writer = `${process.pid} ${startTimeOf('self') ?? ''}`
  let isTold = false
  const write = (name: string, text: string): void => {
    const last = written.get(name)
    const nowMs = clock.monotonicMs()
    if (last?.text === text && nowMs - last.atMs < probeFiles.renewedMs) return
    const file = path.join(folder, name)
    // Whole or not at all, because it may be read in this moment.
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
    await pause(clock, lookMs, signal)
  }
}
