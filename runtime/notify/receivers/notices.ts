/**
 * What is worth a message to people: read off two statuses of one GatewaySync in a row. Pure.
 */
import { needsSomebody } from '../../gatewaysync/decide/conditions.ts'
import type { Condition, GatewaySyncStatus } from '../../gatewaysync/schema/status.ts'
import { redactUrls } from '../../redact.ts'
import type { NoticeKind } from '../../settings.ts'

/** One thing that happened to a GatewaySync, without the user-info of URLs. */
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

/** In characters. */
const maxMessage = 1_000

/** `before` and `after` are the statuses around a write that the API server took. */
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
    notices.push(notice('Refused', source.held ?? '', ready?.message ?? '', { ref: source.ref, commit: source.commit ?? '', ...asked }))
  const known = new Set(before.requests?.map(({ id }) => id))
  for (const { id, ref, outcome, reason = '', message = '' } of after.requests ?? []) {
    const isTold = isNewlyHeld && reason === source.held
    if (outcome === 'Refused' && !known.has(id) && !isTold) notices.push(notice('Refused', reason, message, { ref, requestId: id }))
  }
  const kind = ready === undefined || source?.held !== undefined ? undefined : changeOf(readyOf(before), ready, before, after)
  if (kind === undefined || ready === undefined) return notices
  const what = published === undefined ? {} : { ref: published.ref, commit: published.commit }
  return [...notices, notice(kind, ready.reason, ready.message, { ...what, ...asked })]
}

function readyOf({ conditions = [] }: GatewaySyncStatus): Condition | undefined {
  return conditions.find(({ type }) => type === 'Ready')
}

/** What a change of `Ready` is; undefined where there is none. */
function changeOf(was: Condition | undefined, is: Condition, before: GatewaySyncStatus, after: GatewaySyncStatus): NoticeKind | undefined {
  if (is.status === 'True') return was?.status === 'True' && before.published?.commit === after.published?.commit ? undefined : 'Ready'
  if (was?.status === is.status && was.reason === is.reason) return undefined
  // A resource that nobody has looked at yet has not been ready.
  if (is.status === 'Unknown' && was?.status !== 'True') return undefined
  return needsSomebody(is) ? 'Failed' : 'NotReady'
}

/** As many as one message tells. */
const mostNotices = 50

/** The notices of one message and how many more there were. Of one kind about one GatewaySync the last is told. */
export type Bundle = { notices: readonly Notice[]; more: number }

/** One bundle of two. */
export function bundled(before: Bundle, next: Bundle): Bundle {
  const all = new Map<string, Notice>()
  for (const notice of [...before.notices, ...next.notices]) {
    const key = `${notice.kind} ${notice.namespace}/${notice.name}`
    all.delete(key)
    all.set(key, notice)
  }
  const notices = [...all.values()]
  const over = Math.max(0, notices.length - mostNotices)
  return { notices: notices.slice(over), more: before.more + next.more + over }
}
