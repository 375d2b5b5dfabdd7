/**
 * The agent's part of a sync in its own process: content client, engine, data directory; no cluster and no gateway. Message: `{url,
 * caBundle, commit, dataDir, profile}` brings the folder to the commit; another folder starts empty. `{}` returns only the CPU time so far.
 */
import { systemClock } from '../../../runtime/platform/clock.ts'
import { ContentClient } from '../../../runtime/content/client/client.ts'
import type { ResolvedProfile } from '../../../runtime/api/schema/profile.ts'
import { parseCommitHash } from '../../../runtime/api/values.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { answerMessages, ownCpuMs } from '../measured-process.ts'
import { desiredOf } from '../memory-source.ts'

export type EngineMessage = { url: string; caBundle: string; commit: string; dataDir: string; profile: ResolvedProfile }
export type EngineAnswer = { phase: string; message: string | undefined; written: number; tookMs: number; cpuMs: number }

let memory: EngineMemory = { manifest: undefined }
let folder = ''
const idle = { phase: 'Pending', message: undefined, written: 0, tookMs: 0 }

process.on('disconnect', () => process.exit(0))
answerMessages(async (desired: Partial<EngineMessage>): Promise<EngineAnswer> => {
  const { url, caBundle, commit = '', dataDir = '', profile } = desired
  if (url === undefined || caBundle === undefined || profile === undefined) return { ...idle, cpuMs: ownCpuMs() }
  if (dataDir !== folder) memory = { manifest: undefined }
  folder = dataDir
  const source = new ContentClient({ url, caBundle, token: async () => 'token', namespace: 'plant', name: 'plant', clock: systemClock })
  const startedMs = performance.now()
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
  const result = await runCycle(deps, desiredOf(dataDir, parseCommitHash(commit), profile), AbortSignal.timeout(300_000))
  const { added = 0, changed = 0 } = result.files ?? {}
  return {
    phase: result.phase,
    message: result.message,
    written: added + changed,
    tookMs: performance.now() - startedMs,
    cpuMs: ownCpuMs(),
  }
})
