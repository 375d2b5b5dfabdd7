/**
 * What a lookup does after the git host has answered, told in log lines and in the trace of the request that it is for.
 */
import type { Clock } from '../../clock.ts'
import { asFault, type Reason } from '../../fault.ts'
import { wantedRef } from '../../gatewaysync/decide/request.ts'
import { parseRefName } from '../../gatewaysync/values.ts'
import type { GatewaySyncSpec } from '../../gatewaysync/schema/spec.ts'
import type { Log } from '../../log.ts'
import type { ReconcileDeps } from '../../reconcile/reconcile.ts'
import type { GatewaySyncRecord } from '../../reconcile/records.ts'
import type { Tracing } from '../../tracing/trace.ts'

type Deps = Pick<ReconcileDeps, 'check' | 'verify'> & { tracing: Pick<Tracing, 'ended'>; clock: Clock; log: Log }

/** The same two steps, each with a line at level debug that says how it ended and how long it took. */
export function toldSteps({ check, verify, tracing, clock, log }: Deps): Pick<ReconcileDeps, 'check' | 'verify'> {
  const telling = async <Result>(
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
      return await telling(
        'signatures checked',
        aboutOf(record, spec, resolved.commit),
        ({ kind }) => (kind === 'refused' ? 'NotVerified' : 'ok'),
        () => verify(record, spec, resolved, signal),
      )
    },
    async check(record, spec, commit, signal) {
      return await telling(
        'commit checked',
        aboutOf(record, spec, commit),
        (verdict) => (verdict.kind === 'checked' && verdict.errors > 0 ? 'CollectionsInvalid' : 'ok'),
        () => check(record, spec, commit, signal),
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

/** The request that is not answered yet; a poll has none. */
export function openRequestId(
  { annotations, status }: Pick<GatewaySyncRecord, 'annotations' | 'status'>,
  { git }: GatewaySyncSpec,
): string | undefined {
  const { undecided, request } = wantedRef(parseRefName(git.ref), annotations, status)
  return undecided ? request?.id : undefined
}
