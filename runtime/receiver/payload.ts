/**
 * Which ref a delivery asks for. Formats are told apart by the event header first and by the shape of the body second; the order of the
 * shapes is written in docs/choices.md. Takes headers and any JSON value; never throws. Pure.
 */
import { isRefName, type RefName, shortRef } from '../gatewaysync/values.ts'
import type { Headers } from './authenticate.ts'

/** What kind of event asks: a push counts only for the wanted ref, everything else asks for its own. */
export type Event = 'push' | 'tag-push' | 'release' | 'notification' | 'promotion' | 'generic'

export type Payload =
  | { kind: 'ref'; ref: RefName; event: Event }
  | { kind: 'ping' }
  /** A delivery that is understood and asks for nothing. */
  | { kind: 'ignored'; reason: 'Deletion' | 'Draft' | 'OtherAction' | 'OtherEvent' }
  | { kind: 'invalidRef'; ref: string }
  | { kind: 'unrecognised' }

type Members = Readonly<Record<string, unknown>>

export function readPayload(headers: Headers, body: unknown): Payload {
  if (!isMembers(body)) return { kind: 'unrecognised' }
  return byEventHeader(headers, body) ?? byShape(body)
}

/** Headers of hosts that name their event. Gitea, Forgejo and Gogs send GitHub's besides their own. */
const eventHeaders = ['x-gitea-event', 'x-forgejo-event', 'x-gogs-event', 'x-github-event', 'x-gitlab-event', 'x-event-key'] as const

function byEventHeader(headers: Headers, body: Members): Payload | undefined {
  const event = eventHeaders
    .map((name) => headers[name])
    .find((value) => value !== undefined)
    ?.toLowerCase()
  if (event === undefined) return undefined
  if (event === 'ping' || event === 'diagnostics:ping') return { kind: 'ping' }
  if (event === 'push' || event === 'push hook' || event === 'tag push hook') return pushed(body)
  if (event === 'release' || event === 'release hook') return released(body)
  return { kind: 'ignored', reason: 'OtherEvent' }
}

function byShape(body: Members): Payload {
  if (body['test'] === true && body['ref'] === undefined) return { kind: 'ping' }
  const release = body['release']
  if (isMembers(release) && typeof release['tag_name'] === 'string' && release['tag_name'] !== '') return released(body)
  const notified = textAt(body, ['app', 'metadata', 'annotations', 'git.ref'])
  if (notified !== undefined) return refOf(notified, 'notification')
  const promoted = promotedTag(body)
  if (promoted !== undefined) return refOf(promoted, 'promotion')
  const ref = body['ref']
  if (typeof ref !== 'string' || ref === '') return { kind: 'unrecognised' }
  if (body['ref_type'] !== undefined && body['before'] === undefined) return { kind: 'ignored', reason: 'OtherEvent' }
  return isPush(body) ? pushed(body) : refOf(ref, 'generic')
}

/** A push of a git host tells both ends of the move. */
function isPush(body: Members): boolean {
  return typeof body['before'] === 'string' && typeof body['after'] === 'string'
}

function pushed(body: Members): Payload {
  const { ref, after, deleted } = body
  if (typeof ref !== 'string' || ref === '') return { kind: 'unrecognised' }
  if (deleted === true || (typeof after === 'string' && /^0+$/.test(after))) return { kind: 'ignored', reason: 'Deletion' }
  return refOf(ref, ref.startsWith('refs/tags/') ? 'tag-push' : 'push')
}

/** Only what has been published is asked for: no draft, no edit, no deletion. GitLab says `create` where others say `published`. */
function released(body: Members): Payload {
  const { action, release } = body
  const tag = isMembers(release) ? release['tag_name'] : body['tag']
  const draft = isMembers(release) && release['draft'] === true
  if (draft) return { kind: 'ignored', reason: 'Draft' }
  if (action !== undefined && action !== 'published' && action !== 'create' && action !== 'released')
    return { kind: 'ignored', reason: 'OtherAction' }
  return typeof tag === 'string' && tag !== '' ? refOf(tag, 'release') : { kind: 'unrecognised' }
}

/** The first entry of `freight.commits` that has a tag. */
function promotedTag(body: Members): string | undefined {
  const { freight } = body
  const commits = isMembers(freight) ? freight['commits'] : undefined
  if (!Array.isArray(commits)) return undefined
  return commits.flatMap((commit: unknown) =>
    isMembers(commit) && typeof commit['tag'] === 'string' && commit['tag'] !== '' ? [commit['tag']] : [],
  )[0]
}

function refOf(text: string, event: Event): Payload {
  const ref = shortRef(text)
  return isRefName(ref) ? { kind: 'ref', ref, event } : { kind: 'invalidRef', ref: text }
}

function textAt(value: unknown, path: readonly string[]): string | undefined {
  const found = path.reduce<unknown>((at, name) => (isMembers(at) && Object.hasOwn(at, name) ? at[name] : undefined), value)
  return typeof found === 'string' && found !== '' ? found : undefined
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
