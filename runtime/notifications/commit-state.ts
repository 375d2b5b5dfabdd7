/**
 * Derives the commit state for the git host from a GatewaySync's status. Pure.
 */
import type { GatewaySyncStatus } from '../api/schema/status.ts'
import { redactUrls } from '../platform/log/redact.ts'

/** The states that every git host supports. `description` is one line; hosts cut it at their own lengths. */
export type CommitState = { commit: string; state: 'pending' | 'success' | 'failure'; description: string }

/** Characters; the longest that a host accepts. */
const maxDescription = 255

/** Returns the commit state to show; undefined while no commit is known. */
export function commitStateOf(status: GatewaySyncStatus): CommitState | undefined {
  const { source, published } = status
  if (source?.commit === undefined) return undefined
  const { commit } = source
  if (source.held !== undefined) return { commit, state: 'failure', description: refusal(source.held, status) }
  if (published?.commit !== commit) return { commit, state: 'pending', description: 'found; not published yet' }
  return { commit, ...progressOf(status) }
}

/** Returns the reason, and the first finding if there is one. */
function refusal(reason: string, { findings }: GatewaySyncStatus): string {
  const first = findings?.items.find(({ severity }) => severity === 'error')
  const message = first === undefined ? '' : `: ${first.path}: ${first.message}`
  const more = (findings?.errors ?? 0) > 1 ? ` (${findings?.errors} errors)` : ''
  return oneLine(`refused, ${reason}${more}${message}`)
}

function progressOf({ gateways }: GatewaySyncStatus): Omit<CommitState, 'commit'> {
  if (gateways === undefined || gateways.total === 0) return { state: 'success', description: 'published; no gateway follows yet' }
  const { total, synced, drifted, failed, blocked } = gateways
  const applied = synced + drifted
  const troubles = [...(failed > 0 ? [`${failed} failed`] : []), ...(blocked > 0 ? [`${blocked} blocked`] : [])]
  const state = troubles.length > 0 ? 'failure' : applied === total ? 'success' : 'pending'
  return { state, description: [`applied on ${applied} of ${total} gateways`, ...troubles].join(', ') }
}

function oneLine(text: string): string {
  return redactUrls(text.replaceAll(/[\s\p{Cc}]+/gu, ' '), maxDescription - 1)
}
