/**
 * What a call can mean, and the functions that several formats share. They take any JSON value and never throw. Pure.
 */
import { isRefName, type RefName, shortRef } from '../../gatewaysync/values.ts'
import type { Headers } from './headers.ts'
import { isObject } from '../../json.ts'

/** The kind of an event: a push matters only for the wanted ref, every other event asks for its own ref. */
export type Event = 'push' | 'tag-push' | 'release' | 'notification' | 'promotion' | 'generic'

/** One ref that a call names. */
export type NamedRef = { ref: RefName; event: Event }

/** What the body of a call asks for. */
export type Payload =
  /** `others`: further refs that the same call moved, in order. */
  | ({ kind: 'ref'; others?: readonly NamedRef[] } & NamedRef)
  | { kind: 'ping' }
  /** A call that is understood and asks for nothing. */
  | { kind: 'ignored'; reason: 'Deletion' | 'Draft' | 'OtherAction' | 'OtherEvent' | 'UnusableRef' }
  | { kind: 'invalidRef'; ref: string }
  | { kind: 'unrecognised' }

/** A JSON object. */
export type Members = Readonly<Record<string, unknown>>

/** A family of git hosts with the same format. */
export type Host = {
  name: string
  /** For docs/webhooks, in Markdown: its page, the header that authenticates, the one that names the event, what is read. */
  shown: { page: string; proof: string; event: string; read: string }
  /** The event as the host names it, in lower case; undefined: the call is not this host's. */
  event(headers: Headers, body: Members): string | undefined
  read(event: string, body: Members): Payload
}

/** An event that names no ref to follow. */
export const otherEvent: Payload = { kind: 'ignored', reason: 'OtherEvent' }

/** Reads the format that GitHub introduced and most hosts copied: `ref`, `before`, `after`. */
export function pushed(body: Members): Payload {
  const { ref } = body
  if (typeof ref !== 'string' || ref === '') return { kind: 'unrecognised' }
  if (isDeletion(body)) return { kind: 'ignored', reason: 'Deletion' }
  return refOf(ref, pushOf(ref))
}

/** A release asks for its tag when it is published: no draft, no edit, no deletion. `published` is the host's word for it. */
export function released({ action, release, tag }: Members, published = 'published'): Payload {
  const name = isObject(release) ? release['tag_name'] : tag
  if (isObject(release) && release['draft'] === true) return { kind: 'ignored', reason: 'Draft' }
  if (action !== undefined && action !== published) return { kind: 'ignored', reason: 'OtherAction' }
  return typeof name === 'string' && name !== '' ? refOf(name, 'release') : { kind: 'unrecognised' }
}

/** One ref that a call with a list moved. */
export type Move = { ref: string; event: 'push' | 'tag-push'; deleted: boolean }

/** What a list of moves asks for: each ref that is not deleted. Undefined entries name no ref; hosts send empty lists too. */
export function movesOf(moves: readonly (Move | undefined)[]): Payload {
  const known = moves.filter((move) => move !== undefined)
  const kept = known.filter(({ deleted, ref }) => !deleted && !isHead(ref))
  const asked = kept.flatMap(({ ref, event }) => askedFor(ref, event) ?? [])
  const [first, ...others] = asked
  if (first !== undefined) return { kind: 'ref', ...first, ...(others.length > 0 ? { others } : {}) }
  if (kept[0] !== undefined) return { kind: 'invalidRef', ref: kept[0].ref }
  return known.some(({ deleted }) => deleted) ? { kind: 'ignored', reason: 'Deletion' } : otherEvent
}

/** Asks for the ref that a text names, without `refs/heads/` or `refs/tags/`; `invalidRef` when git would refuse it, `ignored` for HEAD. */
export function refOf(text: string, event: Event): Payload {
  if (isHead(text)) return { kind: 'ignored', reason: 'UnusableRef' }
  const asked = askedFor(text, event)
  return asked === undefined ? { kind: 'invalidRef', ref: text } : { kind: 'ref', ...asked }
}

/** HEAD moves with the default branch, which the call names too. */
function isHead(ref: string): boolean {
  return shortRef(ref) === 'HEAD'
}

/** Whether a body says that its ref was deleted, with hashes or without. */
export function isDeletion({ after, deleted }: Members): boolean {
  return deleted === true || isZero(after)
}

/** Which of the two kinds of push a full ref stands for. */
export function pushOf(ref: string): 'push' | 'tag-push' {
  return ref.startsWith('refs/tags/') ? 'tag-push' : 'push'
}

/** The object name that stands for "nothing" in git. */
export function isZero(hash: unknown): boolean {
  return typeof hash === 'string' && /^0+$/.test(hash)
}

/** The text at a path of members; undefined where there is none or an empty one. */
export function textAt(value: unknown, path: readonly string[]): string | undefined {
  const found = valueAt(value, path)
  return typeof found === 'string' && found !== '' ? found : undefined
}

/** Empty when there is no list. */
export function listAt(value: unknown, path: readonly string[]): readonly unknown[] {
  const found = valueAt(value, path)
  return Array.isArray(found) ? found : []
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined), value)
}

function askedFor(text: string, event: Event): NamedRef | undefined {
  const ref = shortRef(text)
  return isRefName(ref) ? { ref, event } : undefined
}
