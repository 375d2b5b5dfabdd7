/**
 * Validation in its own process, as in the controller, over a local repository. Message: `{folder, commit, profile}` validates a commit;
 * `{rest: true}` waits until its thread has ended and releases memory, like an idle controller; `{}` returns the CPU time so far, which other
 * answers do not contain.
 */
import path from 'node:path'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { type IsolatedValidator, openIsolatedValidator } from '../../../runtime/validation/worker/isolated-validation.ts'
import { openAttemptLog } from '../../../runtime/validation/worker/attempt-log.ts'
import type { Verdict } from '../../../runtime/reconcile/decide/observation.ts'
import type { ResolvedProfile } from '../../../runtime/api/schema/profile.ts'
import { parseCommitHash } from '../../../runtime/api/values.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { answerMessages, cpuMs } from '../measured-process.ts'

export type ValidationMessage = { folder: string; commit: string; profile: ResolvedProfile } | { rest: true }
export type ValidationAnswer = { verdict: Verdict | undefined; tookMs: number; cpuMs: number }

let validator: IsolatedValidator | undefined
const limits = { maxMemoryBytes: 1024 * 1024 * 1024, maxPackBytes: 1024 * 1024 * 1024 }

/** Longer than the time between two messages. */
const restAfterMs = 5_000

process.on('disconnect', () => process.exit(0))
answerMessages(async (message: ValidationMessage | Record<string, never>): Promise<ValidationAnswer> => {
  if ('rest' in message) await rest()
  const { folder, commit: hash, profile } = 'folder' in message ? message : {}
  if (folder === undefined || hash === undefined || profile === undefined) return { verdict: undefined, tookMs: 0, cpuMs: cpuMs() }
  const commit = parseCommitHash(hash)
  const startedMs = performance.now()
  validator ??= openIsolatedValidator({
    clock: systemClock,
    log: silentLog,
    attemptLog: openAttemptLog(path.join(folder, 'checking.json')),
    restAfterMs,
  })
  const validation = { policy: 'Enforce', rules: {} } as const
  const request = { profiles: [profile], validation, modesInUse: undefined, commit, line: folder }
  const verdict = await validator.validate({ folder, limits }, request, { namespace: 'plant', again: false }, AbortSignal.timeout(300_000))
  return { verdict, tookMs: performance.now() - startedMs, cpuMs: 0 }
})

async function rest(): Promise<void> {
  const before = validator?.endedThreads() ?? 0
  while (validator !== undefined && validator.endedThreads() === before) await systemClock.wait(50)
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
