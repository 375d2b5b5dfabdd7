/**
 * Reads capture requests and computes the capture status. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import { counted } from '../../platform/text/counted.ts'
import { isObject } from '../../platform/text/json.ts'
import { captureAnnotations, changesAnnotations } from '../../api/names.ts'
import { type CaptureEntry, type CaptureStatus, gatewayNamePlace, maxCaptured, defaultQuietMs } from '../../api/schema/capture-spec.ts'
import { durationMs } from '../../api/schema/fields.ts'
import type { CaptureSpec } from '../../api/schema/spec.ts'
import { isRefName, type RefName } from '../../api/values.ts'
import { type EventToRecord, syncEvent } from './events.ts'
import type { Annotations } from './request.ts'

/** `id` identifies the request; `gateway` names a gateway or its pod (undefined: all gateways). */
export type CaptureRequest = { id: string; by: string | undefined; gateway: string | undefined }

/** The id of a request, and the uid of the GatewaySync that carries it. */
export type RequestIdentity = { request: string; uid: string }

/** Compares the uid too: a GatewaySync recreated from a file repeats the id but has no answer to it. */
export function isSameRequest(one: RequestIdentity, other: RequestIdentity): boolean {
  return one.request === other.request && one.uid === other.uid
}

const maxId = 64
const maxBy = 128

/** Returns the request in the annotations, or undefined. */
export function captureRequest(annotations: Annotations): CaptureRequest | undefined {
  const asked = requestIn(annotations, captureAnnotations)
  return asked === undefined ? undefined : { ...asked, by: annotations[captureAnnotations.by]?.slice(0, maxBy) }
}

/** Returns the request to report local changes, or undefined. */
export function changesRequest(annotations: Annotations): Omit<CaptureRequest, 'by'> | undefined {
  return requestIn(annotations, changesAnnotations)
}

function requestIn(annotations: Annotations, names: { at: string; gateway: string }): Omit<CaptureRequest, 'by'> | undefined {
  const id = annotations[names.at]?.trim() ?? ''
  if (id === '') return undefined
  const gateway = annotations[names.gateway]
  return { id: id.slice(0, maxId), gateway: gateway === undefined || gateway === '' ? undefined : gateway }
}

/** Whether a request is for this gateway. */
export function concerns({ gateway }: Pick<CaptureRequest, 'gateway'>, pod: { pod: string; gateway: string }): boolean {
  return gateway === undefined || gateway === pod.gateway || gateway === pod.pod
}

/** Returns the id of the capture request that an agent must answer, or undefined. The spec may come from a later release. */
export function captureRequestId(capture: unknown, annotations: Annotations, pod: { pod: string; gateway: string }): string | undefined {
  if (!isObject(capture) || capture['enabled'] === false) return undefined
  const request = captureRequest(annotations)
  return request !== undefined && concerns(request, pod) ? request.id : undefined
}

/** Returns the id of the request to list this gateway's local changes in its report, or undefined. */
export function changesRequestId(annotations: Annotations, pod: { pod: string; gateway: string }): string | undefined {
  const request = changesRequest(annotations)
  return request !== undefined && concerns(request, pod) ? request.id : undefined
}

/**
 * Returns how long (ms) changes must be unmodified before an agent submits them automatically, or undefined if it does not. The spec may
 * come from a later release.
 */
export function quietPeriodMs(capture: unknown): number | undefined {
  if (!isObject(capture) || capture['enabled'] === false || capture['trigger'] !== 'Drift') return undefined
  const { quietPeriod } = capture
  return typeof quietPeriod === 'string' ? durationMs(quietPeriod) : defaultQuietMs
}

const driftPrefix = 'drift-'

/** The request id of an automatic capture: equal changes have an equal id. */
export function driftRequest(digest: string): string {
  return `${driftPrefix}${digest.slice(0, 8)}`
}

/** Whether the capture was automatic. */
function isAutomatic({ request }: { request: string }): boolean {
  return request.startsWith(driftPrefix)
}

/** Whether `last` answers this offer: the same request, or an automatic capture of the same changes. */
export function answers(last: CaptureEntry, offer: { request: string; digest: string }): boolean {
  return last.request === offer.request || (isAutomatic(offer) && last.changesDigest === offer.digest)
}

/**
 * Whether an automatic capture must wait because the last one is younger than `quietPeriod`. Agents apply this limit themselves; an agent that
 * took over a gateway may not know the last capture.
 */
export function isTooSoon(
  last: CaptureEntry,
  offer: { request: string },
  { quietPeriod }: Pick<CaptureSpec, 'quietPeriod'>,
  nowMs: number,
): boolean {
  if (!isAutomatic(offer) || !isAutomatic(last)) return false
  return nowMs - Date.parse(last.at) < (quietPeriod === undefined ? defaultQuietMs : (durationMs(quietPeriod) ?? defaultQuietMs))
}

/** Returns the capture branch of a gateway; undefined if its name gives no valid git ref. */
export function captureBranch({ branch }: Pick<CaptureSpec, 'branch'>, gateway: string): RefName | undefined {
  const name = branch.replace(gatewayNamePlace, () => gateway)
  return isRefName(name) && !name.startsWith('refs/') ? name : undefined
}

/**
 * Returns the capture status for this repository. Entries for a repository followed earlier are ignored and do not make a request older.
 */
export function forRepository(status: CaptureStatus | undefined, repo: string | undefined): CaptureStatus | undefined {
  if (status?.repo === undefined || status.repo === repo) return status
  const { request, at } = status
  return request === undefined || at === undefined ? undefined : { request, at }
}

/** Returns the next capture status at time `at` and the events to record. The status is undefined if nothing was ever requested. */
export function captureAfter(
  before: CaptureStatus | undefined,
  known: readonly CaptureEntry[],
  spec: CaptureSpec | undefined,
  annotations: Annotations,
  at: string,
): { status: CaptureStatus | undefined; events: EventToRecord[] } {
  if (spec === undefined) return { status: undefined, events: [] }
  const request = captureRequest(annotations)
  const entries = new Map((before?.gateways ?? []).map((entry) => [entry.pod, entry]))
  /** True if only the pull request is new. */
  const news = new Map<CaptureEntry, boolean>()
  for (const entry of known) {
    const last = entries.get(entry.pod)
    if (last !== undefined && isSameEntry(last, entry)) continue
    entries.set(entry.pod, entry)
    news.set(entry, last !== undefined && isSameEntry({ ...last, pullRequest: undefined }, { ...entry, pullRequest: undefined }))
  }
  const isAnswer = ({ request: of, state }: CaptureEntry): boolean => of === request?.id && state !== 'Failed'
  const isNewest = (entry: CaptureEntry): number => (entry.request === request?.id || isAutomatic(entry) ? 0 : 1)
  const order = { Refused: 0, Failed: 0, Pushed: 1, Nothing: 2 } as const
  const gateways = [...entries.values()]
    .toSorted((a, b) => isNewest(a) - isNewest(b) || order[a.state] - order[b.state] || (a.pod < b.pod ? -1 : 1))
    .slice(0, maxCaptured)
  // An entry that does not fit in the status gets no event: it would be repeated on every reconcile.
  const events = gateways.flatMap((entry) => {
    const isOfPullRequest = news.get(entry)
    return isOfPullRequest === undefined ? [] : isOfPullRequest ? pullRequestEvent(entry) : eventOf(entry)
  })
  const status: CaptureStatus = {}
  if (request !== undefined) {
    const same = before?.request === request.id ? before : undefined
    status.request = request.id
    status.at = same?.at ?? at
    // A previous leader may have counted gateways that are not listed.
    status.answered = Math.max(same?.answered ?? 0, [...entries.values()].filter(isAnswer).length)
  }
  if (request?.by !== undefined) status.by = request.by
  if (gateways.length > 0) status.gateways = gateways
  return { status: Object.keys(status).length === 0 ? undefined : status, events }
}

function isSameEntry({ at: _a, ...last }: CaptureEntry, { at: _b, ...next }: CaptureEntry): boolean {
  // The API server returns fields in a different order.
  return isDeepStrictEqual(last, next)
}

function pullRequestEvent({ gateway, branch = '', pullRequest }: CaptureEntry): EventToRecord[] {
  if (pullRequest === undefined || pullRequest.state === 'Waiting') return []
  const { state, url = '', message = '', reason = '' } = pullRequest
  if (state === 'Open') return [syncEvent('Captured', `pull request of ${branch}, changes of gateway ${gateway}: ${url}`)]
  return [syncEvent('CaptureRefused', `${branch}, changes of gateway ${gateway}, has no pull request: ${message} (${reason})`)]
}

function eventOf({ state, gateway, files = 0, commit = '', branch = '', message = '', reason = '' }: CaptureEntry): EventToRecord[] {
  const what = `${counted(files, 'change')} of gateway ${gateway}`
  if (state === 'Pushed') return [syncEvent('Captured', `${what} pushed as commit ${commit} of ${branch}`)]
  if (state === 'Nothing') return []
  return [syncEvent('CaptureRefused', `${what} not pushed: ${message} (${reason})`)]
}
