/**
 * Logs what happens to GatewaySyncs, so that the log alone shows the effect of a push: each change of their state, and the steps of a
 * source resolution after the git host has answered, which are traced too.
 */
import type { Clock } from '../../platform/clock.ts'
import { asFault, type Reason } from '../../platform/fault.ts'
import { followedRef } from '../../api/followed-ref.ts'
import { desiredRef } from '../../reconcile/decide/request.ts'
import type { GatewaySyncSpec } from '../../api/schema/spec.ts'
import type { Log } from '../../platform/log/log.ts'
import type { ReconcileDeps } from '../../reconcile/reconcile.ts'
import type { GatewaySyncRecord } from '../../reconcile/store/records.ts'
import type { Tracing } from '../../telemetry/tracing/trace.ts'
import type { GatewaySyncStatus } from '../../api/schema/status.ts'

type Deps = Pick<ReconcileDeps, 'validate' | 'verify'> & { tracing: Pick<Tracing, 'ended'>; clock: Clock; log: Log }

/** Wraps both steps with a debug log line that gives result and duration. */
export function loggedSteps({ validate, verify, tracing, clock, log }: Deps): Pick<ReconcileDeps, 'validate' | 'verify'> {
  const traced = async <Result>(
    message: string,
    about: { namespace: string; name: string; commit: string; requestId: string | undefined },
    reasonOf: (result: Result) => 'ok' | Reason,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const startedMs = clock.monotonicMs()
    let reason: 'ok' | Reason = 'ok'
    try {
      const result = await work()
      reason = reasonOf(result)
      return result
    } catch (error) {
      ;({ reason } = asFault(error))
      throw error
    } finally {
      const durationMs = clock.monotonicMs() - startedMs
      const { requestId, ...attributes } = about
      log.debug({ ...attributes, ...(requestId === undefined ? {} : { requestId }), reason, durationMs: Math.round(durationMs) }, message)
      if (requestId !== undefined)
        tracing.ended(requestId, { name: message, endedAtMs: clock.now().epochMilliseconds, durationMs, reason, attributes })
    }
  }
  return {
    async verify(record, spec, resolved, signal) {
      if (spec.git.verify === undefined) return await verify(record, spec, resolved, signal)
      return await traced(
        'signatures checked',
        aboutOf(record, spec, resolved.commit),
        ({ kind }) => (kind === 'refused' ? 'NotVerified' : 'ok'),
        () => verify(record, spec, resolved, signal),
      )
    },
    async validate(record, spec, commit, signal) {
      return await traced(
        'commit checked',
        aboutOf(record, spec, commit),
        (verdict) => (verdict.kind === 'checked' && verdict.errors > 0 ? 'CollectionsInvalid' : 'ok'),
        () => validate(record, spec, commit, signal),
      )
    },
  }
}

function aboutOf(
  record: GatewaySyncRecord,
  spec: GatewaySyncSpec,
  commit: string,
): { namespace: string; name: string; commit: string; requestId: string | undefined } {
  return { namespace: record.namespace, name: record.name, commit, requestId: openRequestId(record, spec) }
}

/** Returns the id of the open request; a poll has none. */
export function openRequestId(
  { annotations, status }: Pick<GatewaySyncRecord, 'annotations' | 'status'>,
  { git }: GatewaySyncSpec,
): string | undefined {
  const { undecided, request } = desiredRef(followedRef(git), annotations, status)
  return undecided ? request?.id : undefined
}

/** `before` and `after` are the statuses around a write that the API server accepted. */
export function logChanges(
  log: Pick<Log, 'info'>,
  { namespace, name, status: before }: { namespace: string; name: string; status: GatewaySyncStatus },
  after: GatewaySyncStatus,
): void {
  const { published, source } = after
  const requestId = source?.requested?.id
  const about = { namespace, name, ...(requestId === undefined ? {} : { requestId }) }
  if (published !== undefined && published.commit !== before.published?.commit)
    log.info({ ...about, ref: published.ref, commit: published.commit }, 'commit published')
  const [was, is] = [before, after].map(({ conditions = [] }) => conditions.find(({ type }) => type === 'Ready'))
  if (is === undefined || (was?.status === is.status && was.reason === is.reason)) return
  const commit = published === undefined ? {} : { commit: published.commit }
  log.info({ ...about, ...commit, reason: is.reason, message: is.message }, is.status === 'True' ? 'ready' : 'not ready')
}
