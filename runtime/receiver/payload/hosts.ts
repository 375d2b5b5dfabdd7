import {
  type Host,
  type Members,
  otherEvent,
  type Payload,
  pushed,
  refOf,
  released,
  listAt,
  type Move,
  movesOf,
  pushOf,
  textAt,
  isZero,
  type NamedRepository,
  type Headers,
} from './parts.ts'
import { defaultBranch } from '../../api/followed-ref.ts'
import { isObject } from '../../platform/text/json.ts'

/**
 * GitHub, and hosts that copied its format. Gitea and Forgejo also send the headers of Gogs and GitHub, and Gogs those of GitHub, so the
 * order in payload.ts matters: Forgejo, Gitea, Gogs, GitHub.
 */
export const forgejo = copy('Forgejo', 'X-Forgejo-Event', 'x-forgejo-signature')
export const gitea = copy('Gitea', 'X-Gitea-Event', 'x-gitea-signature')
export const github = copy('GitHub', 'X-GitHub-Event', 'x-hub-signature-256')
const copiedByGogs = copy('Gogs', 'X-Gogs-Event', 'x-gogs-signature')

/** Gogs sends no push for a tag, only the event that creates it. */
export const gogs: Host = {
  ...copiedByGogs,
  shown: { ...copiedByGogs.shown, read: 'push, created tag, published release' },
  read: (event, body) => (event === 'create' && body['ref_type'] === 'tag' ? createdTag(body) : readGitHub(event, body)),
}

function copy(name: string, header: string, signature: string): Host {
  const shown = { authentication: `\`${signature}\``, event: `\`${header}\``, read: 'push, published release' }
  return { name, shown, event: (headers: Headers) => headers[header.toLowerCase()]?.toLowerCase(), read: readGitHub }
}

/** `create` and `delete` are ignored: the host also sends a push for them. */
function readGitHub(event: string, body: Members): Payload {
  if (event === 'ping') return { kind: 'ping' }
  if (event === 'push') return pushed(body)
  return event === 'release' ? released(body) : otherEvent
}

function createdTag({ ref }: Members): Payload {
  return typeof ref === 'string' && ref !== '' ? refOf(ref, 'tag-push') : { kind: 'unrecognized' }
}

/**
 * GitLab calls its events hooks, and so does Gitee. System hooks and integrations send pushes under another header; their bodies name the
 * event.
 */
export const gitlab: Host = {
  name: 'GitLab',
  shown: {
    authentication: '`x-gitlab-token`, or `webhook-signature`',
    event: '`X-Gitlab-Event`, `object_kind`',
    read: 'push, tag push, created release',
  },
  event(headers, body) {
    const header = headers['x-gitlab-event']
    const kind = body['object_kind'] ?? (header === undefined ? undefined : body['event_name'])
    if (typeof kind === 'string') return kind.toLowerCase()
    return header?.toLowerCase()
  },
  read: readHook,
}

export const gitee: Host = {
  name: 'Gitee',
  shown: { authentication: '`x-gitee-token`', event: '`X-Gitee-Event`', read: 'push, tag push' },
  event: (headers) => headers['x-gitee-event']?.toLowerCase(),
  read: readHook,
}

function readHook(event: string, body: Members): Payload {
  if (event === 'push' || event === 'tag_push' || event === 'push hook' || event === 'tag push hook') return pushed(body)
  return event === 'release' || event === 'release hook' ? released(body, 'create') : otherEvent
}

/** Cloud and the push plugin of Server list `push.changes`, Server and Data Center list `changes`. */
export const bitbucket: Host = {
  name: 'Bitbucket',
  shown: { authentication: '`x-hub-signature`', event: '`X-Event-Key`', read: '`push.changes`; Data Center: `changes`' },
  event(headers, body) {
    const key = headers['x-event-key'] ?? textAt(body, ['eventKey'])
    return key?.toLowerCase()
  },
  read: readBitbucket,
}

function readBitbucket(event: string, body: Members): Payload {
  if (event === 'diagnostics:ping') return { kind: 'ping' }
  if (event === 'repo:push') return movesOf(listAt(body, ['push', 'changes']).map(moveOfCloud))
  // `mirror:repo_synchronized`: a mirror has caught up; anyone fetching from a mirror must not fetch earlier.
  if (event === 'repo:refs_changed' || event === 'mirror:repo_synchronized') return movesOf(listAt(body, ['changes']).map(moveOfServer))
  return otherEvent
}

/** `new` is null when the branch or tag was deleted; names come without `refs/`. */
function moveOfCloud(change: unknown): Move | undefined {
  const [after, before] = [textAt(change, ['new', 'name']), textAt(change, ['old', 'name'])]
  const event = (textAt(change, ['new', 'type']) ?? '').includes('tag') ? 'tag-push' : 'push'
  const hashes = { before: textAt(change, ['old', 'target', 'hash']), after: textAt(change, ['new', 'target', 'hash']) }
  if (after !== undefined) return { ref: after, event, deleted: false, ...hashes }
  return before === undefined ? undefined : { ref: before, event, deleted: true }
}

function moveOfServer(change: unknown): Move | undefined {
  const ref = textAt(change, ['ref', 'id']) ?? textAt(change, ['refId'])
  const [before, after] = [textAt(change, ['fromHash']), textAt(change, ['toHash'])]
  return ref === undefined ? undefined : { ref, event: pushOf(ref), deleted: textAt(change, ['type']) === 'DELETE', before, after }
}

/** No event header: the service hook names its event in the body. */
export const azureDevops: Host = {
  name: 'Azure DevOps',
  shown: { authentication: '`authorization: Bearer`', event: '`eventType`', read: '`resource.refUpdates`' },
  event: (_headers, body) => (textAt(body, ['publisherId']) === undefined ? undefined : textAt(body, ['eventType'])?.toLowerCase()),
  read(event, body) {
    if (event !== 'git.push') return otherEvent
    return movesOf(
      listAt(body, ['resource', 'refUpdates']).map((update) => {
        const ref = textAt(update, ['name'])
        const [before, after] = [textAt(update, ['oldObjectId']), textAt(update, ['newObjectId'])]
        return ref === undefined ? undefined : { ref, event: pushOf(ref), deleted: isZero(after), before, after }
      }),
    )
  },
}

/** `ref` is an object, and the trigger's name shows whether it was created, updated or deleted. */
export const harness: Host = {
  name: 'Harness',
  shown: { authentication: '`x-harness-signature`', event: '`X-Harness-Trigger`', read: '`ref.name`' },
  event: (headers) => headers['x-harness-trigger']?.toLowerCase(),
  read(event, body) {
    const [, , what] = /^(branch|tag)_(created|updated|deleted)$/.exec(event) ?? []
    const ref = textAt(body, ['ref', 'name'])
    if (what === undefined || ref === undefined) return otherEvent
    return movesOf([
      { ref, event: pushOf(ref), deleted: what === 'deleted', before: textAt(body, ['old_sha']), after: textAt(body, ['sha']) },
    ])
  },
}

/**
 * CDEvents (https://cdevents.dev), alone or in a CloudEvent. Only branch events name a ref: a merged change requests the followed ref.
 */
export const cdEvents: Host = {
  name: 'CDEvents',
  shown: {
    authentication: '`authorization: Bearer`',
    event: '`context.type`',
    read: 'merged change, created branch; `customData.ref`',
  },
  event: (_headers, body) => /^dev\.cdevents\.([a-z]+\.[a-z]+)(?:\.|$)/.exec(textAt(eventIn(body), ['context', 'type']) ?? '')?.[1],
  read(event, body) {
    const payload = readCdEvent(event, eventIn(body))
    const repository = repositoryOf(eventIn(body))
    return payload.kind !== 'ref' || repository === undefined ? payload : { ...payload, repository }
  },
}

function readCdEvent(event: string, body: Members): Payload {
  if (event === 'branch.deleted') return { kind: 'ignored', reason: 'Deletion' }
  if (event === 'branch.created')
    return refOf(`refs/heads/${(textAt(body, ['subject', 'id']) ?? '').replace(/^refs\/heads\//, '')}`, 'push')
  if (event !== 'change.merged') return otherEvent
  const ref = textAt(body, ['customData', 'ref'])
  return ref === undefined ? { kind: 'ref', ref: defaultBranch, event: 'push' } : refOf(ref, pushOf(ref))
}

/** A CloudEvent in structured mode holds the event as `data`; in binary mode the body is the event. */
function eventIn(body: Members): Members {
  const { data } = body
  return isObject(data) ? data : body
}

/** The id of a repository is a URL, `host/owner/name` or `owner/name`; its source may be any system that reports the event. */
function repositoryOf(body: Members): NamedRepository | undefined {
  const id = textAt(body, ['subject', 'content', 'repository', 'id'])
  if (id === undefined || !id.includes('/')) return undefined
  const url = /^[^/:]+\.[^/:]+\//.test(id) ? `https://${id}` : id
  return { urls: URL.canParse(url) ? [url] : [], path: id, ignoresCase: true }
}
