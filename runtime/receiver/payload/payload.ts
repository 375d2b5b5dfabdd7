import {
  type Host,
  isDeletion,
  listAt,
  type Members,
  type NamedRef,
  type NamedRepository,
  otherEvent,
  type Payload,
  pushed,
  refOf,
  released,
  textAt,
  type Headers,
} from './parts.ts'
import { forgejo, gitea, github, gogs, gitee, gitlab, bitbucket, azureDevops, harness, cdEvents } from './hosts.ts'
import { isObject } from '../../platform/text/json.ts'
import { repositoryIn } from './repository.ts'

/** In order: the first host that recognizes a call reads it. */
export const hosts: readonly Host[] = [forgejo, gitea, gogs, github, gitee, harness, bitbucket, azureDevops, gitlab, cdEvents]

/**
 * Returns the requested ref, `ignored` with a reason, `invalidRef`, or `unrecognized`, from the headers and any JSON value: tries the git
 * hosts in order, then the shapes. Never throws.
 */
export function readPayload(headers: Headers, body: unknown): Payload {
  if (!isObject(body)) return { kind: 'unrecognized' }
  for (const host of hosts) {
    const event = host.event(headers, body)
    if (event !== undefined) return inRepository(ofHost(host.read(event, body)), repositoryIn(body, { ignoresCase: true }))
  }
  return inRepository(byShape(body), repositoryIn(body, { ignoresCase: false }))
}

/** Refs of one call; more are ignored, because each is compared with each GatewaySync that the call may concern. */
const maxRefs = 1_000

/** Each ref is in the repository that the body names, unless it names its own. */
function inRepository(payload: Payload, repository: NamedRepository | undefined): Payload {
  if (payload.kind !== 'ref') return payload
  const others = payload.others?.slice(0, maxRefs - 1)
  const named = repository === undefined ? payload : { repository, ...payload }
  if (others === undefined) return named
  return { ...named, others: repository === undefined ? others : others.map((one) => ({ repository, ...one })) }
}

/** Ignores an unacceptable ref instead of rejecting it: the host is not at fault, and disables a webhook after some errors. */
function ofHost(payload: Payload): Payload {
  return payload.kind === 'invalidRef' ? { kind: 'ignored', reason: 'UnusableRef' } : payload
}

/** A body of an unknown host, recognized by its shape. `ref`: for docs/how-to/webhooks, in Markdown, where the ref is found. */
type Shape = {
  name: string
  ref: string
  /** Returns the payload; undefined if the body has another shape. */
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
    ref: 'the first of `freight.commits` that has a `tag`, else the first that has a `branch`',
    read: promoted,
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

/** A freight may hold commits of several repositories. */
function promoted(body: Members): Payload | undefined {
  const named = (member: string, prefix: string): Payload[] =>
    listAt(body, ['freight', 'commits']).flatMap((commit) => {
      const name = textAt(commit, [member])
      if (name === undefined) return []
      const url = textAt(commit, ['repoURL'])
      return [
        inRepository(
          refOf(`${prefix}${name}`, 'promotion'),
          url === undefined ? undefined : { urls: [url], path: undefined, ignoresCase: false },
        ),
      ]
    })
  const [first, ...more] = [...named('tag', 'refs/tags/'), ...named('branch', 'refs/heads/')]
  if (first?.kind !== 'ref') return first
  const others = more.flatMap(({ kind, ...other }) => (kind === 'ref' ? [other as NamedRef] : []))
  return others.length === 0 ? first : { ...first, others }
}

function byShape(body: Members): Payload {
  for (const { read } of shapes) {
    const payload = read(body)
    if (payload !== undefined) return payload
  }
  return { kind: 'unrecognized' }
}

function hasRef(body: Members): body is Members & { ref: string } {
  return typeof body['ref'] === 'string' && body['ref'] !== ''
}

/** A push of a git host names both commits, before and after. */
function isPush(body: Members): boolean {
  return typeof body['before'] === 'string' && typeof body['after'] === 'string'
}
