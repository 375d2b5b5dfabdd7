/**
 * What somebody asks of gateways that were changed by hand: which annotations say it, and what has become of it. Pure.
 */
import * as v from 'valibot'
import { counted } from '../counted.ts'
import { Fault } from '../fault.ts'
import { captureAnnotations } from '../gatewaysync/names.ts'
import type { CaptureEntry } from '../gatewaysync/schema/capture-spec.ts'
import { shortCommit, shortHashes } from '../gatewaysync/values.ts'
import { type Asked, explained, type Outcome, statusCommand, type Verdict } from './action.ts'

/** `id` names the request; `gateway` undefined: all. */
export type CaptureAsked = { id: string; gateway: string | undefined }

const capturing = v.object({ capture: v.object({ enabled: v.optional(v.boolean(), true) }) })

/** The annotations of a request, as a merge patch takes them. Throws InvalidConfiguration where the GatewaySync captures nothing. */
export function askCapture(
  { namespace, name, spec }: { namespace: string; name: string; spec: unknown },
  { id, gateway }: CaptureAsked,
  by: string,
): Record<string, string | null> {
  const parsed = v.safeParse(capturing, spec)
  if (!parsed.success || !parsed.output.capture.enabled)
    throw new Fault('InvalidConfiguration', `GatewaySync "${name}" in namespace "${namespace}" has no spec.capture, or it is not enabled`)
  return { [captureAnnotations.at]: id, [captureAnnotations.by]: by, [captureAnnotations.gateway]: gateway ?? null }
}

/** Whether every gateway that was asked has answered, as far as a status tells of them. */
export function captureVerdict({ namespace, name, status }: Asked, { id, gateway }: CaptureAsked): Verdict {
  const { capture, gateways } = status
  if (capture?.request !== id) return { kind: 'waiting', sentence: 'the controller has not seen it yet' }
  const own = (capture.gateways ?? []).filter((entry) => entry.request === id)
  const ended = own.filter(({ state }) => state !== 'Failed')
  // A pod without an agent answers nothing.
  const wanted = gateway === undefined ? (gateways?.total ?? 0) - (gateways?.missingAgent ?? 0) : 1
  // Not every gateway of a large fleet is listed.
  const answered = gateway === undefined ? Math.max(capture.answered ?? 0, ended.length) : ended.length
  const said = own.map(captureSentence).join('; ')
  const opening = own.some(({ pullRequest }) => pullRequest?.state === 'Waiting')
  if (answered < wanted || opening)
    return { kind: 'waiting', sentence: `${answered} of ${wanted} gateways have answered${said === '' ? '' : `: ${said}`}` }
  const refused =
    own.find(({ state }) => state === 'Refused') ?? own.find(({ pullRequest }) => pullRequest?.state === 'Refused')?.pullRequest
  const commit = own.find(({ state }) => state === 'Pushed')?.commit
  const outcome: Outcome = {
    done: refused === undefined && commit !== undefined,
    outcome: refused === undefined ? (commit === undefined ? 'NothingChanged' : 'Captured') : 'Refused',
    message: said === '' ? 'no gateway follows it yet' : said,
    ...explained(refused?.reason),
    next: [statusCommand(namespace, name)],
  }
  return { kind: 'ended', outcome }
}

/** One gateway in one sentence. */
export function captureSentence({ gateway, state, files = 0, branch, commit, message, leftOutFiles, pullRequest }: CaptureEntry): string {
  const rest = leftOutFiles === undefined ? '' : `, ${leftOutFiles} left out`
  if (state === 'Nothing') return `${gateway}: nothing to capture${rest}`
  const what = `${counted(files, 'file')}${rest}`
  if (state === 'Pushed')
    return `${gateway}: ${what}, commit ${shortCommit(commit ?? '')} of branch ${branch ?? ''}${pullRequestWords(pullRequest)}`
  return `${gateway}: ${what} not pushed: ${shortHashes(message ?? 'the controller does not say why')}`
}

function pullRequestWords(pullRequest: CaptureEntry['pullRequest']): string {
  if (pullRequest === undefined) return ''
  if (pullRequest.state === 'Open') return `, pull request ${pullRequest.url ?? ''}`
  const why = pullRequest.message
  if (pullRequest.state === 'Waiting') return `, pull request being opened${why === undefined ? '' : ` (not yet: ${why})`}`
  return `, no pull request: ${why ?? ''}`
}
