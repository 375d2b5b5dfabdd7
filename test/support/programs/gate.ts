/**
 * The gate in a process of its own, as the controller has it, over a repository on this machine. Message: `{folder, commit, profile}`
 * judges a commit; `{rest: true}` waits until its thread has ended and gives back what it can, as a quiet controller does; `{}` only tells
 * the CPU used so far.
 */
import path from 'node:path'
import { systemClock } from '../../../runtime/clock.ts'
import { type IsolatedGate, openIsolatedGate } from '../../../runtime/gate/isolate.ts'
import { createMarks } from '../../../runtime/gate/marks.ts'
import type { Verdict } from '../../../runtime/gatewaysync/decide/observation.ts'
import type { ResolvedProfile } from '../../../runtime/gatewaysync/decide/profile.ts'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { answerMessages, cpuMs } from '../measured-process.ts'

export type GateMessage = { folder: string; commit: string; profile: ResolvedProfile } | { rest: true }
export type GateAnswer = { verdict: Verdict | undefined; tookMs: number; cpuMs: number }

let gate: IsolatedGate | undefined
const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }

/** Longer than from one question to the next. */
const restAfterMs = 5_000

process.on('disconnect', () => process.exit(0))
answerMessages(async (message: GateMessage | Record<string, never>): Promise<GateAnswer> => {
  if ('rest' in message) await rest()
  const { folder, commit: hash, profile } = 'folder' in message ? message : {}
  if (folder === undefined || hash === undefined || profile === undefined) return { verdict: undefined, tookMs: 0, cpuMs: cpuMs() }
  const commit = parseCommitHash(hash)
  const startedMs = performance.now()
  gate ??= openIsolatedGate({ clock: systemClock, log: silentLog, marks: createMarks(path.join(folder, 'checking.json')), restAfterMs })
  const validation = { policy: 'Enforce', rules: {} } as const
  const request = { profiles: [profile], validation, modesInUse: undefined, commit, line: folder }
  const verdict = await gate.check({ folder, limits }, request, false, AbortSignal.timeout(300_000))
  return { verdict, tookMs: performance.now() - startedMs, cpuMs: cpuMs() }
})

async function rest(): Promise<void> {
  const before = gate?.endedThreads() ?? 0
  while (gate !== undefined && gate.endedThreads() === before) await systemClock.wait(50)
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
