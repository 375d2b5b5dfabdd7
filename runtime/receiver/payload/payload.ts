/**
 * Which ref a webhook call asks for. A format is recognised by its host, mostly by an event header, and otherwise by the shape of the body; the
 * order of the shapes is in docs/webhooks/README.md. Takes headers and any JSON value; never throws. Pure.
 */
import type { Headers } from './headers.ts'
import { type Host, isDeletion, listAt, type Members, otherEvent, type Payload, pushed, refOf, released, textAt } from './parts.ts'
import { azureDevops } from './hosts/azure-devops.ts'
import { bitbucket } from './hosts/bitbucket.ts'
import { forgejo, gitea, github, gogs } from './hosts/github.ts'
import { gitee, gitlab } from './hosts/gitlab.ts'
import { harness } from './hosts/harness.ts'
import { isObject } from '../../json.ts'

/** In order: the first host that recognises a call reads it. */
export const hosts: readonly Host[] = [forgejo, gitea, gogs, github, gitee, harness, bitbucket, azureDevops, gitlab]

/**
 * Chooses the ref that a call asks for, from its headers and any JSON value: the git hosts in order, then the shapes. Returns a ref, `ignored`
 * with a reason, `invalidRef`, or `unrecognised`. Never throws.
 */
export function readPayload(headers: Headers, body: unknown): Payload {
  if (!isObject(body)) return { kind: 'unrecognised' }
  for (const host of hosts) {
    const event = host.event(headers, body)
    if (event !== undefined) return ofHost(host.read(event, body))
  }
  return byShape(body)
}

/** Ignores, instead of refusing, a ref that we do not accept: the host is not at fault, and disables a webhook after some errors. */
function ofHost(payload: Payload): Payload {
  return payload.kind === 'invalidRef' ? { kind: 'ignored', reason: 'UnusableRef' } : payload
}

/** A body of no known host, recognised by its shape. `ref`: for docs/webhooks, in Markdown, where the ref is found. */
type Shape = {
  name: string
  ref: string
  /** Undefined: the body has another shape. */
  read(body: Members): Payload | undefined
}

/** In order: the first shape that fits counts. */
export const shapes: readonly Shape[] = [
  {
    name: 'test call',
    ref: 'none: `test` is true and there is no `ref`',
    read: (body) => (body['test'] === true && body['ref'] === undefined ? { kind: 'ping' } : undefined),
  },
  {
    name: 'release',
    ref: '`release.tag_name`, when `action` is `published` or missing',
    read: (body) => (textAt(body, ['release', 'tag_name']) === undefined ? undefined : released(body)),
  },
  {
    name: 'notification',
    ref: '`app.metadata.annotations["git.ref"]`',
    read(body) {
      const ref = textAt(body, ['app', 'metadata', 'annotations', 'git.ref'])
      return ref === undefined ? undefined : refOf(ref, 'notification')
    },
  },
  {
    name: 'promotion',
    ref: 'the first of `freight.commits` that has a `tag`',
    read(body) {
      const [tag] = listAt(body, ['freight', 'commits']).flatMap((commit) => textAt(commit, ['tag']) ?? [])
      return tag === undefined ? undefined : refOf(tag, 'promotion')
    },
  },
  {
    name: 'created or deleted ref',
    ref: 'none: `ref` beside `ref_type`, without `before`',
    read: (body) => (hasRef(body) && body['ref_type'] !== undefined && body['before'] === undefined ? otherEvent : undefined),
  },
  {
    name: 'push',
    ref: '`ref` of a body that has `before` and `after`',
    read: (body) => (hasRef(body) && isPush(body) ? pushed(body) : undefined),
  },
  {
    name: 'generic',
    ref: '`ref`',
    read(body) {
      if (!hasRef(body)) return undefined
      return isDeletion(body) ? { kind: 'ignored', reason: 'Deletion' } : refOf(body.ref, 'generic')
    },
  },
]

function byShape(body: Members): Payload {
  for (const { read } of shapes) {
    const payload = read(body)
    if (payload !== undefined) return payload
  }
  return { kind: 'unrecognised' }
}

function hasRef(body: Members): body is Members & { ref: string } {
  return typeof body['ref'] === 'string' && body['ref'] !== ''
}

/** A push of a git host names both commits, before and after. */
function isPush(body: Members): boolean {
  return typeof body['before'] === 'string' && typeof body['after'] === 'string'
}
