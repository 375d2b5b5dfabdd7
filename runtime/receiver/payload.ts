/**
 * Which ref a delivery asks for. Formats are told apart by the host first, mostly by its event header, and by the shape of the body
 * second; the order of the shapes is written in docs/webhooks/README.md. Takes headers and any JSON value; never throws. Pure.
 */
import type { Headers } from './call.ts'
import { type Host, isMembers, listAt, type Members, otherEvent, type Payload, pushed, refOf, released, textAt } from './event.ts'
import { azureDevops } from './hosts/azure-devops.ts'
import { bitbucket } from './hosts/bitbucket.ts'
import { forgejo, gitea, github, gogs } from './hosts/github.ts'
import { gitee, gitlab } from './hosts/gitlab.ts'
import { harness } from './hosts/harness.ts'

/** The first that knows a delivery as its own reads it. */
export const hosts: readonly Host[] = [forgejo, gitea, gogs, github, gitee, harness, bitbucket, azureDevops, gitlab]

export function readPayload(headers: Headers, body: unknown): Payload {
  if (!isMembers(body)) return { kind: 'unrecognised' }
  for (const host of hosts) {
    const event = host.event(headers, body)
    if (event !== undefined) return ofHost(host.read(event, body))
  }
  return byShape(body)
}

/** A host means what it says, and stops to send after some errors: a ref that is too much for us is none of its faults. */
function ofHost(payload: Payload): Payload {
  return payload.kind === 'invalidRef' ? { kind: 'ignored', reason: 'UnusableRef' } : payload
}

function byShape(body: Members): Payload {
  if (body['test'] === true && body['ref'] === undefined) return { kind: 'ping' }
  if (textAt(body, ['release', 'tag_name']) !== undefined) return released(body)
  const notified = textAt(body, ['app', 'metadata', 'annotations', 'git.ref'])
  if (notified !== undefined) return refOf(notified, 'notification')
  const promoted = promotedTag(body)
  if (promoted !== undefined) return refOf(promoted, 'promotion')
  const ref = body['ref']
  if (typeof ref !== 'string' || ref === '') return { kind: 'unrecognised' }
  if (body['ref_type'] !== undefined && body['before'] === undefined) return otherEvent
  return isPush(body) ? pushed(body) : refOf(ref, 'generic')
}

/** A push of a git host tells both ends of the move. */
function isPush(body: Members): boolean {
  return typeof body['before'] === 'string' && typeof body['after'] === 'string'
}

/** The first entry of `freight.commits` that has a tag. */
function promotedTag(body: Members): string | undefined {
  return listAt(body, ['freight', 'commits']).flatMap((commit) => textAt(commit, ['tag']) ?? [])[0]
}
