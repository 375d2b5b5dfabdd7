/**
 * Logs one line for each state change of a GatewaySync, with the request that caused it, so that the log alone shows the effect of a push.
 */
import type { GatewaySyncStatus } from '../../api/schema/status.ts'
import type { Log } from '../../platform/log/log.ts'

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
