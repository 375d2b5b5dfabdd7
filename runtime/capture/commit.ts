/**
 * What a commit of captured changes is named by: its digest, author and message. Pure.
 */
import { createHash } from 'node:crypto'
import { counted } from '../counted.ts'
import { printable } from '../gatewaysync/values.ts'
import { isObject, jsonOrUndefined } from '../json.ts'
import type { Edit } from '../source/content/make-commit.ts'
import { mayHoldModification } from '../sync/plan/drift.ts'

/** Of which gateway, in which mode, on which commit; `owner`: for whom a branch of captures is kept, `<namespace>/<GatewaySync>/<pod>`. */
export type Origin = { gateway: string; mode: string; commit: string; owner?: string }

type Saved = Edit & { path: string }

/** An address that leads nowhere, as RFC 2606 keeps `.invalid` for: a Designer knows a user's name, and no address. */
const noAddress = 'localhost.invalid'
const maxNameLength = 100
const maxManifestBytes = 1024 * 1024

/** SHA-256 of the changes, in hex: the same changes have the same digest, wherever they were made. */
export function digestOf(edits: readonly Edit[]): string {
  const hash = createHash('sha256')
  for (const { source, content, exec } of edits) {
    hash.update(`${source}\0${content === undefined ? 'gone' : `${exec ? 'x' : '-'}${content.length}`}\0`)
    if (content !== undefined) hash.update(content)
  }
  return hash.digest('hex')
}

/** Whoever last saved one of the resources in a Designer, as their manifests say; else the gateway. */
export function whoSaved(captured: readonly Saved[], gateway: string): { name: string; email: string } {
  let last = { actor: '', at: '' }
  for (const { path, content } of captured) {
    if (content === undefined || content.length > maxManifestBytes || !mayHoldModification(path)) continue
    const value = jsonOrUndefined(Buffer.from(content).toString('utf8'))
    const attributes = isObject(value) && isObject(value['attributes']) ? value['attributes'] : {}
    const saved = isObject(attributes['lastModification']) ? attributes['lastModification'] : {}
    const { actor, timestamp } = saved
    if (typeof actor !== 'string' || typeof timestamp !== 'string' || timestamp <= last.at) continue
    last = { actor: printable(actor).replaceAll(/[<>]/g, '').trim().slice(0, maxNameLength), at: timestamp }
  }
  const name = last.actor === '' ? gateway : last.actor
  const local = name.toLowerCase().replaceAll(/[^a-z0-9.-]+/g, '-')
  return { name, email: `${local === '' ? 'gateway' : local}@${noAddress}` }
}

/** The first line of a message. */
export function subjectOf(count: number, gateway: string): string {
  return `Keep what was changed on ${gateway} (${counted(count, 'file')})`
}

/** The line by which the branch of one gateway is known. */
export function ownerTrailer(owner: string): string {
  return `Captured-For: ${owner}`
}

/** A message with the trailers by which the origin of a commit is known. */
export function withTrailers(text: string, { gateway, mode, commit, owner }: Origin): string {
  const trailers = [
    `Captured-Gateway: ${gateway}`,
    ...(mode === '' ? [] : [`Captured-Mode: ${printable(mode)}`]),
    `Captured-On: ${commit}`,
    ...(owner === undefined ? [] : [ownerTrailer(owner)]),
  ]
  return `${text.trimEnd()}\n\n${trailers.join('\n')}\n`
}
