/**
 * Requests a capture of local changes by annotations, and determines its outcome. Pure.
 */
import * as v from 'valibot'
import { counted } from '../platform/text/counted.ts'
import { Fault } from '../platform/fault.ts'
import { captureAnnotations } from '../api/names.ts'
import type { CaptureEntry } from '../api/schema/capture-spec.ts'
import { shortCommit, shortHashes } from '../api/values.ts'
import type { CaptureRequest } from '../reconcile/decide/capture.ts'
import { type RequestedSync, explained, type Outcome, statusCommand, type RequestProgress } from './action.ts'

const capturing = v.object({ capture: v.object({ enabled: v.optional(v.boolean(), true) }) })

/** The annotations of a request, for a merge patch. Throws InvalidConfiguration when the GatewaySync has no capture enabled. */
export function captureAnnotationsFor(
  { namespace, name, spec }: { namespace: string; name: string; spec: unknown },
  { id, gateway }: Pick<CaptureRequest, 'id' | 'gateway'>,
  by: string,
): Record<string, string | null> {
  const parsed = v.safeParse(capturing, spec)
  if (!parsed.success || !parsed.output.capture.enabled)
    throw new Fault('InvalidConfiguration', `GatewaySync "${name}" in namespace "${namespace}" has no spec.capture, or it is not enabled`)
  return { [captureAnnotations.at]: id, [captureAnnotations.by]: by, [captureAnnotations.gateway]: gateway ?? null }
}

/** Determines from the status whether every requested gateway has answered. */
export function captureProgress(
  { status, ...sync }: RequestedSync,
  { id, gateway }: Pick<CaptureRequest, 'id' | 'gateway'>,
): RequestProgress {
  const { capture, gateways } = status
  if (capture?.request !== id) return { kind: 'waiting', sentence: 'the controller has not observed the request yet' }
  const own = (capture.gateways ?? []).filter((entry) => entry.request === id)
  const ended = own.filter(({ state }) => state !== 'Failed')
  // A pod without an agent does not answer.
  const expected = gateway === undefined ? (gateways?.total ?? 0) - (gateways?.missingAgent ?? 0) : 1
  // The status of a large fleet does not list every gateway.
  const answered = gateway === undefined ? Math.max(capture.answered ?? 0, ended.length) : ended.length
  const text = own.map(captureSentence).join('; ')
  const opening = own.some(({ pullRequest }) => pullRequest?.state === 'Waiting')
  if (answered < expected || opening)
    return { kind: 'waiting', sentence: `${answered} of ${expected} gateways have responded${text === '' ? '' : `: ${text}`}` }
  const refused =
    own.find(({ state }) => state === 'Refused') ?? own.find(({ pullRequest }) => pullRequest?.state === 'Refused')?.pullRequest
  const commit = own.find(({ state }) => state === 'Pushed')?.commit
  const outcome: Outcome = {
    done: refused === undefined && commit !== undefined,
    outcome: refused === undefined ? (commit === undefined ? 'NothingChanged' : 'Captured') : 'Refused',
    message: text === '' ? 'no gateway follows it yet' : text,
    ...explained(refused?.reason),
    next: [statusCommand(sync)],
  }
  return { kind: 'ended', outcome }
}

/** Describes the result of one gateway in one sentence. */
export function captureSentence({ gateway, state, files = 0, branch, commit, message, skippedFiles, pullRequest }: CaptureEntry): string {
  const rest = skippedFiles === undefined ? '' : `, ${skippedFiles} skipped`
  if (state === 'Nothing') return `${gateway}: nothing to capture${rest}`
  const what = `${counted(files, 'file')}${rest}`
  if (state === 'Pushed')
    return `${gateway}: ${what}, commit ${shortCommit(commit ?? '')} of branch ${branch ?? ''}${pullRequestText(pullRequest)}`
  return `${gateway}: ${what} not pushed: ${shortHashes(message ?? 'the controller gave no reason')}`
}

function pullRequestText(pullRequest: CaptureEntry['pullRequest']): string {
  if (pullRequest === undefined) return ''
  if (pullRequest.state === 'Open') return `, pull request ${pullRequest.url ?? ''}`
  const why = pullRequest.message
  if (pullRequest.state === 'Waiting') return `, pull request being opened${why === undefined ? '' : ` (not yet: ${why})`}`
  return `, no pull request: ${why ?? ''}`
}
