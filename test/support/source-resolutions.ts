/**
 * Source resolutions that the test answers.
 */
import { systemClock } from '../../runtime/platform/clock.ts'
import type { SourceObservation } from '../../runtime/reconcile/decide/observation.ts'
import type { ResolvedCommit } from '../../runtime/reconcile/decide/source-resolution.ts'
import type { DesiredRef } from '../../runtime/reconcile/decide/request.ts'
import { parseCommitHash, parseRefName } from '../../runtime/api/values.ts'
import { FairLimiter } from '../../runtime/platform/async/fair-limiter.ts'
import type { LimiterOptions } from '../../runtime/platform/async/limiter-options.ts'
import { Resolutions, type Resolution } from '../../runtime/reconcile/source/resolutions.ts'

export const desired: DesiredRef = { ref: parseRefName('main'), request: undefined, undecided: false }

export const found: SourceObservation = {
  kind: 'resolved',
  commit: parseCommitHash('a'.repeat(40)),
  committedAt: undefined,
  fetchedAt: '2026-01-01T00:00:00Z',
  verified: undefined,
  verdict: { kind: 'notChecked' },
  durationMs: 1,
}

const resolved: ResolvedCommit = {
  commit: parseCommitHash('a'.repeat(40)),
  name: 'refs/heads/main',
  tag: undefined,
  fetchedAt: '2026-01-01T00:00:00Z',
  committedAt: Promise.resolve(undefined),
}

export function setUp(concurrency = 2, limits: Partial<LimiterOptions> = {}) {
  const stop = new AbortController()
  const answered: string[] = []
  const hosts = new FairLimiter({ total: concurrency, clock: systemClock, ...limits })
  const resolutions = new Resolutions({ clock: systemClock, hosts, ready: (key) => answered.push(key), signal: stop.signal })
  return { resolutions, answered, stop }
}

/** A source resolution that is answered by the test or ends with its signal. */
export function openResolution(text: string, changes: Partial<Resolution> = {}): Resolution & { answer(): void; asked(): boolean } {
  const gate = Promise.withResolvers<SourceObservation>()
  gate.promise.catch(() => undefined)
  let asked = false
  return {
    specKey: 'plant.git',
    host: 'git.example',
    repository: 'plant',
    resolutionKey: text,
    desired,
    sharingKey: text,
    why: 'poll',
    async run(share, signal) {
      signal.addEventListener('abort', () => gate.reject(signal.reason as Error))
      await share(async () => {
        asked = true
        await gate.promise
        return resolved
      })
      return await gate.promise
    },
    answer: () => gate.resolve(found),
    asked: () => asked,
    ...changes,
  }
}
