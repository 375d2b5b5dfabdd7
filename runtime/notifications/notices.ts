/**
 * Determines notices for people from two successive statuses of one GatewaySync. Pure.
 */
import { needsAttention } from '../api/schema/conditions.ts'
import type { Condition, GatewaySyncStatus } from '../api/schema/status.ts'
import { FairCache } from '../platform/async/fair-cache.ts'
import { redactUrls } from '../platform/log/redact.ts'
import type { NoticeKind } from '../settings/controller.ts'
import { isFinal } from '../reconcile/decide/request-outcomes.ts'
import { shortRef } from '../api/values.ts'

/** One event of a GatewaySync, without URL credentials. */
export type Notice = {
  kind: NoticeKind
  namespace: string
  name: string
  /** RFC 3339, in UTC. */
  at: string
  reason: string
  message: string
  ref?: string
  commit?: string
  requestId?: string
}

/** Characters. */
const maxMessage = 1_000

/** `before` and `after` are the statuses around a write that the API server accepted. */
export function noticesOf(
  { namespace, name, status: before }: { namespace: string; name: string; status: GatewaySyncStatus },
  after: GatewaySyncStatus,
  at: string,
): Notice[] {
  const notice = (kind: NoticeKind, reason: string, message: string, more: Pick<Notice, 'ref' | 'commit' | 'requestId'>): Notice => ({
    kind,
    namespace,
    name,
    at,
    reason,
    message: redactUrls(message, maxMessage),
    ...more,
  })
  const { source, published } = after
  const requestId = source?.requested?.id
  const asked = requestId === undefined ? {} : { requestId }
  const ready = readyOf(after)
  const notices: Notice[] = []
  const isNewlyHeld =
    source?.commit !== undefined &&
    source.held !== undefined &&
    (before.source?.commit !== source.commit || before.source.held !== source.held)
  if (isNewlyHeld)
    notices.push(
      notice('Refused', source.held ?? '', ready?.message ?? '', { ref: shortRef(source.ref), commit: source.commit ?? '', ...asked }),
    )
  const known = new Set(before.requests?.filter(isFinal).map(({ id }) => id))
  for (const { id, ref, outcome, reason = '', message = '' } of after.requests ?? []) {
    const isReported = isNewlyHeld && reason === source.held
    if (outcome === 'Refused' && !known.has(id) && !isReported)
      notices.push(notice('Refused', reason, message, { ref: shortRef(ref), requestId: id }))
  }
  const kind = ready === undefined || source?.held !== undefined ? undefined : changeOf(readyOf(before), ready, before, after)
  if (kind === undefined || ready === undefined) return notices
  const what = published === undefined ? {} : { ref: shortRef(published.ref), commit: published.commit }
  return [...notices, notice(kind, ready.reason, ready.message, { ...what, ...asked })]
}

function readyOf({ conditions = [] }: GatewaySyncStatus): Condition | undefined {
  return conditions.find(({ type }) => type === 'Ready')
}

/** Returns the kind of a change of `Ready`; undefined without one. */
function changeOf(was: Condition | undefined, is: Condition, before: GatewaySyncStatus, after: GatewaySyncStatus): NoticeKind | undefined {
  if (is.status === 'True') return was?.status === 'True' && before.published?.commit === after.published?.commit ? undefined : 'Ready'
  if (was?.status === is.status && was.reason === is.reason) return undefined
  // A new resource that was never reconciled has not been ready.
  if (is.status === 'Unknown' && was?.status !== 'True') return undefined
  return needsAttention(is) ? 'Failed' : 'NotReady'
}

/** Maximum notices per message. */
const maxNotices = 50

/** The notices of one message and how many more there were. Of one kind about one GatewaySync only the last is sent. */
export type Bundle = { notices: readonly Notice[]; more: number }

/** Combines two bundles. Beyond the maximum, the oldest notices of the namespace with the most are dropped. */
export function bundled(before: Bundle, next: Bundle): Bundle {
  const all = new Map<string, Notice>()
  const kept = new FairCache<Notice>({ max: maxNotices })
  for (const notice of [...before.notices, ...next.notices]) {
    const key = `${notice.kind} ${notice.namespace}/${notice.name}`
    all.delete(key)
    all.set(key, notice)
    kept.set(notice.namespace, key, notice)
  }
  const notices = [...all].flatMap(([key, notice]) => (kept.get(key) === undefined ? [] : [notice]))
  return { notices, more: before.more + next.more + all.size - notices.length }
}
