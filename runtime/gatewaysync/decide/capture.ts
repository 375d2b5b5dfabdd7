/**
 * Which changes of gateways somebody asks for, and what the status says of them. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import { counted } from '../../counted.ts'
import { isObject } from '../../json.ts'
import { captureAnnotations, changesAnnotations, podAnnotations } from '../names.ts'
import { type CaptureEntry, type CaptureStatus, gatewayNamePlace, mostCaptured, usualQuietMs } from '../schema/capture-spec.ts'
import { durationMs } from '../schema/fields.ts'
import type { CaptureSpec } from '../schema/spec.ts'
import { isRefName, type RefName } from '../values.ts'
import { type EventToRecord, syncEvent } from './events.ts'
import type { Annotations } from './request.ts'

/** `id` tells it from any other; `gateway` names a gateway or its pod, undefined: all. */
export type CaptureRequest = { id: string; by: string | undefined; gateway: string | undefined }

/** The id of a request, and the uid of the GatewaySync that has it. */
export type AskedBy = { request: string; uid: string }

/** The id may stand in a file, from which a GatewaySync is made anew that knows nothing of the answer to the one before. */
export function isSameRequest(one: AskedBy, other: AskedBy): boolean {
  return one.request === other.request && one.uid === other.uid
}

const maxId = 64
const maxBy = 128

/** The request that the annotations make; undefined: none. */
export function captureRequest(annotations: Annotations): CaptureRequest | undefined {
  const asked = requestIn(annotations, captureAnnotations)
  return asked === undefined ? undefined : { ...asked, by: annotations[captureAnnotations.by]?.slice(0, maxBy) }
}

/** Who is asked to tell what was changed; undefined: nobody. */
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

/** The id of the request that an agent answers, from a spec that may be of a later release; undefined: nobody asks it for anything. */
export function askedOf(capture: unknown, annotations: Annotations, pod: { pod: string; gateway: string }): string | undefined {
  if (!isObject(capture) || capture['enabled'] === false) return undefined
  const request = captureRequest(annotations)
  return request !== undefined && concerns(request, pod) ? request.id : undefined
}

/** The id of the request to tell in the report what was changed on this gateway; undefined: nobody asks. */
export function changesAskedOf(annotations: Annotations, pod: { pod: string; gateway: string }): string | undefined {
  const request = changesRequest(annotations)
  return request !== undefined && concerns(request, pod) ? request.id : undefined
}

/** For how many ms changes must be left alone until an agent hands them on by itself, from a spec as above; undefined: it does not. */
export function quietOf(capture: unknown): number | undefined {
  if (!isObject(capture) || capture['enabled'] === false || capture['on'] !== 'Drift') return undefined
  const { quiet } = capture
  return typeof quiet === 'string' ? durationMs(quiet) : usualQuietMs
}

const driftPrefix = 'drift-'

/** What stands in the place of a request where nobody asked: the same changes have the same. */
export function driftRequest(digest: string): string {
  return `${driftPrefix}${digest.slice(0, 8)}`
}

/** Whether nobody asked for what was handed on. */
function isOfDrift({ request }: { request: string }): boolean {
  return request.startsWith(driftPrefix)
}

/** Whether `last` says what became of these changes: of this request, or of the same changes where nobody asked for them anew. */
export function answers(last: CaptureEntry, offer: { request: string; digest: string }): boolean {
  return last.request === offer.request || (isOfDrift(offer) && last.changes === offer.digest)
}

/**
 * Whether a gateway is to wait with changes that nobody asked for: what was handed on last is younger than `quiet`. An agent keeps to that by
 * itself; whoever took over a gateway need not.
 */
export function isTooSoon(last: CaptureEntry, offer: { request: string }, { quiet }: Pick<CaptureSpec, 'quiet'>, nowMs: number): boolean {
  if (!isOfDrift(offer) || !isOfDrift(last)) return false
  return nowMs - Date.parse(last.at) < (quiet === undefined ? usualQuietMs : (durationMs(quiet) ?? usualQuietMs))
}

/** The gateway's name in reports, branches and templates: that of the pod's annotation, else the pod's. */
export function gatewayNameOf({ name, annotations }: { name: string; annotations: Annotations }): string {
  const named = annotations[podAnnotations.gatewayName]
  return named === undefined || named === '' ? name : named
}

/** The branch of a gateway; undefined where its name makes none that git takes. */
export function captureBranch({ branch }: Pick<CaptureSpec, 'branch'>, gateway: string): RefName | undefined {
  const name = branch.replace(gatewayNamePlace, () => gateway)
  return isRefName(name) && !name.startsWith('refs/') ? name : undefined
}

/**
 * What a status says of captures of this repository. Those of another one, which the GatewaySync followed before, count for nothing, and make
 * a request no younger than it is.
 */
export function ofRepository(status: CaptureStatus | undefined, repo: string | undefined): CaptureStatus | undefined {
  if (status?.repo === undefined || status.repo === repo) return status
  const { request, at } = status
  return request === undefined || at === undefined ? undefined : { request, at }
}

/** The status after what is newly known at the time `at`, and what to tell; undefined status: nothing was ever asked for. */
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
  /** Whether nothing but the pull request is new. */
  const news = new Map<CaptureEntry, boolean>()
  for (const entry of known) {
    const last = entries.get(entry.pod)
    if (last !== undefined && saysTheSame(last, entry)) continue
    entries.set(entry.pod, entry)
    news.set(entry, last !== undefined && saysTheSame({ ...last, pullRequest: undefined }, { ...entry, pullRequest: undefined }))
  }
  const isAnswer = ({ request: of, state }: CaptureEntry): boolean => of === request?.id && state !== 'Failed'
  const isNewest = (entry: CaptureEntry): number => (entry.request === request?.id || isOfDrift(entry) ? 0 : 1)
  const order = { Refused: 0, Failed: 0, Pushed: 1, Nothing: 2 } as const
  const gateways = [...entries.values()]
    .toSorted((a, b) => isNewest(a) - isNewest(b) || order[a.state] - order[b.state] || (a.pod < b.pod ? -1 : 1))
    .slice(0, mostCaptured)
  // Of what finds no place the status remembers nothing, so that it would be news with each pass.
  const events = gateways.flatMap((entry) => {
    const isOfPullRequest = news.get(entry)
    return isOfPullRequest === undefined ? [] : isOfPullRequest ? pullRequestEvent(entry) : eventOf(entry)
  })
  const status: CaptureStatus = {}
  if (request !== undefined) {
    const same = before?.request === request.id ? before : undefined
    status.request = request.id
    status.at = same?.at ?? at
    // Another replica that led before may have heard of gateways that are not listed.
    status.answered = Math.max(same?.answered ?? 0, [...entries.values()].filter(isAnswer).length)
  }
  if (request?.by !== undefined) status.by = request.by
  if (gateways.length > 0) status.gateways = gateways
  return { status: Object.keys(status).length === 0 ? undefined : status, events }
}

function saysTheSame({ at: _a, ...last }: CaptureEntry, { at: _b, ...next }: CaptureEntry): boolean {
  // The API server returns the fields in an order of its own.
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
