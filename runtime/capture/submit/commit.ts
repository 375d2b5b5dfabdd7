/**
 * Builds the digest, author and message of a commit of captured changes. Pure.
 */
import { createHash } from 'node:crypto'
import { counted } from '../../platform/text/counted.ts'
import { printable } from '../../api/values.ts'
import { type Complexity, createScan, isObject, jsonOrUndefined } from '../../platform/text/json.ts'
import type { Edit } from '../../git/content/make-commit.ts'
import { mayHoldModification } from '../../sync/plan/drift.ts'

/** The gateway, its mode and commit; `owner`: the owner of a branch of captures, `<namespace>/<GatewaySync>/<pod>`. */
export type Origin = { gateway: string; mode: string; commit: string; owner?: string }

/** A non-existent address; RFC 2606 reserves `.invalid`: a Designer has the name of a user, but no email address. */
const noAddress = 'localhost.invalid'
const maxNameLength = 100
const maxManifestBytes = 1024 * 1024
/** The largest known have some hundred members. */
const manifestComplexity: Complexity = { depth: 64, keys: 2_000, containers: 2_000, entries: 10_000 }

/** SHA-256 of the changes, in hex: equal changes have equal digests. */
export function digestOf(edits: readonly Edit[]): string {
  const hash = createHash('sha256')
  for (const { source, content, exec } of edits) {
    hash.update(`${source}\0${content === undefined ? 'gone' : `${exec ? 'x' : '-'}${content.length}`}\0`)
    if (content !== undefined) hash.update(content)
  }
  return hash.digest('hex')
}

/** The user who last saved one of the resources in a Designer, according to the resource manifests; otherwise the gateway. */
export function savedBy(edits: readonly Edit[], gateway: string): { name: string; email: string } {
  let last = { actor: '', at: '' }
  for (const { source, content } of edits) {
    if (content === undefined || content.length > maxManifestBytes || !mayHoldModification(source)) continue
    if (createScan(manifestComplexity)(content)) continue
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
  return `Capture local changes of ${gateway} (${counted(count, 'file')})`
}

/** The trailer that identifies the branch of one gateway. */
export function ownerTrailer(owner: string): string {
  return `Captured-For: ${owner}`
}

/** Appends the trailers that identify the origin of a commit. */
export function withTrailers(text: string, { gateway, mode, commit, owner }: Origin): string {
  const trailers = [
    `Captured-Gateway: ${gateway}`,
    ...(mode === '' ? [] : [`Captured-Mode: ${printable(mode)}`]),
    `Captured-On: ${commit}`,
    ...(owner === undefined ? [] : [ownerTrailer(owner)]),
  ]
  return `${text.trimEnd()}\n\n${trailers.join('\n')}\n`
}
